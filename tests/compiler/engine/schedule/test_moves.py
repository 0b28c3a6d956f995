"""Moves of tensors larger than the scratchpad, and moves beside other layers, byte for byte."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from kiwicha.compiler import compile_stages
from kiwicha.compiler.driver import Compilation
from kiwicha.compiler.engine.cost.cycles import predict_layers
from kiwicha.contract.moves import EngineMove
from kiwicha.contract.program import Where
from kiwicha.sim.reference import executor as reference
from tests.support.models.tflite_builder import ModelBuilder

SMALL = "64-8k"
"""An engine with 8 KiB of scratchpad."""


class Model:
    """Layers of int8 tensors of one scale."""

    def __init__(self, *shape: int) -> None:
        self.builder = ModelBuilder()
        self.first = self.tensor(*shape)
        self.shape = shape

    def tensor(self, *shape: int) -> int:
        """Add a tensor."""
        return self.builder.tensor(shape, scale=0.5, zero_point=3)

    def constant(self, values: Any) -> int:
        """Add a constant of int32."""
        array = np.array(values, np.int32)
        return self.builder.tensor(array.shape, np.int32, data=array)

    def transposed(self, x: int, shape: Sequence[int], order: Sequence[int]) -> int:
        """Add a TRANSPOSE."""
        y = self.tensor(*(shape[axis] for axis in order))
        self.builder.operator("TRANSPOSE", [x, self.constant(order)], [y])
        return y

    def conv(self, x: int, shape: Sequence[int], channels: int, kernel: int = 1) -> int:
        """Add a CONV_2D with rows and columns as before."""
        weights = np.random.default_rng(channels).integers(
            -99, 99, (channels, kernel, kernel, shape[3]), np.int8
        )
        w = self.builder.tensor(weights.shape, scale=0.003, data=weights)
        y = self.tensor(*shape[:3], channels)
        self.builder.operator("CONV_2D", [x, w, -1], [y], padding=0, strideH=1, strideW=1)
        return y

    def compiled(self, config: str, *outputs: int) -> Compilation:
        """Compile the model, and compare its answers with those of the CPU alone."""
        raw = self.builder.build([self.first], list(outputs))
        values = np.random.default_rng(0).integers(-128, 128, self.shape, np.int8)
        found = compile_stages(raw, config)
        plain = compile_stages(raw, "baseline")
        answers = (reference.run(item.program, [values]) for item in (found, plain))
        for actual, expected in zip(*answers, strict=True):
            np.testing.assert_array_equal(actual, expected)
        assert all(layer.where in {Where.ENGINE, Where.NONE} for layer in found.program.layers)
        return found


TRANSPOSITIONS = {
    "to planes": ((1, 24, 26, 16), (0, 3, 1, 2)),
    "to pixels": ((1, 16, 24, 26), (0, 2, 3, 1)),
    "three planes": ((1, 3, 60, 61), (0, 2, 3, 1)),
    "to three planes": ((1, 60, 61, 3), (0, 3, 1, 2)),
    "tokens and channels": ((1, 98, 96), (0, 2, 1)),
    "shuffled channels": ((1, 14, 14, 2, 29), (0, 1, 2, 4, 3)),
    "heads": ((1, 97, 3, 40), (0, 2, 1, 3)),
    "columns": ((1, 30, 31, 12), (0, 2, 1, 3)),
    "reversed": ((24, 25, 26), (2, 1, 0)),
    "four dimensions reversed": ((9, 10, 11, 12), (3, 2, 1, 0)),
    "innermost first": ((9, 10, 11, 12), (3, 1, 0, 2)),
    "many planes to rows": ((1, 128, 121), (0, 2, 1)),
    "rows to many planes": ((1, 121, 128), (0, 2, 1)),
}
"""Shapes of more than 8 KiB, and the order of their dimensions."""


@pytest.mark.parametrize("name", TRANSPOSITIONS)
def test_transpositions_larger_than_the_scratchpad(name: str) -> None:
    shape, order = TRANSPOSITIONS[name]
    model = Model(*shape)
    found = model.compiled(SMALL, model.transposed(model.first, shape, order))
    (plan,) = found.engine.plans
    assert {*plan.streamed} >= {*found.network.graph.inputs, *found.network.outputs}
    assert len(plan.events) > 3


def test_planes_that_a_stripe_reads_are_loaded_without_what_lies_between() -> None:
    model = Model(1, 3, 60, 61)
    found = model.compiled(SMALL, model.transposed(model.first, model.shape, (0, 2, 3, 1)))
    loads = [p.transfer for p in found.lists[0].transfers if not p.transfer.is_store]
    assert sum(load.moved_bytes for load in loads) == 3 * 60 * 61


def test_a_move_is_part_of_a_cascade() -> None:
    model = Model(1, 3, 64, 64)
    pixels = model.transposed(model.first, model.shape, (0, 2, 3, 1))
    shape = (1, 64, 64, 3)
    found = model.compiled("64-16k", model.conv(pixels, shape, 8, kernel=3))
    (plan,) = found.engine.plans
    assert plan.passed == (pixels,)


def test_images_are_joined_along_channels_and_rows() -> None:
    shape = (1, 40, 20, 8)
    model = Model(*shape)
    parts = [model.conv(model.first, shape, channels) for channels in (5, 12)]
    joined, taller = model.tensor(1, 40, 20, 17), model.tensor(1, 80, 20, 5)
    model.builder.operator("CONCATENATION", parts, [joined], axis=3)
    model.builder.operator("CONCATENATION", [parts[0], parts[0]], [taller], axis=1)
    for config in (SMALL, "64"):
        model.compiled(config, joined, taller)


@pytest.mark.parametrize("channels", [28, 36, 42])
def test_images_of_any_number_of_channels_are_outputs(channels: int) -> None:
    shape = (1, 12, 11, 16)
    model = Model(*shape)
    x = model.conv(model.first, shape, channels)
    y = model.conv(x, (*shape[:3], channels), 9, kernel=3)
    for config in (SMALL, "64"):
        found = model.compiled(config, x, y)
        jobs = [job for item in found.lists for job in item.jobs]
        assert sum(isinstance(job, EngineMove) for job in jobs) >= 2


def test_parts_are_stored_where_they_belong() -> None:
    """A table before a part of the output, whose bytes begin anywhere."""
    builder = ModelBuilder()
    shapes = (1, 7, 11), (1, 9, 11), (1, 13, 11)
    inputs = [builder.tensor(s, scale=0.5 + 0.1 * k) for k, s in enumerate(shapes)]
    joined = builder.tensor((1, 29, 11), scale=0.7)
    builder.operator("CONCATENATION", inputs, [joined], axis=1)
    raw = builder.build(inputs, [joined])
    rng = np.random.default_rng(3)
    values = [rng.integers(-128, 128, shape, np.int8) for shape in shapes]
    found = compile_stages(raw, "64")
    (expected,) = reference.run(compile_stages(raw, "baseline").program, values)
    (actual,) = reference.run(found.program, values)
    np.testing.assert_array_equal(actual, expected)
    stores = [p.transfer for p in found.lists[0].transfers if p.transfer.is_store]
    # The last one has the output's scale and begins at a multiple of 16: it lies there already.
    assert sorted(store.dram_offset for store in stores) == [0, 77]


def test_a_single_pixel_is_stored_without_what_lies_behind_it() -> None:
    """A job writes whole words, but the bytes behind the tensor in DRAM are another one's."""
    model = Model(1, 1, 1, 12)
    y = model.conv(model.first, model.shape, 13)
    for config in (SMALL, "64"):
        found = model.compiled(config, y)
        stores = [p.transfer for p in found.lists[0].transfers if p.transfer.is_store]
        assert [store.moved_bytes for store in stores] == [13]


def test_halves_of_pixels_come_in_low_stripes() -> None:
    """Every row of the output reads other pixels, each of which could count as a plane."""
    model = Model(1, 40, 40, 32)
    half = model.tensor(1, 40, 40, 16)
    operands = [
        model.first,
        *(model.constant(values) for values in ([0, 0, 0, 16], [1, 40, 40, 16])),
    ]
    model.builder.operator("SLICE", operands, [half])
    (plan,) = model.compiled(SMALL, half).engine.plans
    assert plan.scratchpad_bytes <= 8192


def test_planes_are_stored_in_high_stripes() -> None:
    """A stripe has a store for each of 64 planes: two bytes a cycle need few stripes."""
    model = Model(1, 112, 112, 64)
    y = model.transposed(model.first, model.shape, (0, 3, 1, 2))
    program = model.compiled("64", y).program
    assert sum(predict_layers(program)) < 112 * 112 * 64 / 2


@pytest.mark.parametrize(
    ("shape", "order", "bytes_per_cycle"),
    [
        ((1, 3000, 3), (0, 2, 1), 2.0),
        ((1, 256, 28, 28), (0, 2, 3, 1), 1.7),
        ((1, 2100, 144), (0, 2, 1), 2.0),
        ((64, 50, 70), (2, 1, 0), 1.75),
        ((400, 500), (1, 0), 1.5),
    ],
)
def test_bytes_that_a_transposition_moves_per_cycle(
    shape: tuple[int, ...], order: tuple[int, ...], bytes_per_cycle: float
) -> None:
    """A side in planes has long parts, and dimensions between the others are rows of stripes."""
    model = Model(*shape)
    program = model.compiled("64", model.transposed(model.first, shape, order)).program
    assert math.prod(shape) > bytes_per_cycle * sum(predict_layers(program))


def test_a_large_matrix_is_transposed_in_two_passes() -> None:
    """Neither rows nor columns have long parts in the scratchpad; groups of 16 rows have."""
    model = Model(400, 500)
    found = model.compiled("64", model.transposed(model.first, model.shape, (1, 0)))
    (layer,) = found.network.layers
    assert [call.params.piece_bytes for call in layer.calls] == [1, 16]
    (plan,) = found.engine.plans
    assert layer.tensors["output"] in plan.streamed

"""Which transpositions are left of a model."""

from collections.abc import Sequence

import numpy as np
import pytest

from kiwicha.compiler import compile_stages
from kiwicha.contract.program import Kernel
from kiwicha.sim.reference import executor as reference
from tests.support.models.tflite_builder import ModelBuilder

SHAPE = (1, 4, 6, 8)
SCALE = {"scale": 0.05, "zero_point": -3}
TO_PLANES, TO_PIXELS = (0, 3, 1, 2), (0, 2, 3, 1)


class Model:
    """A model under construction, with tensors of one scale."""

    def __init__(self) -> None:
        self.builder = ModelBuilder()
        self.shapes: dict[int, tuple[int, ...]] = {}
        self.inputs: list[int] = []

    def tensor(self, shape: Sequence[int]) -> int:
        """Add a tensor."""
        index = self.builder.tensor(tuple(shape), **SCALE)
        self.shapes[index] = tuple(shape)
        return index

    def input(self) -> int:
        """Add an input."""
        self.inputs.append(self.tensor(SHAPE))
        return self.inputs[-1]

    def turned(self, x: int, axes: Sequence[int]) -> int:
        """Add a TRANSPOSE."""
        order = self.builder.tensor((4,), np.int32, data=np.array(axes, np.int32))
        return self.layer("TRANSPOSE", [x, order], [self.shapes[x][axis] for axis in axes])

    def layer(self, operator: str, inputs: Sequence[int], shape: Sequence[int] = ()) -> int:
        """Add an operator."""
        y = self.tensor(shape or self.shapes[inputs[0]])
        self.builder.operator(operator, inputs, [y])
        return y

    def reshaped(self, x: int, shape: Sequence[int]) -> int:
        """Add a RESHAPE."""
        y = self.tensor(shape)
        self.builder.operator("RESHAPE", [x], [y], newShape=np.array(shape, np.int32))
        return y

    def copies(self, *outputs: int) -> int:
        """Count the copies that are left."""
        lowered = compile_stages(self.builder.build(self.inputs, outputs), "64").lowered
        return sum(layer.kernel is Kernel.COPY for layer in lowered.layers)


def test_back_and_forth_is_nothing() -> None:
    model = Model()
    planes = model.turned(model.input(), TO_PLANES)
    assert model.copies(model.layer("RELU", [model.turned(planes, TO_PIXELS)])) == 0


def test_two_in_a_row_are_one() -> None:
    model = Model()
    planes = model.turned(model.input(), TO_PLANES)
    assert model.copies(model.turned(planes, (0, 1, 3, 2))) == 1


def test_reshapes_between_do_not_matter() -> None:
    model = Model()
    planes = model.turned(model.input(), TO_PLANES)
    flat = model.reshaped(planes, (1, 8, 24, 1))
    assert model.copies(model.turned(flat, (0, 2, 1, 3))) == 0


def test_layers_of_bytes_between() -> None:
    model = Model()
    first, second = (model.turned(model.input(), TO_PLANES) for _ in range(2))
    channels = model.builder.tensor((1, 8, 1, 1), data=np.arange(8, dtype=np.int8), **SCALE)
    total = model.layer("ADD", [model.layer("RELU", [first]), second])
    assert model.copies(model.turned(model.layer("MUL", [total, channels]), TO_PIXELS)) == 0


def test_transposition_that_others_need_stays() -> None:
    model = Model()
    planes = model.turned(model.input(), TO_PLANES)
    pixels = model.turned(model.layer("RELU", [planes]), TO_PIXELS)
    assert model.copies(pixels, planes) == 1


@pytest.mark.parametrize("groups", [2, 4])
def test_shuffle_of_channels_is_one_move(groups: int) -> None:
    model = Model()
    split = model.reshaped(model.input(), (1, 24, groups, 8 // groups))
    shuffled = model.reshaped(model.turned(split, (0, 1, 3, 2)), SHAPE)
    assert model.copies(model.layer("RELU", [shuffled])) == 1


@pytest.mark.parametrize("config", ["baseline", "64"])
def test_parts_of_a_transposed_tensor_come_from_what_it_was(config: str) -> None:
    """One half goes back to pixels, of which it is a slice; the other one is transposed alone."""
    model = Model()
    planes = model.turned(model.input(), TO_PLANES)
    halves = [model.tensor((1, 4, 4, 6)) for _ in range(2)]
    axis = model.builder.tensor((), np.int32, data=np.array(1, np.int32))
    model.builder.operator("SPLIT", [axis, planes], halves, numSplits=2)
    outputs = [model.turned(halves[0], TO_PIXELS), model.layer("RELU", [halves[1]])]
    found = compile_stages(model.builder.build(model.inputs, outputs), config)
    copies = [layer for layer in found.lowered.layers if layer.kernel is Kernel.COPY]
    assert sorted(layer.params.piece_bytes for layer in copies) == [1, 4]
    image = np.random.default_rng(1).integers(-128, 128, SHAPE, np.int8)
    first, second = reference.run(found.program, [image])
    np.testing.assert_array_equal(first, image[..., :4])
    np.testing.assert_array_equal(second, np.maximum(image[..., 4:], -3).transpose(TO_PLANES))

"""Which convolutions take two products per multiplier, and with which bias."""

import dataclasses

import numpy as np
import pytest

from kiwicha.compiler.engine.codegen.jobs import engine_job
from kiwicha.compiler.engine.codegen.streams import stream_bytes, stream_parameters, weight_stream
from kiwicha.compiler.engine.ir.operations import JobOperation
from kiwicha.compiler.engine.ir.plan import JobGeometry
from kiwicha.compiler.engine.ir.window import Window
from kiwicha.compiler.engine.ir.window_operations import Convolution
from kiwicha.compiler.engine.select.convolutions.packed_products import packed_if_faster
from kiwicha.contract.configs import ENGINE_CONFIGS, find_config
from kiwicha.contract.engine import JobFlag
from kiwicha.program.weight_streams import Parameters
from tests.compiler.engine.build import convolution, depthwise

PACKED = ENGINE_CONFIGS["128"]
DEEP = ENGINE_CONFIGS["256"]
ZERO_POINT = -7


def around(channels: int, outputs: int) -> Convolution:
    """Give a convolution with 3 x 3 weights, none of them -128."""
    window = Window(6, 6, channels, 6, 6, 3, 3, pad_top=1, pad_left=1)
    rng = np.random.default_rng(outputs)
    parameters = Parameters(*rng.integers(1, 1000, (3, outputs)).astype(np.int32))
    weights = rng.integers(-127, 128, (outputs, 3, 3, channels), np.int16)
    numbers = {"input_zero_point": ZERO_POINT, "weights": weights, "parameters": parameters}
    return convolution(0, window, outputs, **numbers)


def pointwise(channels: int, outputs: int, *, is_wide: bool = False) -> Convolution:
    """Give a convolution with 1 x 1 weights."""
    given = around(channels, outputs)
    return dataclasses.replace(
        given,
        window=Window.of_pixels(6, 6, channels),
        weights=np.ascontiguousarray(given.weights[:, :1, :1]),
        is_wide=is_wide,
    )


@pytest.mark.parametrize(
    ("given", "is_packed"),
    [
        (around(8, 16), True),
        (around(8, 64), True),
        (around(8, 8), False),
        (around(8, 24), True),
        (depthwise(0, Window(6, 6, 16, 6, 6, 3, 3, pad_top=1, pad_left=1)), False),
        (pointwise(8, 16), False),
        (pointwise(16, 16), True),
        (pointwise(16, 16, is_wide=True), False),
        (pointwise(32, 16, is_wide=True), True),
    ],
)
def test_is_packed_where_it_is_faster(given: JobOperation, is_packed: bool) -> None:
    assert bool(packed_if_faster(given, PACKED).flags & JobFlag.PACKED) is is_packed
    assert packed_if_faster(given, ENGINE_CONFIGS["64"]) is given


@pytest.mark.parametrize(
    ("given", "is_packed"),
    [
        (pointwise(8, 16), True),
        # Its last group has half of a line.
        (pointwise(8, 24), False),
        (around(8, 8), False),
    ],
)
def test_is_packed_where_that_leaves_writes_to_the_depthwise_unit(
    given: JobOperation, is_packed: bool
) -> None:
    packed = packed_if_faster(given, find_config("128-depthwise"))
    assert bool(packed.flags & JobFlag.PACKED) is is_packed
    assert packed_if_faster(given, PACKED) is given


@pytest.mark.parametrize(
    ("given", "is_packed"),
    [
        (around(8, 16), True),
        (around(8, 8), True),
        (pointwise(8, 16), False),
        (pointwise(16, 16), True),
    ],
)
def test_is_packed_where_words_get_fewer(given: JobOperation, is_packed: bool) -> None:
    packed = packed_if_faster(given, DEEP)
    assert bool(packed.flags & JobFlag.PACKED) is is_packed


@pytest.mark.parametrize(("channels", "is_packed"), [(8, False), (64, True), (72, False)])
def test_fully_connected_layers_are_packed_for_blocks(channels: int, is_packed: bool) -> None:
    """Their weights come slower than they are used, but are shorter if no input is padding."""
    given = dataclasses.replace(pointwise(channels, 64), window=Window.of_pixels(1, 1, channels))
    for name, expected in (("256", False), ("256-blocks", is_packed)):
        packed = packed_if_faster(given, find_config(name))
        assert bool(packed.flags & JobFlag.PACKED) is expected


@pytest.mark.parametrize(("rows", "is_packed"), [(32, True), (33, False)])
def test_deep_words_fit_the_weight_buffer(rows: int, is_packed: bool) -> None:
    """A pixel of a larger one is a word of its own, whatever its channels."""
    window = Window(40, 40, 8, 8, 8, rows, 4)
    given = convolution(0, window, 16)
    weights = np.ones((16, rows, 4, 8), np.int16)
    given = dataclasses.replace(given, weights=weights)
    assert bool(packed_if_faster(given, DEEP).flags & JobFlag.PACKED) is is_packed


@pytest.mark.parametrize("weight", [-128, 128])
@pytest.mark.parametrize(("channel", "is_packed"), [(3, True), (11, False)])
def test_only_first_channels_have_a_weight_of_nine_bits(
    weight: int, channel: int, is_packed: bool
) -> None:
    given = around(8, 16)
    given.weights[:] //= 2
    given.weights[channel, 1, 2, 5] = weight
    assert (packed_if_faster(given, PACKED) is not given) is is_packed


def test_is_not_packed_with_too_many_large_weights() -> None:
    given = around(8, 16)
    given.weights[3, 1, 2, :7] = 128
    given.weights[3, 0, 0, 0] = 127
    assert packed_if_faster(given, PACKED) is not given
    given.weights[3, 2, 2, 1] = -128
    assert packed_if_faster(given, PACKED) is given


def test_the_bias_holds_the_zero_point() -> None:
    given = around(5, 19)
    packed = packed_if_faster(given, PACKED)
    assert isinstance(packed, Convolution)
    x = np.random.default_rng(0).integers(-128, 128, (3, 3, 5))
    products = given.weights.astype(np.int64) * x
    reduced = given.weights.astype(np.int64) * (x - ZERO_POINT)
    bias = stream_parameters(packed).bias
    assert np.array_equal(
        products.sum(axis=(1, 2, 3)) + bias, reduced.sum(axis=(1, 2, 3)) + given.parameters.bias
    )
    assert stream_parameters(given) is given.parameters


@pytest.mark.parametrize(("outputs", "groups", "beats"), [(16, 1, 2), (24, 2, 1), (29, 2, 2)])
def test_groups_of_packed_jobs(outputs: int, groups: int, beats: int) -> None:
    packed = packed_if_faster(around(8, outputs), PACKED)
    geometry = JobGeometry(
        input_addresses=(0,),
        input_pitch=8,
        first_input_row=0,
        input_rows=6,
        output_address=1024,
        output_pitch=32,
        first_output_row=0,
        output_rows=6,
        output_row_bytes=6 * 32,
    )
    job = engine_job(packed, 128, 0, geometry)
    assert (job.groups, job.last_beats, job.group_output_step) == (groups, beats, 16)
    assert (job.interval, job.flags) == (2, JobFlag.PACKED)
    size = groups * (16 * 12 + job.group_words * 128)
    assert stream_bytes(packed, 128, 8) == len(weight_stream(packed, 128, 8)) == size

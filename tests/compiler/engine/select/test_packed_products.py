"""Which convolutions take two products per multiplier, and with which bias."""

import dataclasses

import numpy as np
import pytest

from kiwicha.compiler.engine.codegen.jobs import Part, engine_job, stream_bytes, weight_stream
from kiwicha.compiler.engine.ir.layers import EngineLayer, Window
from kiwicha.compiler.engine.select.packed_products import packed_if_faster, stream_parameters
from kiwicha.contract.engine import JobFlag, JobKind
from kiwicha.program.weight_streams import Parameters

ZERO_POINT = -7


def layer(channels: int, outputs: int, kind: JobKind = JobKind.CONV, size: int = 6) -> EngineLayer:
    """Give a layer with 3 x 3 weights, none of them -128."""
    window = Window(size, size, channels, size, size, 3, 3, pad_top=1, pad_left=1)
    shape = (outputs, 3, 3, channels) if kind is JobKind.CONV else (3, 3, channels)
    rng = np.random.default_rng(outputs)
    parameters = Parameters(*rng.integers(1, 1000, (3, outputs)).astype(np.int32))
    return EngineLayer(
        *(0, kind, JobFlag(0), (0,), 1, window, outputs, parameters, ZERO_POINT, 4, (-128, 127)),
        *(rng.integers(-127, 128, shape, np.int16), np.zeros((0, 2), np.int32)),
    )


def pointwise(channels: int, outputs: int, *, is_wide: bool = False) -> EngineLayer:
    """Give a layer with 1 x 1 weights."""
    given = layer(channels, outputs)
    weights = np.ascontiguousarray(given.weights[:, :1, :1])
    window = Window(6, 6, channels, 6, 6)
    flags = JobFlag.WIDE if is_wide else JobFlag(0)
    return dataclasses.replace(given, weights=weights, window=window, flags=flags)


@pytest.mark.parametrize(
    ("given", "is_packed"),
    [
        (layer(8, 16), True),
        (layer(8, 64), True),
        (layer(8, 8), False),
        (layer(8, 24), True),
        (layer(16, 16, JobKind.DEPTHWISE), False),
        (pointwise(8, 16), False),
        (pointwise(16, 16), True),
        (pointwise(16, 16, is_wide=True), False),
        (pointwise(32, 16, is_wide=True), True),
    ],
)
def test_is_packed_where_it_is_faster(given: EngineLayer, is_packed: bool) -> None:
    assert bool(packed_if_faster(given, 128).flags & JobFlag.PACKED) is is_packed
    assert packed_if_faster(given, 64) is given


@pytest.mark.parametrize("weight", [-128, 128])
def test_is_not_packed_with_a_weight_that_is_too_large(weight: int) -> None:
    given = layer(8, 16)
    given.weights[3, 1, 2, 5] = weight
    assert packed_if_faster(given, 128) is given


def test_the_bias_holds_the_zero_point() -> None:
    given = layer(5, 19)
    packed = packed_if_faster(given, 128)
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
    packed = packed_if_faster(layer(8, outputs), 128)
    job = engine_job(packed, 128, 0, Part((0,), 8, 0, 6, 1024, 32, 0, 6))
    assert (job.groups, job.last_beats, job.group_output_step) == (groups, beats, 16)
    assert (job.interval, job.flags) == (2, JobFlag.PACKED)
    size = groups * (16 * 12 + job.group_words * 128)
    assert stream_bytes(packed, 128, 8) == len(weight_stream(packed, 128, 8)) == size

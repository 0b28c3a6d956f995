"""SQUARED_DIFFERENCE as a sum of tables whose square is scaled."""

import pytest

from kiwicha.contract.engine import SQUARE_BITS, SQUARE_INTERVAL, JobFlag, JobKind
from kiwicha.numerics.requantization import multiply_by_quantized_multiplier
from tests.support.choices import at_night
from tests.support.models.pair_layers import Quantization, Shape, all_pairs, pair
from tests.support.oracle.on_engine import on_engine

SCALES = {
    "one scale": ((0.05, 3), (0.05, 3), (0.7, -90)),
    "zero points": ((0.05, 3), (0.05, -20), (3.0, -128)),
    "scales": ((0.05, 3), (0.043, 3), (0.7, -7)),
    "far zero points": ((0.05, 127), (0.047, -128), (2.6, -128)),
    "first is small": ((0.0004, -128), (0.05, 127), (0.6, 0)),
    "second is small": ((0.05, -9), (0.0004, 127), (0.3, 127)),
    "outputs are large": ((0.05, 5), (0.031, -5), (0.0001, -128)),
    "shifted left": ((0.9, 5), (0.41, -5), (2.0**-21, -128)),
    "all outputs are alike": ((0.05, 5), (0.031, -5), (1e6, 17)),
}


@pytest.mark.parametrize("scales", SCALES.values(), ids=SCALES)
def test_all_pairs_of_bytes(scales: tuple[Quantization, ...]) -> None:
    stages = on_engine(all_pairs("SQUARED_DIFFERENCE", scales), "64")
    jobs = [job for item in stages.lists for job in item.jobs]
    flags = JobFlag.WIDE | JobFlag.SQUARE
    wanted = {(JobKind.ADD, flags, SQUARE_INTERVAL)}
    assert {(job.kind, job.flags & ~JobFlag.CODED, job.interval) for job in jobs} == wanted


def test_differences_have_few_bits() -> None:
    """Of a byte less its zero point, shifted left by 7, at most half counts."""
    most = multiply_by_quantized_multiplier(255 << 7, 1 << 30, 0)
    assert 2 * most < 1 << (SQUARE_BITS - 1)


@pytest.mark.parametrize("shape", [(1, 40, 40, 24), (1, 640), (70, 33), (2, 9, 7, 12)], ids=str)
def test_stripes_and_shapes(shape: Shape) -> None:
    case = pair("SQUARED_DIFFERENCE", shape, shape)
    for config in ("32", "128", "256", "64-8k", "64-r4"):
        on_engine(case, config)


@pytest.mark.parametrize(
    ("image", "other", "constant"),
    [
        ((1, 30, 30, 8), (8,), 1),
        ((1, 9, 7, 12), (12,), 0),
        ((1, 3, 3, 64), (64,), 1),
        *map(at_night, [((1, 9, 7, 12), (1, 1, 1, 12), None), ((1, 9, 7, 5), (7, 1), 1)]),
    ],
    ids=str,
)
def test_other_shapes(image: Shape, other: Shape, constant: int | None) -> None:
    first, second = (other, image) if constant == 0 else (image, other)
    case = pair("SQUARED_DIFFERENCE", first, second, constant)
    for config in ("32", "64", "256", "64-r4"):
        on_engine(case, config)


def test_constants_by_channel_are_biases() -> None:
    """One read for each result, where the table is read once for many pixels."""
    case = pair("SQUARED_DIFFERENCE", (1, 30, 30, 8), (8,), 1)
    stages = on_engine(case, "64")
    jobs = [job for item in stages.lists for job in item.jobs]
    assert {JobKind(job.kind) for job in jobs} == {JobKind.TABLE}
    assert all(job.flags & JobFlag.SQUARE and job.flags & JobFlag.CHANNELS for job in jobs)

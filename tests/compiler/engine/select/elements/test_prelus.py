"""PRELU as the sum of two parts."""

import math

import numpy as np
import pytest

from kiwicha.contract.engine import JobKind
from tests.support.models.pair_layers import Quantization, Shape, pair
from tests.support.models.tflite_builder import ModelBuilder
from tests.support.oracle import oracle
from tests.support.oracle.on_engine import job_kinds, on_engine

USUAL = ((0.05, -9), (0.01, 5), (0.04, 11))
TWO, THREE = [JobKind.DEPTHWISE, JobKind.ADD], [JobKind.TABLE, JobKind.DEPTHWISE, JobKind.ADD]
SIGNS = {"positive": (5, 128), "negative": (-128, 6), "mixed": (-128, 128)}
"""Factors, of zero point 5."""
JOBS = {"positive": TWO, "negative": TWO, "mixed": THREE}


@pytest.mark.parametrize(
    "scales",
    [
        USUAL,
        ((0.05, -128), (0.01, 5), (0.05, -128)),
        ((0.05, 127), (0.01, 5), (0.05, 127)),
        ((0.05, -9), (0.9, 5), (0.004, 11)),
        ((0.05, 20), (0.001, 5), (9.0, -30)),
        ((3.0, 20), (2.0, 5), (0.0001, -30)),
    ],
    ids=["usual", "no negative ones", "no positive ones", "saturated", "small", "large"],
)
@pytest.mark.parametrize("sign", SIGNS)
def test_all_bytes_and_factors(sign: str, scales: tuple[Quantization, ...]) -> None:
    factors = [*range(*SIGNS[sign])]
    values = np.repeat(np.arange(-128, 128), len(factors)).tolist()
    shape = (1, 16, 16, len(factors))
    given = {0: values, 1: factors}
    case = pair("PRELU", shape, (len(factors),), 1, scales=scales, values=given)
    on_engine(case, "64")


@pytest.mark.parametrize("sign", SIGNS)
@pytest.mark.parametrize("alpha", [(24,), (12, 13, 24), (12, 1, 1), (13, 1)], ids=str)
def test_factors_of_one_sign_need_no_table(alpha: Shape, sign: str) -> None:
    factors = np.random.default_rng(1).integers(*SIGNS[sign], math.prod(alpha)).tolist()
    case = pair("PRELU", (1, 12, 13, 24), alpha, 1, scales=USUAL, values={1: factors})
    product = JobKind.DEPTHWISE if alpha == (24,) else JobKind.MUL
    expected = [product if kind is JobKind.DEPTHWISE else kind for kind in JOBS[sign]]
    found = [*dict.fromkeys(job_kinds(on_engine(case, "64")))]
    assert [kind for kind in found if kind is not JobKind.MOVE] == expected


@pytest.mark.parametrize("channels", [24, 5])
@pytest.mark.parametrize("shape", [(1, 40, 40), (1,), (70,), (2, 9, 7)], ids=str)
def test_shapes(shape: Shape, channels: int) -> None:
    case = pair("PRELU", (*shape, channels), (channels,), 1)
    for config in ("32", "128", "64-8k"):
        on_engine(case, config)


@pytest.mark.parametrize("channels", [24, 28])
def test_between_convolutions(channels: int) -> None:
    """Bottlenecks of a face detector: a depthwise layer, a 1x1 layer, ADD and PRELU."""
    rng = np.random.default_rng(channels)
    builder = ModelBuilder()
    shape = (1, 20, 20, channels)

    def constant(shape: Shape, scale: float) -> int:
        values = rng.integers(-127, 128, shape, np.int8)
        return builder.tensor(shape, scale=scale, data=values)

    def computed(scale: float) -> int:
        return builder.tensor(shape, scale=scale, zero_point=int(rng.integers(-20, 20)))

    x = computed(0.05)
    last = x
    steps = {"padding": 0, "strideH": 1, "strideW": 1}
    for _ in range(2):
        apart, summed, added, y = (computed(scale) for scale in (0.08, 0.09, 0.1, 0.07))
        w = constant((1, 3, 3, channels), 0.004)
        builder.operator("DEPTHWISE_CONV_2D", [last, w], [apart], depthMultiplier=1, **steps)
        w = constant((channels, 1, 1, channels), 0.003)
        builder.operator("CONV_2D", [apart, w], [summed], **steps)
        builder.operator("ADD", [summed, last], [added])
        builder.operator("PRELU", [added, constant((1, 1, channels), 0.008)], [y])
        last = y
    case = oracle.Case(builder.build([x], [last]), (rng.integers(-128, 128, shape, np.int8),))
    for config in ("32", "64", "128", "64-8k"):
        assert len(on_engine(case, config).lists) == 1

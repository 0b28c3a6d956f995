"""Logarithms in fixed point against real ones."""

import math

import numpy as np
import pytest

from kiwicha.numerics import logarithm
from kiwicha.numerics.requantization import softmax_exponentials

ROOTS = [round(2 ** (19 + k / 2)) for k in range(24)]
"""Sums at which an interval ends, in Q12.19."""
SUMS = [s for root in ROOTS for s in range(root - 3, root + 4) if 2**19 <= s < 2**31]


@pytest.mark.parametrize(
    "sums",
    [SUMS, np.geomspace(2**19, 2**31 - 1, 999).astype(int).tolist()],
    ids=["ends of intervals", "between"],
)
def test_logarithm_is_near_the_real_one(sums: list[int]) -> None:
    found = np.array([logarithm.natural_logarithm(total) for total in sums])
    expected = [math.log(total / 2**19) * 2**26 for total in sums]
    assert np.abs(found - expected).max() < 12


def test_distances() -> None:
    for scale in (1e-7, 0.01, 0.1, 1.0, 15.9):
        expected = (np.arange(256) * scale * 2**26).clip(max=logarithm.MAX_DISTANCE)
        found = logarithm.log_softmax_distances(scale)
        is_kept = softmax_exponentials(scale, 1.0) > 0
        assert np.abs(found - expected)[is_kept].max() <= 1
        assert set(found[~is_kept].tolist()) <= {logarithm.MAX_DISTANCE}


def test_larger_scales_leave_only_the_maximum() -> None:
    for scale in (16.0, 40.0, 1e6):
        assert logarithm.log_softmax_distances(scale).tolist() == [0, *[1 << 30] * 255]


def test_constants_are_the_nearest() -> None:
    root = 2**0.25
    exact = {
        logarithm._LOG_2: math.log(2),
        logarithm._ROOT_HALF: 2**-0.5,
        logarithm._QUARTER_ROOT: 1 / root,
        logarithm._CUBE: 11 / 240 * root,
        logarithm._SQUARE: root / 20,
        logarithm._CONSTANT: 2 / root - root,
        logarithm._LINEAR: root / 4,
    }
    for constant, number in exact.items():
        assert abs(constant - number * 2**31) <= 0.5

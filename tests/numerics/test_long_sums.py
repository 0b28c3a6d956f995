"""Rescaling of sums of 64 bits, against exact fractions."""

from fractions import Fraction

import numpy as np
import pytest

from kiwicha.numerics.long_sums import LONG_SUM_BITS, MAX_LONG_SHIFT, exact_scale, rescale_long
from kiwicha.numerics.requantization import multiply_by_quantized_multiplier

MOST = 2 ** (LONG_SUM_BITS - 1)


@pytest.mark.parametrize("shift", range(-31, MAX_LONG_SHIFT + 1))
def test_it_rounds_once_with_15_bits(shift: int) -> None:
    rng = np.random.default_rng([shift + 31])
    sums = np.concatenate([rng.integers(-MOST, MOST, 200), [-MOST, MOST - 1, 0, 1, -1]])
    multipliers = rng.integers(2**30, 2**31, len(sums))
    multipliers[:3] = 2**31 - 1, 2**30, 0
    for total, multiplier, result in zip(
        sums.tolist(),
        multipliers.tolist(),
        rescale_long(sums, multipliers, shift).tolist(),
        strict=True,
    ):
        factor = min(int(Fraction(multiplier, 2**16) + Fraction(1, 2)), 2**15 - 1)
        exact = Fraction(total * factor) * Fraction(2) ** (shift - 15)
        rounded = (exact + Fraction(1, 2)).__floor__()
        assert result == (rounded + 2**31) % 2**32 - 2**31


@pytest.mark.parametrize("shift", range(-31, MAX_LONG_SHIFT + 1))
def test_an_exact_scale_gives_the_same(shift: int) -> None:
    rng = np.random.default_rng([shift + 31])
    multipliers = rng.integers(2**30, 2**31, 300)
    multipliers[:4] = 2**31 - 1, 2**30, 0, 2**31 - 2**15
    # Of small scales those whose lowest bits are 0.
    multipliers >>= 16 + max(-16 - shift, 0)
    multipliers <<= 16 + max(-16 - shift, 0)
    sums = rng.integers(-(2**31), 2**31, 300) >> max(shift, 0)
    scale = exact_scale(multipliers, np.full(300, shift))
    assert scale is not None
    assert (scale[1] == max(shift, 0)).all()
    expected = rescale_long(sums, multipliers, shift)
    assert np.array_equal(multiply_by_quantized_multiplier(sums, *scale), expected)


def test_limits_are_those_of_the_reference() -> None:
    """It checks that a sum is -2**47 to 2**47 - 1, and a shift less than 8."""
    assert (LONG_SUM_BITS, MAX_LONG_SHIFT) == (47 + 1, 8 - 1)


def test_some_scales_have_none() -> None:
    """Of these a bit is left that 2**31 as divisor does not reach."""
    assert exact_scale([2**30 + 2**16], [-16]) is not None
    assert exact_scale([2**30 + 2**16], [-17]) is None

"""Rescaling of sums of 64 bits, against exact fractions."""

from fractions import Fraction

import numpy as np
import pytest

from kiwicha.numerics.long_sums import LONG_SUM_BITS, MAX_LONG_SHIFT, rescale_long

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

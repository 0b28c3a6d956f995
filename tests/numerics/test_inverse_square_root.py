"""Reciprocals of square roots: how near they are, and their limits."""

import math

import numpy as np
import pytest

from kiwicha.numerics import inverse_square_root as module
from kiwicha.numerics.inverse_square_root import inverse_square_root
from tests.support.oracle.scalar import high_mul

NUMBERS = sorted(
    {
        number
        for bits in range(1, 31)
        for number in (2**bits - 1, 2**bits, 2**bits + 1, 3 << bits >> 1)
        if number > 1
    }
    | {2**31 - 1, 2**29 - 1, 2**29 + 1}
    | set(np.random.default_rng(0).integers(2, 2**31, 60).tolist())
)


def newton(x: int) -> int:
    """Return 1/sqrt of a number of 2**27 to 2**29, with the roundings of five steps of Newton.

    Numbers have three bits in front of the point, products of three of them as many as nine.
    """
    root = 2**28
    # Halves away from zero.
    half = (x // 2 + 1) // 2
    for _ in range(5):
        cube = high_mul(high_mul(root, root), root) * 2**6
        root = (high_mul(3 * 2**27, root) - high_mul(half, cube)) * 2**3
    return high_mul(root, round(math.sqrt(0.5) * 2**31))


def test_it_is_near_the_real_one() -> None:
    for x in NUMBERS:
        multiplier, shift = inverse_square_root(x)
        assert 0 <= multiplier < 2**31
        assert -15 <= shift <= 0
        assert multiplier * 2.0 ** (shift - 31) * math.sqrt(x) == pytest.approx(1, abs=2e-6), x


def test_its_last_bits() -> None:
    for x in NUMBERS:
        # A fourth of the number has half the root.
        places, scaled = 11, x
        while scaled >= 2**29:
            scaled, places = scaled >> 2, places + 1
        while scaled < 2**27:
            scaled, places = scaled << 2, places - 1
        expected = newton(scaled) << max(-places, 0), min(-places, 0)
        assert inverse_square_root(x) == expected, x


@pytest.mark.parametrize("x", [0, 1])
def test_of_one_and_less(x: int) -> None:
    assert inverse_square_root(x) == (2**31 - 1, 0)


def test_products_saturate() -> None:
    assert module._shifted(2**28, 3) == 2**31 - 1
    assert module._shifted(-(2**28) - 1, 3) == -(2**31)
    assert module._shifted(2**28 - 1, 3) == 2**31 - 8
    assert module._shifted(-(2**28), 3) == -(2**31)

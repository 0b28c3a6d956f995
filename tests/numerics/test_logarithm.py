"""Logarithms in fixed point against real ones."""

import math

import numpy as np
import pytest

from kiwicha.numerics import logarithm
from kiwicha.numerics.requantization import softmax_exponentials
from tests.support.oracle.scalar import INT32_MAX, clamp, divide_by_pot, high_mul

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


def fixed(number: float) -> int:
    return round(number * 2**31)


def scalar_logarithm(total: int) -> int:
    """Return the logarithm of a number with 19 bits behind the point, in steps of the reference.

    z is the fraction; 2**(k/4) goes into it until it is near 2**(-1/4). A quotient of polynomials
    of its distance from there is the rest.
    """
    k = (total.bit_length() - 20) * 4
    z = total << (31 - total.bit_length())
    smaller = high_mul(total, fixed(0.5**0.5))
    if smaller.bit_length() == total.bit_length():
        k += 3
    else:
        z, k = min(2 * high_mul(z, fixed(0.5**0.5)), INT32_MAX), k + 1
    middle = fixed(0.5**0.25)
    q = 2 * (z - middle)
    q2 = high_mul(q, q)
    q3 = high_mul(q, q2)
    root = 2**0.25
    p = high_mul(q, z) + high_mul(q3, fixed(11 / 240 * root))
    below = fixed(2 / root - root) + q + high_mul(fixed(root / 20), q2)
    # The mean of z and the middle is rounded up.
    d = high_mul((z + middle + 1) // 2, below) + high_mul(fixed(root / 4), q)
    # A sum of 2 to 4 with 19 fraction bits has the reciprocal of (1 + d) / 2, up to 12 bits.
    inverse = 2 * newton((d + INT32_MAX + 1) // 2)
    return 2 * (
        high_mul(k * 2**23, fixed(math.log(2)))
        + high_mul(divide_by_pot(p, 6), clamp(inverse, -INT32_MAX - 1, INT32_MAX))
    )


def newton(half: int) -> int:
    """Return the reciprocal of 1/2 to 1, in three steps from the usual line."""
    x = round(48 * 2**29 / 17) + high_mul(half, -round(32 * 2**29 / 17))
    for _ in range(3):
        x += clamp(4 * high_mul(x, 2**29 - high_mul(half, x)), -(2**31), INT32_MAX)
    return x


def test_every_rounding_of_the_reference() -> None:
    rng = np.random.default_rng(3)
    for total in [*SUMS, 2**31 - 1, *rng.integers(2**19, 2**31, 400).tolist()]:
        assert logarithm.natural_logarithm(total) == scalar_logarithm(total)

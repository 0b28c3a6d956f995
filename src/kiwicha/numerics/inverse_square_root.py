"""Reciprocals of square roots in fixed point, defined once, in numpy.

Notes
-----
Ref: tensorflow/lite/kernels/internal/common.h, GetInvSqrtQuantizedMultiplierExp; gemmlowp
fixedpoint.h.
"""

from kiwicha.numerics.requantization import (
    INT32_MAX,
    INT32_MIN,
    rounding_divide_by_pot,
    saturating_rounding_doubling_high_mul,
)

__all__ = ["inverse_square_root"]

_STEPS = 5
_HALF_THREE = (1 << 28) + (1 << 27)
"""1.5 in Q3.28."""
_HALF_ROOT_2 = 1518500250
"""sqrt(2) / 2 in Q0.31."""


def inverse_square_root(x: int) -> tuple[int, int]:
    """Return ``1 / sqrt(x)`` as a multiplier and a shift.

    Parameters
    ----------
    x : int
        0 to 2**31 - 1; 0 counts as 1.

    Returns
    -------
    multiplier : int
        0 to 2**31 - 1.
    shift : int
        ``1 / sqrt(x) = multiplier * 2**(shift - 31)``; -15 to 0.
    """
    if x <= 1:
        return INT32_MAX, 0
    right = 11
    while x >= 1 << 29:
        x //= 4
        right += 1
    pairs = (31 - x.bit_length()) // 2 - 1
    right -= pairs
    x <<= 2 * pairs
    # Newton-Raphson from 1, in Q3.28.
    half = int(rounding_divide_by_pot(x >> 1, 1))
    root = 1 << 28
    for _ in range(_STEPS):
        cube = _shifted(_product(_product(root, root), root), 6)
        root = _shifted(_product(_HALF_THREE, root) - _product(half, cube), 3)
    multiplier = _product(root, _HALF_ROOT_2)
    if right < 0:
        multiplier <<= -right
        right = 0
    return multiplier, -right


def _product(a: int, b: int) -> int:
    return int(saturating_rounding_doubling_high_mul(a, b))


def _shifted(x: int, bits: int) -> int:
    return min(max(x << bits, INT32_MIN), INT32_MAX)

"""Logarithms of sums in fixed point, defined once, in numpy.

Notes
-----
Ref: tensorflow/lite/kernels/internal/common.h, log_x_for_x_greater_than_or_equal_to_1_impl;
tensorflow/lite/kernels/internal/reference/log_softmax.h in tflite-micro.
"""

import numpy as np
from numpy.typing import NDArray

from kiwicha.numerics.requantization import (
    INT32_MAX,
    half_sum_reciprocal,
    rounding_divide_by_pot,
    saturating_rounding_doubling_high_mul,
    scaled_differences,
)

__all__ = ["MAX_DISTANCE", "log_softmax_distances", "natural_logarithm"]

MAX_DISTANCE = 1 << 30
"""Distance to the maximum, 16 in Q5.26, from which on LOG_SOFTMAX gives its least output."""
_SUM_INTEGER_BITS = 12
_ACCUMULATOR_INTEGER_BITS = 6
_LOG_2 = 1488522236
"""Logarithm of 2 in Q0.31, like the constants below."""
_ROOT_HALF = 1518500250
"""2**(-1/2)."""
_QUARTER_ROOT = 1805811301
"""2**(-1/4): the fraction's middle."""
_CUBE = 117049297
"""11/240 2**(1/4)."""
_SQUARE = 127690142
"""1/20 2**(1/4)."""
_CONSTANT = 1057819769
"""2 / 2**(1/4) - 2**(1/4)."""
_LINEAR = 638450708
"""1/4 2**(1/4)."""


def natural_logarithm(total: int) -> int:
    """Return the logarithm of a sum of exponentials.

    Parameters
    ----------
    total : int
        Sum in Q12.19, 2**19 to 2**31 - 1.

    Returns
    -------
    int
        In Q5.26, exact to some of its last bits.
    """
    zeros = 32 - total.bit_length()
    # The sum is r * 2**(quarters / 4), with r of 2**(-1/2) to 1; quarters are odd.
    quarters = 4 * (_SUM_INTEGER_BITS - zeros) + 3
    r = total << (zeros - 1)
    if _product(total, _ROOT_HALF).bit_length() < total.bit_length():
        r = min(2 * _product(r, _ROOT_HALF), INT32_MAX)
        quarters -= 2
    # A quotient of polynomials of the distance q from the middle.
    q = 2 * (r - _QUARTER_ROOT)
    square = _product(q, q)
    numerator = _product(q, r) + _product(_product(q, square), _CUBE)
    mean = (r + _QUARTER_ROOT + 1) >> 1
    denominator = _product(mean, _CONSTANT + q + _product(_SQUARE, square)) + _product(_LINEAR, q)
    reciprocal = min(2 * int(half_sum_reciprocal(denominator)), INT32_MAX)
    numerator = int(rounding_divide_by_pot(numerator, _ACCUMULATOR_INTEGER_BITS))
    whole = _product(quarters << (31 - _ACCUMULATOR_INTEGER_BITS - 2), _LOG_2)
    return 2 * (whole + _product(numerator, reciprocal))


def _product(a: int, b: int) -> int:
    return int(saturating_rounding_doubling_high_mul(a, b))


def log_softmax_distances(input_scale: float) -> NDArray[np.int64]:
    """Return how far below the maximum each difference is.

    Parameters
    ----------
    input_scale : float
        Scale of the int8 logits.

    Returns
    -------
    ndarray of int64 [256]
        Entry d: ``input_scale * d`` in Q5.26, at most `MAX_DISTANCE`; that from the difference on
        that TFLite leaves out of the sum, and whose output is the least.
    """
    scaled, is_kept = scaled_differences(input_scale, 1.0)
    return np.where(is_kept, np.minimum(-scaled, MAX_DISTANCE), MAX_DISTANCE)

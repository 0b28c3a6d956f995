"""DIV of scaled bytes: a quotient of two small numbers, in fixed point.

Notes
-----
Ref: tensorflow/lite/kernels/internal/reference/div.h in tflite-micro.
"""

import numpy as np
from numpy.typing import NDArray

from kiwicha.numerics.requantization import (
    rounding_divide_by_pot,
    saturating_rounding_doubling_high_mul,
    softmax_reciprocal,
)

__all__ = ["MOST_PLACES", "quotient_places", "quotients"]

MOST_PLACES = 31
"""By which a quotient is shifted, at most."""
_SUM_BITS = 19
"""Places behind the point of what `softmax_reciprocal` takes."""


def _leading_sign_bits(x: int) -> int:
    """Return how far a number can be shifted to the left in 32 bits."""
    return 31 - (x.bit_length() if x >= 0 else (-2 * x - 1).bit_length() - 1)


def quotient_places(divisor: int, shift: int, dividend: int) -> int:
    """Return by how many places a quotient is shifted to the right, at its end.

    Parameters
    ----------
    divisor : int
        Not 0.
    shift : int
        Of the scale.
    dividend : int
        Any other than 0.
    """
    _, exponent = softmax_reciprocal(abs(divisor))
    signed = dividend if divisor > 0 else -dividend
    return exponent + _SUM_BITS + _leading_sign_bits(signed) - shift


def quotients(
    dividends: NDArray[np.int64], divisor: int, multiplier: int, shift: int
) -> NDArray[np.int64]:
    """Return scaled quotients by one divisor, before zero point and clamp.

    Parameters
    ----------
    dividends : int64 [n]
        Bytes less their zero point.
    divisor : int
        The same, not 0.
    multiplier, shift : int
        Of the scale; `quotient_places` is 0 to `MOST_PLACES`.
    """
    inverse, _ = softmax_reciprocal(abs(divisor))
    found = np.zeros(len(dividends), np.int64)
    for place, dividend in enumerate(dividends.tolist()):
        if not dividend:
            continue
        signed = dividend if divisor > 0 else -dividend
        product = saturating_rounding_doubling_high_mul(
            signed << _leading_sign_bits(signed), inverse
        )
        scaled = saturating_rounding_doubling_high_mul(product, multiplier)
        places = quotient_places(divisor, shift, dividend)
        found[place] = rounding_divide_by_pot(scaled, places)
    return found

"""Rescaling of sums of 64 bits, as layers of int16 with a bias of int64 have them.

It rounds once, with 15 bits of the multiplier.

Notes
-----
Ref: tensorflow/lite/kernels/internal/common.cc, MultiplyByQuantizedMultiplier of an int64.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kiwicha.numerics.requantization import wrap_int32

__all__ = ["LONG_SUM_BITS", "MAX_LONG_SHIFT", "rescale_long"]

Int64s = NDArray[np.int64]

MAX_LONG_SHIFT = 7
"""Largest left shift of such a scale."""
LONG_SUM_BITS = 48
"""Of a sum, its sign included."""
_KEPT_BITS = 15
"""Of a multiplier."""


def rescale_long(x: ArrayLike, multiplier: ArrayLike, shift: ArrayLike) -> Int64s:
    """Return ``x * multiplier * 2**(shift - 31)``, rounded once, halves up.

    Parameters
    ----------
    x : array_like of int64
        Sums of `LONG_SUM_BITS`.
    multiplier : array_like of int32
        0 to 2**31 - 1, of which the upper half is used.
    shift : array_like of int
        -31 to `MAX_LONG_SHIFT`.

    Returns
    -------
    ndarray of int64, int32 range
        The low 32 bits of the result.
    """
    halves = (np.asarray(multiplier, np.int64) + (1 << 15)) >> 16
    factor = np.minimum(halves, 2**_KEPT_BITS - 1)
    bits = _KEPT_BITS - np.asarray(shift, np.int64)
    rounded = np.asarray(x, np.int64) * factor + (np.int64(1) << (bits - 1))
    return wrap_int32(rounded >> bits)

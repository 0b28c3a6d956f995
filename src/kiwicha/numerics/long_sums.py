"""Rescaling of sums of 64 bits, as layers of int16 with a bias of int64 have them.

It rounds once, with 15 bits of the multiplier.

Notes
-----
Ref: tensorflow/lite/kernels/internal/common.cc, MultiplyByQuantizedMultiplier of an int64.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kiwicha.numerics.requantization import wrap_int32

__all__ = ["LONG_SUM_BITS", "MAX_LONG_SHIFT", "exact_scale", "rescale_long"]

Int64s = NDArray[np.int64]

MAX_LONG_SHIFT = 7
"""Largest left shift of such a scale."""
LONG_SUM_BITS = 48
"""Of a sum, its sign included."""
_KEPT_BITS = 15
"""Of a multiplier."""
_LOWER_BITS = 16
"""Those behind them."""


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
    factor = _factor(multiplier)
    bits = _KEPT_BITS - np.asarray(shift, np.int64)
    rounded = np.asarray(x, np.int64) * factor + (np.int64(1) << (bits - 1))
    return wrap_int32(rounded >> bits)


def exact_scale(
    multiplier: ArrayLike, shift: ArrayLike
) -> tuple[NDArray[np.int32], NDArray[np.int32]] | None:
    """Return a scale that gives the same by `multiply_by_quantized_multiplier`.

    That one rounds twice, but only once where nothing is shifted to the right. So the scale has no
    negative shift, and a multiplier that is as much smaller.

    Parameters
    ----------
    multiplier, shift : array_like
        As for `rescale_long`.

    Returns
    -------
    tuple of int32 arrays or None
        Multiplier and shift, for sums that still have 32 bits when they are shifted; None if such a
        multiplier would need a fraction.
    """
    factor = _factor(multiplier)
    right = np.minimum(np.asarray(shift, np.int64), 0)
    scaled = factor << (_LOWER_BITS + np.maximum(right, -_LOWER_BITS))
    behind = np.maximum(-_LOWER_BITS - right, 0)
    if (scaled & ((np.int64(1) << behind) - 1)).any():
        return None
    left = np.maximum(np.asarray(shift, np.int64), 0)
    return (scaled >> behind).astype(np.int32), left.astype(np.int32)


def _factor(multiplier: ArrayLike) -> Int64s:
    """Return the bits of a multiplier that count."""
    halves = (np.asarray(multiplier, np.int64) + (1 << (_LOWER_BITS - 1))) >> _LOWER_BITS
    factor: Int64s = np.minimum(halves, 2**_KEPT_BITS - 1)
    return factor

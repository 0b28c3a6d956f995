"""Float32 at the edges of a model, without a floating-point unit.

A QUANTIZE of float32 is a staircase: 255 thresholds say what it gives, and a comparison of float32
numbers is one of integers. A DEQUANTIZE of int8 is a table of 256 words. Those of int16 are
computed, with arithmetic of float32 in software.

Notes
-----
Ref: tensorflow/lite/kernels/internal/reference/{quantize,dequantize}.h in tflite-micro.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["dequantized", "ordered_bits", "quantized", "rescaled", "thresholds"]

_INFINITY = 0x7F80_0000
"""Bits of the largest float32."""
_STEPS = np.arange(-127, 128, dtype=np.int64)
"""Outputs with a threshold: all but the smallest."""


def ordered_bits(x: ArrayLike) -> NDArray[np.int32]:
    """Return an int32 for each float32 so that the integers compare as the numbers do.

    Parameters
    ----------
    x : array_like of float32
        Any bits: a NaN counts as larger than infinity, one with a sign as smaller than -infinity;
        -0 comes before 0.
    """
    bits = np.asarray(x, np.float32).view(np.int32)
    return bits ^ ((bits >> 31) & 0x7FFF_FFFF)


def _number(ordered: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return the float32 that `ordered_bits` turns into ``ordered``."""
    bits = ordered.astype(np.int32)
    return (bits ^ ((bits >> 31) & 0x7FFF_FFFF)).view(np.float32)


def quantized(
    x: ArrayLike, scale: float, zero_point: int, dtype: type[np.signedinteger[Any]] = np.int8
) -> NDArray[Any]:
    """Return ``x / scale + zero_point``: the quotient in float32, rounded half away from zero.

    Parameters
    ----------
    x : array_like of float32
        Not NaN. Beyond the range of the type it saturates, however large it is.
    scale : float
        A float32, more than 0.
    zero_point : int
        Of that type.
    dtype : type
        int8 or int16.
    """
    limits = np.iinfo(dtype)
    with np.errstate(over="ignore", under="ignore"):
        quotient = (np.asarray(x, np.float32) / np.float32(scale)).astype(np.float64)
    rounded = np.copysign(np.floor(np.abs(quotient) + 0.5), quotient)
    result: NDArray[Any] = np.clip(rounded + zero_point, limits.min, limits.max).astype(dtype)
    return result


def thresholds(scale: float, zero_point: int) -> NDArray[np.int32]:
    """Return the smallest number, as `ordered_bits`, that gives each output or a larger one.

    Parameters
    ----------
    scale : float
        A float32, more than 0.
    zero_point : int
        -128 to 127.

    Returns
    -------
    ndarray of int32 [255]
        For the outputs -127 to 127, ascending: an output is -128 plus the number of thresholds that
        are at most the input.
    """
    low = np.full(_STEPS.shape, int(ordered_bits(-np.inf)), np.int64)
    high = np.full(_STEPS.shape, _INFINITY, np.int64)
    while (low < high).any():
        middle = (low + high) >> 1
        is_reached = quantized(_number(middle), scale, zero_point) >= _STEPS
        low, high = np.where(is_reached, low, middle + 1), np.where(is_reached, middle, high)
    return low.astype(np.int32)


def dequantized(values: ArrayLike, scale: float, zero_point: int) -> NDArray[np.float32]:
    """Return ``scale * (value - zero_point)``, a product in double that is rounded to float32."""
    with np.errstate(over="ignore", under="ignore"):
        return (scale * (np.asarray(values, np.float64) - zero_point)).astype(np.float32)


def rescaled(source: tuple[float, int], target: tuple[float, int]) -> NDArray[np.int8]:
    """Return what CONCATENATION makes of each byte of an input, by the byte taken as unsigned.

    Parameters
    ----------
    source, target : (float, int)
        Scale and zero point of the input and of the output; zero points are -128 to 127.

    Notes
    -----
    Ref: tensorflow/lite/kernels/internal/reference/concatenation.h, ConcatenationWithScaling: in
    float32, of values and zero points taken as uint8, which are larger by 128.
    """
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        scale = np.float32(source[0]) * (np.float32(1) / np.float32(target[0]))
        bias = np.float32(-(source[1] + 128)) * scale
        exact = np.arange(256, dtype=np.float32) * scale + bias
    wide = np.nan_to_num(exact.astype(np.float64))
    rounded = np.copysign(np.floor(np.abs(wide) + 0.5), wide) + target[1] + 128
    by_value = (rounded.clip(0, 255) - 128).astype(np.int8)
    # The value v + 128 is 0 for the byte 128, which is -128.
    return np.roll(by_value, 128)

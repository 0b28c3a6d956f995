"""Logistic function and tanh of int16: straight lines between the points of one table.

Notes
-----
Ref: tensorflow/lite/kernels/internal/common.h (the points) and
tensorflow/lite/kernels/internal/reference/integer_ops/{logistic,tanh}.h in tflite-micro.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kiwicha.contract.recurrences import POINTS, POINTS_ONE, function_points, logistic_points

__all__ = [
    "POINTS",
    "logistic_16",
    "points",
    "scaled_argument",
    "short_logistic",
    "short_tanh",
    "tanh_16",
    "tanh_scale",
]

Int64s = NDArray[np.int64]

_POINTS = POINTS - 1
_ONE = POINTS_ONE
_THIRDS = 3
"""By what an argument in 1/4,096 is multiplied: a point is then at each 512th."""
_TABLE = np.array(logistic_points(), np.int64)


def logistic_16(x: ArrayLike) -> Int64s:
    """Return ``1 / (1 + exp(-x))`` in Q0.15 for ``x`` in Q3.12.

    Parameters
    ----------
    x : array_like of int16
        Any.
    """
    return short_logistic(np.asarray(x, np.int64) * _THIRDS)


def short_logistic(scaled: ArrayLike) -> Int64s:
    """Return the logistic function in Q0.15 of arguments in 1/12,288.

    Parameters
    ----------
    scaled : array_like of int32
        At each 512th there is a point; behind the last of them the result does not change.
    """
    argument = np.asarray(scaled, np.int64)
    magnitude = np.abs(argument)
    first, part = np.minimum(magnitude >> 9, _POINTS - 2), magnitude & 511
    line = (_TABLE[first] << 9) + part * (_TABLE[first + 1] - _TABLE[first])
    line = np.where(magnitude >> 9 >= _POINTS - 1, (_ONE // 2 - 1) << 10, line)
    result: Int64s = np.where(argument >= 0, line + 512, (1 << 25) - line + 511) >> 10
    return result


def scaled_argument(x: ArrayLike, multiplier: int, shift: int) -> Int64s:
    """Return arguments of `short_logistic` or `short_tanh`: ``x * multiplier / 2**shift``."""
    return (np.asarray(x, np.int64) * multiplier + ((1 << shift) >> 1)) >> shift


def tanh_scale(exponent: int) -> tuple[int, int]:
    """Return by what an argument is multiplied, and by how many bits then shifted right.

    Parameters
    ----------
    exponent : int
        Of the argument's scale, a power of two: -15 to 0.
    """
    left = exponent + 12
    return (_THIRDS << left, 0) if left >= 0 else (_THIRDS, -left)


def tanh_16(x: ArrayLike, exponent: int = -12) -> Int64s:
    """Return ``tanh(x)`` in Q0.15.

    Parameters
    ----------
    x : array_like of int16
        Any, in units of ``2**exponent``.
    exponent : int
        -15 to 0.
    """
    return short_tanh(scaled_argument(x, *tanh_scale(exponent)))


def short_tanh(scaled: ArrayLike) -> Int64s:
    """Return tanh in Q0.15 of arguments in 1/12,288.

    Parameters
    ----------
    scaled : array_like of int32
        At each 256th there is a point; behind the last of them the result does not change.
    """
    argument = np.asarray(scaled, np.int64)
    magnitude = np.abs(argument)
    first, part = np.minimum(magnitude >> 8, _POINTS - 2), magnitude & 255
    line = (_TABLE[first] << 8) + part * (_TABLE[first + 1] - _TABLE[first])
    line = np.where(magnitude >> 8 >= _POINTS - 1, (_ONE - 1) << 8, line)
    half = 1 << 23
    result: Int64s = np.where(argument >= 0, line - half + 128, half - line + 127) >> 8
    return result


def points() -> NDArray[np.int16]:
    """Return the table of both functions, int16 [`POINTS`]: `function_points`."""
    return np.array(function_points(), np.int16)

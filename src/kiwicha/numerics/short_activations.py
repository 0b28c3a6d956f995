"""Logistic function and tanh of int16: straight lines between the points of one table.

Notes
-----
Ref: tensorflow/lite/kernels/internal/common.h (the points) and
tensorflow/lite/kernels/internal/reference/integer_ops/{logistic,tanh}.h in tflite-micro.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

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

_POINTS = 256
POINTS = _POINTS + 1
"""Entries of the table."""
_PER_UNIT = 24
"""Points for an argument's difference of 1."""
_ONE = 1 << 16
"""What the points count as 1."""
_THIRDS = 3
"""By what an argument in 1/4,096 is multiplied: a point is then at each 512th."""


def _table() -> Int64s:
    """Return the logistic function of 0, 1/24, and so on, in 1/65,536.

    Each is moved by half of what the line to the next one is wrong in its middle; the last is the
    largest number of 16 bits.
    """

    def function(at: NDArray[np.float64]) -> NDArray[np.float64]:
        return _ONE / (1 + np.exp(-at / _PER_UNIT))

    at = np.arange(_POINTS, dtype=np.float64)
    middle = (function(at) + function(at + 1)) / 2 - function(at + 0.5)
    table = np.round(function(at) - middle / 2).astype(np.int64)
    table[-1] = _ONE - 1
    return table


_TABLE = _table()


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
    """Return the table of both functions, int16 [`POINTS`]; the last two are equal.

    It has tanh in Q0.15, and the logistic function in Q0.16, less a half.
    """
    return (np.append(_TABLE, _ONE - 1) - _ONE // 2).astype(np.int16)

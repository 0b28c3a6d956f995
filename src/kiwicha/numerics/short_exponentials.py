"""SOFTMAX of int16: tables of the exponential function and of reciprocals, with lines between.

Notes
-----
Ref: tensorflow/lite/kernels/internal/common.h (LUTPopulate and LUTLookup of int16),
tensorflow/lite/kernels/internal/reference/softmax.h (SoftmaxInt16) and
tensorflow/lite/micro/kernels/softmax_common.cc in tflite-micro.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kiwicha.numerics.requantization import multiply_by_quantized_multiplier

__all__ = [
    "TABLE_POINTS",
    "interpolated",
    "short_exponentials",
    "short_reciprocals",
    "short_softmax",
    "short_softmax_factor",
]

Int64s = NDArray[np.int64]
Floats = NDArray[np.float32]

_LINES = 512
TABLE_POINTS = _LINES + 1
"""Entries of a table."""
_LOW, _HIGH = -(2**15), 2**15 - 1
_RANGE = _HIGH - _LOW
_LEAST_EXPONENT = 10.0
"""Of what is below, exponentials count as that of it."""


def _rounded(x: Floats) -> Floats:
    """Return numbers rounded to the nearest integer, halves away from zero."""
    found: Floats = np.copysign(np.floor(np.abs(x) + np.float32(0.5)), x).astype(np.float32)
    return found


def _table(scale: np.float32, first: int, function: Callable[[Floats], Floats]) -> Int64s:
    """Return points of a function of int16, all in float32.

    Parameters
    ----------
    scale : float32
        Of the arguments.
    first : int
        Zero point of the arguments.
    function : callable
        Of float32; its results are in 1/32,768.

    Notes
    -----
    Each point is moved by half of what the line to the next one is wrong in its middle.
    """
    one, half = np.float32(1), np.float32(0.5)
    least, most = scale * np.float32(_LOW - first), scale * np.float32(_HIGH - first)
    unit = np.float32(2.0) / np.float32(_RANGE)
    inverse = np.float32(_RANGE + 1) / (unit * np.float32(_HIGH) - unit * np.float32(_LOW))
    step = (most - least) / np.float32(_LINES)
    number = np.arange(_LINES, dtype=np.float32)
    values = function(least + number * step)
    middles = function(least + number * step + step * half)
    nexts = function(least + (number + one) * step)
    samples = _rounded(values * inverse)
    lines = _rounded((nexts * inverse + samples) * half)
    errors = lines - _rounded(middles * inverse)
    points = samples - _rounded(errors * half)
    last = _rounded(function(np.array([most])) * inverse)
    found: Int64s = np.concatenate([points, last]).clip(_LOW, _HIGH).astype(np.int64)
    return found


def _exponential(x: Floats) -> Floats:
    found: Floats = np.exp(x.astype(np.float64)).astype(np.float32)
    return found


def _reciprocal(x: Floats) -> Floats:
    one = np.float32(1)
    return one / (one + x)


def short_exponentials() -> NDArray[np.int16]:
    """Return the points of ``exp(x)`` for ``x`` of -10 to 0, int16 [`TABLE_POINTS`]."""
    scale = np.float32(_LEAST_EXPONENT) / np.float32(_RANGE)
    return _table(scale, _HIGH, _exponential).astype(np.int16)


def short_reciprocals() -> NDArray[np.int16]:
    """Return the points of ``1 / (1 + x)`` for ``x`` of 0 to 1, int16 [`TABLE_POINTS`]."""
    return _table(np.float32(1) / np.float32(_RANGE), _LOW, _reciprocal).astype(np.int16)


def short_softmax_factor(input_scale: float, beta: float) -> float:
    """Return what differences of int16 are multiplied by, so that 65,535 stand for 10."""
    return input_scale * beta / (_LEAST_EXPONENT / _RANGE)


def interpolated(x: ArrayLike, table: ArrayLike) -> Int64s:
    """Return the function of a table at ``x``.

    Parameters
    ----------
    x : array_like of int16
        Arguments: there is a point at each 128th.
    table : array_like of int16 [`TABLE_POINTS`]
        Points, the first at -32,768.
    """
    value, points = np.asarray(x, np.int64), np.asarray(table, np.int64)
    place = (value >> 7) + _LINES // 2
    slope = points[place + 1] - points[place]
    result: Int64s = points[place] + ((slope * (value & 127) + 64) >> 7)
    return result


def short_softmax(
    x: ArrayLike, multiplier: int, shift: int, exponentials: ArrayLike, reciprocals: ArrayLike
) -> Int64s:
    """Return probabilities in 1/32,768.

    Parameters
    ----------
    x : array_like of int16 [rows, depth]
        Logits.
    multiplier, shift : int
        Of `short_softmax_factor`.
    exponentials, reciprocals : array_like of int16 [`TABLE_POINTS`]
        `short_exponentials` and `short_reciprocals`.
    """
    logits = np.asarray(x, np.int64)
    differences = logits - logits.max(axis=1, keepdims=True)
    scaled = multiply_by_quantized_multiplier(differences, multiplier, shift) + _HIGH
    terms = interpolated(scaled.clip(_LOW, _HIGH), exponentials)
    sums = terms.sum(axis=1, keepdims=True)
    # Bits of a sum behind its first one, of which 16 are an argument.
    bits = np.frexp(sums)[1].astype(np.int64) - 1
    normalized = ((sums << (30 - bits)) + (1 << 13)) >> 14
    inverse = interpolated((normalized - 3 * 2**15).clip(_LOW, _HIGH), reciprocals)
    products = (terms * inverse + (np.int64(1) << (bits - 1))) >> bits
    result: Int64s = products.clip(0, _HIGH)
    return result

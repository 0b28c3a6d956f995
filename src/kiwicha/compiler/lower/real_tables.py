"""Tables of functions that interpreters evaluate in float32, once for each byte."""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.quantization.scales import INT8_MAX, INT8_MIN
from kiwicha.compiler.tflite.tensor import Quantization

__all__ = [
    "Reals",
    "elu",
    "exponential",
    "gelu",
    "gelu_by_tanh",
    "hyperbolic_tangent",
    "logarithm_above",
    "real_table",
    "sigmoid",
]

Int64s = NDArray[np.int64]
Reals = NDArray[np.float32]

_CUBIC = np.float32(0.044715)
_ROOT_2_BY_PI = np.float32(math.sqrt(2 / math.pi))
_ROOT_HALF = np.float32(math.sqrt(0.5))


def real_table(
    values: Int64s, inputs: Quantization, output: Quantization, function: Callable[[Reals], Reals]
) -> Int64s:
    """Return the outputs of a function of float32 numbers.

    Parameters
    ----------
    values : ndarray of int64
        Input bytes.
    inputs, output : Quantization
        Of input and output.
    function : callable
        From and to real numbers.

    Notes
    -----
    Ref: tensorflow/lite/kernels/internal/common.h, LUTPopulate; in tflite-micro
    tensorflow/lite/micro/kernels/elu.cc: float32 throughout, rounded half away from zero.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        arguments = (values - inputs.zero_point).astype(np.float32) * inputs.scales[0]
        scaled = (function(arguments) * (np.float32(1) / output.scales[0])).astype(np.float64)
        rounded = np.copysign(np.floor(np.abs(scaled) + 0.5), scaled).astype(np.float32)
        moved = rounded + np.float32(output.zero_point)
    table: Int64s = moved.clip(INT8_MIN, INT8_MAX).astype(np.int64)
    return table


def _exp(x: Reals) -> Reals:
    with np.errstate(over="ignore"):
        return np.exp(x.astype(np.float64)).astype(np.float32)


def _tanh(x: Reals) -> Reals:
    return np.tanh(x.astype(np.float64)).astype(np.float32)


def sigmoid(x: Reals) -> Reals:
    """Return ``1 / (1 + exp(-x))``; an infinite exponential gives 0."""
    quotient: Reals = np.float32(1) / (np.float32(1) + _exp(-x))
    return quotient


def hyperbolic_tangent(x: Reals) -> Reals:
    """Return ``tanh(x)``."""
    return _tanh(x)


def exponential(x: Reals) -> Reals:
    """Return ``exp(x)``."""
    return _exp(x)


def elu(x: Reals) -> Reals:
    """Return ``exp(x) - 1`` below 0, else ``x``."""
    results: Reals = np.where(x < 0, _exp(np.minimum(x, 0)) - np.float32(1), x)
    return results


def logarithm_above(least: np.float32) -> Callable[[Reals], Reals]:
    """Return the function ``log(x)``, which is ``least`` for numbers that have none."""

    def logarithm(x: Reals) -> Reals:
        positive = np.where(x > 0, x, np.float32(1)).astype(np.float64)
        results: Reals = np.where(x > 0, np.log(positive).astype(np.float32), least)
        return results

    return logarithm


def gelu(x: Reals) -> Reals:
    """Return ``x / 2 * erfc(-x / sqrt(2))``."""
    tails = np.array([math.erfc(float(value)) for value in x * -_ROOT_HALF]).astype(np.float32)
    results: Reals = np.float32(0.5) * x * tails
    return results


def gelu_by_tanh(x: Reals) -> Reals:
    """Return ``x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3)))``."""
    inner = _ROOT_2_BY_PI * (x + _CUBIC * x * x * x)
    results: Reals = np.float32(0.5) * x * (np.float32(1) + _tanh(inner))
    return results

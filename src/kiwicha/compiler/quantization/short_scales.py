"""Fixed-point parameters of functions of int16, as TensorFlow Lite Micro evaluates them."""

import numpy as np

from kiwicha.compiler.quantization.scales import Scale
from kiwicha.compiler.tflite.tensor import Quantization
from kiwicha.numerics.requantization import quantize_multiplier
from kiwicha.numerics.short_exponentials import short_softmax_factor

__all__ = ["LARGEST_ARGUMENT_SCALE", "argument_scale", "logit_scale", "power_of_two"]

_ARGUMENTS = 3 * 4096
"""Of LOGISTIC and TANH, in a unit."""
_LARGEST_MULTIPLIER = 2**15 - 1
LARGEST_ARGUMENT_SCALE = _LARGEST_MULTIPLIER / _ARGUMENTS
"""Of inputs of LOGISTIC and TANH."""
_LARGEST = 2.0**256
_POWERS = {"LOGISTIC": {-12: Scale(3, 0)}, "TANH": {-12: Scale(3, 0), -11: Scale(6, 0)}}
"""By the exponent of input scales that are powers of two."""
_POWER_TOLERANCE = 1e-3
"""By which the logarithm of a scale may differ from an integer."""


def power_of_two(scale: float) -> int | None:
    """Return the exponent of a scale that counts as a power of two; None if it does not.

    Notes
    -----
    Ref: tensorflow/lite/kernels/internal/quantization_util.cc, CheckedLog2: all in float32.
    """
    logarithm = np.log(np.float32(scale)) * (np.float32(1) / np.log(np.float32(2)))
    rounded = np.float32(np.round(logarithm))
    is_power = abs(logarithm - rounded) < np.float32(_POWER_TOLERANCE)
    return int(rounded) if is_power else None


def argument_scale(operator: str, inputs: Quantization) -> Scale:
    """Return by what inputs of LOGISTIC or TANH are multiplied, and then shifted right.

    Parameters
    ----------
    operator : str
        Its name.
    inputs : Quantization
        With a scale of at most `LARGEST_ARGUMENT_SCALE`.

    Notes
    -----
    Ref: tensorflow/lite/micro/kernels/logistic_common.cc, CalculateArithmeticOpDataLogistic, and
    tanh.cc, CalculateArithmeticOpData.
    """
    exponent = power_of_two(inputs.scale)
    if exponent in _POWERS[operator]:
        return _POWERS[operator][exponent]
    multiplier, shift = inputs.scale * _ARGUMENTS, 0
    while multiplier <= _LARGEST_MULTIPLIER / 2 and shift <= 30:
        multiplier, shift = 2 * multiplier, shift + 1
    return Scale(int(multiplier), shift)


def logit_scale(inputs: Quantization, beta: float) -> Scale:
    """Return the scale of differences of inputs of SOFTMAX.

    Notes
    -----
    Ref: tensorflow/lite/micro/kernels/softmax_common.cc, CalculateSoftmaxParams.
    """
    return Scale(*quantize_multiplier(min(short_softmax_factor(inputs.scale, beta), _LARGEST)))

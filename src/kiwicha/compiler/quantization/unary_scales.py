"""Fixed-point parameters of operators with one input, as TensorFlow Lite Micro evaluates them.

Like those of `quantization.scales`, products and quotients are in double, but those of
uint8 models where they are said to be factors. They can be infinite, which rules refuse.
"""

import math

import numpy as np

from kiwicha.compiler.quantization.scales import Scale
from kiwicha.compiler.tflite.tensor import Quantization
from kiwicha.numerics.activations import HardSwishScale
from kiwicha.numerics.requantization import quantize_multiplier

__all__ = [
    "function_radius",
    "function_scale",
    "hard_swish_scales",
    "leaky_ratio",
    "relu_ratio",
    "rescaling_ratio",
    "root_ratio",
    "single_ratio",
]

_LARGEST = 2.0**256
"""Beyond every ratio that rules accept."""
_FUNCTION_INTEGER_BITS = 4
"""Of the argument of LOGISTIC and TANH."""


def leaky_ratio(inputs: Quantization, output: Quantization, alpha: float) -> float:
    """Return the scale of the negative inputs of LEAKY_RELU, negative with its alpha.

    Notes
    -----
    Ref: tensorflow/lite/micro/kernels/leaky_relu_common.cc, CalculateOpDataLeakyRelu.
    """
    with np.errstate(over="ignore"):
        return float(inputs.factor * np.float32(alpha) / output.factor)


def rescaling_ratio(inputs: Quantization, output: Quantization) -> float:
    """Return the scale of QUANTIZE."""
    return inputs.scale / output.scale


def relu_ratio(inputs: Quantization, output: Quantization) -> float:
    """Return the scale of RELU, and of the positive inputs of LEAKY_RELU."""
    with np.errstate(over="ignore"):
        return float(inputs.factor / output.factor)


def single_ratio(inputs: Quantization, output: Quantization) -> float:
    """Return the scale of ABS, RELU_0_TO_1 and RELU_N1_TO_1: a quotient in float32."""
    with np.errstate(over="ignore"):
        return float(inputs.scales[0] / output.scales[0])


def root_ratio(inputs: Quantization, output: Quantization) -> float:
    """Return the scale of RSQRT.

    Notes
    -----
    Ref: tensorflow/lite/micro/kernels/elementwise.cc, SetRsqrtOutputMultiplier.
    """
    with np.errstate(under="ignore", divide="ignore"):
        return float(np.float64(1) / np.float64(np.sqrt(inputs.scales[0]) * output.scales[0]))


def function_scale(inputs: Quantization) -> Scale:
    """Return the scale that brings an input of LOGISTIC or TANH to Q4.27.

    Notes
    -----
    Ref: tensorflow/lite/micro/kernels/logistic_common.cc, CalculateArithmeticOpDataLogistic.
    """
    return Scale(*quantize_multiplier(inputs.scale * 2.0 ** (31 - _FUNCTION_INTEGER_BITS)))


def function_radius(shift: int) -> int:
    """Return the distance from zero from which LOGISTIC and TANH give their extremes.

    Parameters
    ----------
    shift : int
        Of `function_scale`, 0 or more.
    """
    largest = (1 << _FUNCTION_INTEGER_BITS) - 1
    return math.floor(largest * 2.0 ** (31 - _FUNCTION_INTEGER_BITS - shift))


def hard_swish_scales(
    inputs: Quantization, output: Quantization
) -> tuple[HardSwishScale, HardSwishScale]:
    """Return the scales of HARD_SWISH: of the output, and of the gate.

    Notes
    -----
    Ref: tensorflow/lite/micro/kernels/hard_swish_common.cc, HardSwishPrepare; for uint8
    tensorflow/lite/kernels/activations.cc.
    """
    with np.errstate(over="ignore"):
        fine_scale = inputs.factor / 128
        ratios = float(fine_scale / output.factor), float(fine_scale / (3 / 2**15))
    fixed = (quantize_multiplier(min(ratio, _LARGEST)) for ratio in ratios)
    first, second = (_halved(Scale(*scale)) for scale in fixed)
    return first, second


def _halved(scale: Scale) -> HardSwishScale:
    """Return a scale with 15 bits of its multiplier, rounded and saturated."""
    return HardSwishScale(min((scale.multiplier + (1 << 15)) >> 16, 2**15 - 1), scale.shift)

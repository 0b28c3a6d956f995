"""Fixed-point parameters of layers that keep tensors of their own, as those of TFLM.

Notes
-----
Ref: tensorflow/lite/micro/kernels/lstm_eval_common.cc and svdf_common.cc.
"""

import math

from kiwicha.compiler.quantization.scales import Scale
from kiwicha.compiler.tflite.tensor import Quantization
from kiwicha.numerics.requantization import quantize_multiplier

__all__ = [
    "GATE_EXPONENT",
    "GATE_SCALE",
    "cell_clip",
    "cell_exponent",
    "feature_ratio",
    "gate_scale",
    "hidden_scale",
    "time_ratio",
]

GATE_EXPONENT = -12
GATE_SCALE = 2.0**GATE_EXPONENT
"""Of what the functions of the gates are given."""
_FUNCTION_SCALE = 2.0**-15
"""Of what they give."""
_SHORT_MIN, _SHORT_MAX = -(2**15), 2**15 - 1


def gate_scale(inputs: Quantization, weights: Quantization) -> Scale:
    """Return the scale of a gate's sum."""
    return Scale(*quantize_multiplier(inputs.scale * weights.scale / GATE_SCALE))


def hidden_scale(hidden: Quantization) -> Scale:
    """Return the scale of the product of two functions."""
    return Scale(*quantize_multiplier(_FUNCTION_SCALE * _FUNCTION_SCALE / hidden.scale))


def cell_exponent(cell: Quantization) -> int:
    """Return of which power of two the scale of the cell state is."""
    return round(math.log2(cell.scale))


def cell_clip(cell: Quantization, clip: float) -> tuple[int, int]:
    """Return the least and the largest cell state; a clip of 0 is none."""
    if not clip > 0:
        return _SHORT_MIN, _SHORT_MAX
    most = int(min(clip / cell.scale, _SHORT_MAX))
    return -most, most


def feature_ratio(inputs: Quantization, weights: Quantization, state: Quantization) -> float:
    """Return what a product of SVDF's features is in its state: all in float32."""
    return float(inputs.scales[0] * weights.scales[0] / state.scales[0])


def time_ratio(state: Quantization, weights: Quantization, output: Quantization) -> float:
    """Return what a product of SVDF's state is in its output: all in float32."""
    return float(state.scales[0] * weights.scales[0] / output.scales[0])

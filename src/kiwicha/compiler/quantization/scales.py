"""Fixed-point parameters of operators, evaluated as TensorFlow Lite Micro evaluates them.

Scales are float32 numbers of the model, held exactly; products and quotients are in double, some
of uint8 in float32.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.tflite.graph import Activation
from kiwicha.compiler.tflite.tensor import Quantization
from kiwicha.numerics.requantization import quantize_multiplier

__all__ = [
    "INT8_MAX",
    "INT8_MIN",
    "MAX_SHIFT",
    "ONCE_BITS",
    "SHORT_LEFT_SHIFT",
    "SHORT_LIMITS",
    "SQUARE_LEFT_SHIFT",
    "SUM_LEFT_SHIFT",
    "Scale",
    "SumScales",
    "activation_range",
    "bounded_range",
    "channel_scales",
    "comparison_scale",
    "cumulative_scale",
    "divided_scale",
    "mean_scale",
    "once",
    "product_scale",
    "quotient_scale",
    "ratio_scale",
    "rounded_once",
    "square_scales",
    "sum_ratios",
    "sum_scales",
]

MAX_SHIFT = 30
"""Largest left shift of a requantization."""
SUM_LEFT_SHIFT = 20
"""Headroom bits of ADD and SUB for int8."""
SHORT_LEFT_SHIFT = 15
"""Headroom bits of ADD and SUB for int16."""
SQUARE_LEFT_SHIFT = 7
"""Headroom bits of SQUARED_DIFFERENCE."""
INT8_MIN, INT8_MAX = -128, 127
_BYTE_LIMITS = (INT8_MIN, INT8_MAX)
SHORT_LIMITS = (-(2**15), 2**15 - 1)
"""Smallest and largest int16."""
ONCE_BITS = 11
"""Bits of a multiplier that are worth less than to round once."""
_LARGEST = float(np.finfo(np.float32).max)


@dataclass(frozen=True)
class Scale:
    """``multiplier * 2**(shift - 31)``."""

    multiplier: int
    shift: int


@dataclass(frozen=True)
class SumScales:
    """Scales of ADD and SUB."""

    input_1: Scale
    input_2: Scale
    output: Scale


def activation_range(
    activation: Activation, output: Quantization, limits: tuple[int, int] = _BYTE_LIMITS
) -> tuple[int, int]:
    """Return smallest and largest output of a fused activation; ``limits`` are those of its type.

    Notes
    -----
    Ref: tensorflow/lite/kernels/kernel_util.cc, CalculateActivationRangeQuantized: the bound is
    divided by the scale in float32 and rounded half away from zero.
    """
    low, high = {
        Activation.RELU: (0.0, None),
        Activation.RELU6: (0.0, 6.0),
        Activation.RELU_N1_TO_1: (-1.0, 1.0),
    }.get(activation, (None, None))
    return bounded_range(output, low, high, limits)


def bounded_range(
    output: Quantization,
    low: float | None,
    high: float | None,
    limits: tuple[int, int] = _BYTE_LIMITS,
) -> tuple[int, int]:
    """Return the outputs that stand for two real bounds, either of which can be None."""

    def quantized(bound: float) -> int:
        with np.errstate(over="ignore"):
            ratio = float(np.float32(bound) / np.float32(output.scale))
        ratio = min(max(ratio, -_LARGEST), _LARGEST)
        return output.zero_point + int(math.copysign(math.floor(abs(ratio) + 0.5), ratio))

    return (
        limits[0] if low is None else max(limits[0], quantized(low)),
        limits[1] if high is None else min(limits[1], quantized(high)),
    )


def _fixed(ratio: float) -> tuple[int, int]:
    """Return multiplier and shift of a ratio, which can be infinite: its shift is refused."""
    return quantize_multiplier(min(ratio, _LARGEST))


def channel_scales(
    inputs: Quantization, weights: Quantization, output: Quantization, channels: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return multipliers and shifts, int32 [channels], of a layer with weights.

    Notes
    -----
    Ref: tensorflow/lite/kernels/kernel_util.cc, PopulateConvolutionQuantizationParams and, for
    uint8, GetQuantizedConvolutionMultipler: only the product is of float32. Shifts can exceed
    `MAX_SHIFT`; `kiwicha.compiler.check.check` refuses them.
    """
    with np.errstate(over="ignore"):
        products = [float(inputs.factor * scale) for scale in weights.scales]
    per_scale = [_fixed(product / output.scale) for product in products]
    if len(per_scale) == 1:
        per_scale *= channels
    pairs = np.array(per_scale, np.int32).reshape(-1, 2)
    return np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1])


def rounded_once(
    multiplier: NDArray[np.int32], shift: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return multipliers and shifts with which results are rounded once instead of twice.

    TFLite's multipliers have 31 bits, and a shift to the right rounds their product once more: one
    of ``2**(1 - shift)`` results is off by one. With fewer bits instead of a shift the product is
    the result, and up to `ONCE_BITS` fewer change less than those roundings did.

    Parameters
    ----------
    multiplier, shift : int32 [n]
        As `kiwicha.numerics.requantization.quantize_multiplier` gives them.
    """
    bits = np.where((shift < 0) & (shift >= -ONCE_BITS), -shift, 0).astype(np.int64)
    halves = np.where(bits > 0, np.int64(1) << np.maximum(bits - 1, 0), 0)
    shorter = (multiplier.astype(np.int64) + halves) >> bits
    return shorter.astype(np.int32), (shift + bits).astype(np.int32)


def once(scale: Scale) -> Scale:
    """Return a scale with which results are rounded once; see `rounded_once`."""
    parts = rounded_once(np.array([scale.multiplier]), np.array([scale.shift]))
    return Scale(*(int(part[0]) for part in parts))


def quotient_scale(inputs: Quantization, output: Quantization, count: int) -> Scale:
    """Return the scale of MEAN over ``count`` elements, as exact as it can be."""
    return Scale(*_fixed(inputs.scale / (output.scale * count)))


def sum_ratios(
    a: Quantization, b: Quantization, output: Quantization, left_shift: int = SUM_LEFT_SHIFT
) -> tuple[float, ...]:
    """Return the scale ratios of input 1, input 2 and output of ADD and SUB.

    Notes
    -----
    Ref: tensorflow/lite/micro/kernels/add_common.cc, CalculateOpDataAdd.
    """
    twice_maximum = 2 * max(a.scale, b.scale)
    return (
        a.scale / twice_maximum,
        b.scale / twice_maximum,
        twice_maximum / ((1 << left_shift) * output.scale),
    )


def sum_scales(
    a: Quantization, b: Quantization, output: Quantization, left_shift: int = SUM_LEFT_SHIFT
) -> SumScales:
    """Return the scales of ADD and SUB."""
    ratios = sum_ratios(a, b, output, left_shift)
    scales = (Scale(*quantize_multiplier(ratio)) for ratio in ratios)
    return SumScales(*scales)


def square_scales(a: Quantization, b: Quantization, output: Quantization) -> SumScales:
    """Return the scales of SQUARED_DIFFERENCE.

    Notes
    -----
    Ref: tensorflow/lite/micro/kernels/squared_difference.cc, SquaredDifferencePrepare.
    """
    twice_maximum = 2 * max(a.scale, b.scale)
    square = twice_maximum * twice_maximum / ((1 << (2 * SQUARE_LEFT_SHIFT)) * output.scale)
    ratios = a.scale / twice_maximum, b.scale / twice_maximum, square
    return SumScales(*(Scale(*_fixed(ratio)) for ratio in ratios))


def product_scale(a: Quantization, b: Quantization, output: Quantization) -> Scale:
    """Return the scale of MUL.

    Notes
    -----
    Ref: tensorflow/lite/micro/kernels/mul_common.cc, CalculateOpDataMul; for uint8
    tensorflow/lite/kernels/mul.cc.
    """
    with np.errstate(over="ignore"):
        return Scale(*_fixed(float(a.factor * b.factor / output.factor)))


def divided_scale(a: Quantization, b: Quantization, output: Quantization) -> Scale:
    """Return the scale of DIV, a ratio in float32.

    Notes
    -----
    Ref: tensorflow/lite/micro/kernels/div.cc, CalculateOpDataDiv.
    """
    with np.errstate(over="ignore", divide="ignore"):
        return Scale(*_fixed(float(a.scales[0] / (b.scales[0] * output.scales[0]))))


def ratio_scale(inputs: Quantization, output: Quantization) -> Scale:
    """Return the scale of SUM, and of the positive inputs of PRELU.

    Notes
    -----
    Ref: tensorflow/lite/micro/kernels/{reduce_common,prelu_common}.cc; for uint8
    tensorflow/lite/kernels/activations.cc.
    """
    with np.errstate(over="ignore"):
        return Scale(*_fixed(float(inputs.factor / output.factor)))


def mean_scale(inputs: Quantization, output: Quantization, count: int) -> Scale:
    """Return the scale of MEAN over ``count`` elements, which holds the division by ``count``.

    Notes
    -----
    Ref: tensorflow/lite/kernels/internal/reference/reduce.h, QuantizedMeanOrSum.
    """
    multiplier, shift = quantize_multiplier(inputs.scale / output.scale)
    bits = min(count.bit_length() - 1, 32, 31 + shift)
    return Scale((multiplier << bits) // count, shift - bits)


def comparison_scale(source: Quantization) -> Scale:
    """Return the scale of an input that is compared; less than 1, as the rules have it.

    Notes
    -----
    Ref: tensorflow/lite/micro/kernels/comparisons.cc, ComparisonsPrepare.
    """
    return Scale(*_fixed(source.scale))


def cumulative_scale(source: Quantization, output: Quantization) -> Scale:
    """Return the scale of sums of CUMSUM, whose elements have `SUM_LEFT_SHIFT` - 1 headroom bits.

    Notes
    -----
    Ref: tensorflow/lite/micro/kernels/cumsum.cc, CalculateOpData.
    """
    return Scale(*_fixed(2 * source.scale / ((1 << SUM_LEFT_SHIFT) * output.scale)))

"""Support rules of operators that compute with int16."""

import math
from collections.abc import Iterator

import numpy as np

from kiwicha.compiler.check.rules import Problem, Rule, operands, rule
from kiwicha.compiler.quantization.scales import SHORT_LEFT_SHIFT, channel_scales, sum_ratios
from kiwicha.compiler.quantization.short_scales import LARGEST_ARGUMENT_SCALE, power_of_two
from kiwicha.compiler.tflite.graph import Graph, Operator
from kiwicha.compiler.tflite.operators import OPERATORS, Family, of_family
from kiwicha.compiler.tflite.recurrent import LSTM
from kiwicha.compiler.tflite.shapes import reduced_axes
from kiwicha.compiler.tflite.tensor import TensorType, quantization
from kiwicha.numerics.long_sums import LONG_SUM_BITS, MAX_LONG_SHIFT

__all__ = [
    "SHORT_OPERAND_RULES",
    "SHORT_SCALE_RULES",
    "SHORT_SHAPE_RULES",
    "largest_long_bias",
]

SHORT_OPERAND_RULES: list[Rule] = []
SHORT_SHAPE_RULES: list[Rule] = []
SHORT_SCALE_RULES: list[Rule] = []

_FUNCTIONS = ("LOGISTIC", "TANH")
_OPERATORS = (
    *(*of_family(Family.WEIGHTED), *of_family(Family.POOL), *of_family(Family.PAIR)),
    *("MEAN", "SUM", *_FUNCTIONS, "LEAKY_RELU", "RELU", "RELU6", LSTM),
)
_BIASES = {
    "DEPTHWISE_CONV_2D": (TensorType.INT64,),
    "TRANSPOSE_CONV": (TensorType.INT64, TensorType.INT16),
}
_OTHER_BIASES = (TensorType.INT64, TensorType.INT32)
MAX_SHORTS = 2**16 - 1
"""Elements whose sum fits 32 bits, with half of their number."""
_FUNCTION_EXPONENT = -15
_PRODUCT_BITS = 22
"""Of an input and a weight, without its sign."""


def largest_long_bias(taps: int) -> int:
    """Return what biases must be less than, so that sums of so many products fit 48 bits."""
    return int(2 ** (LONG_SUM_BITS - 1) - (taps << _PRODUCT_BITS))


def _has_shorts(graph: Graph, operator: Operator) -> bool:
    return graph.input(operator).type is TensorType.INT16


@rule(SHORT_OPERAND_RULES, *_OPERATORS)
def has_one_short_scale(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """Activations of int16 have one scale, finite and more than 0, and zero point 0."""
    for what, tensor in operands(graph, operator):
        parameters = tensor.quantization
        if tensor.type is not TensorType.INT16:
            continue
        if parameters is None or len(parameters.scales) != 1:
            yield Problem(f"{what} must have one scale and zero point", tensor)
        elif not (math.isfinite(parameters.scale) and parameters.scale > 0):
            yield Problem(
                f"{what}'s scale must be finite and more than 0, not {parameters.scale}", tensor
            )
        elif parameters.zero_point != 0:
            yield Problem(f"{what}'s zero point must be 0, not {parameters.zero_point}", tensor)


@rule(SHORT_OPERAND_RULES, *of_family(Family.WEIGHTED))
def has_operands_for_shorts(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """With activations of int16 weights are int8, and biases are constants of int64.

    Those of CONV_2D and FULLY_CONNECTED can be int32, those of TRANSPOSE_CONV int16.
    """
    if not _has_shorts(graph, operator):
        return
    weights, bias = graph.input(operator, 1), graph.operand(operator, 2)
    if weights.is_shifted:
        yield Problem("weights must be int8, not uint8", weights, is_about_type=True)
    allowed = _BIASES.get(operator.name, _OTHER_BIASES)
    if bias is not None and bias.type not in allowed:
        names = " or ".join(kind.text for kind in allowed)
        yield Problem(f"bias must be {names}, not {bias.type.text}", bias, is_about_type=True)


@rule(SHORT_SHAPE_RULES, "MEAN", "SUM", *of_family(Family.POOL))
def sums_up_few_shorts(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """Pools, MEAN and SUM of int16 sum up at most 65535 elements."""
    source, options = graph.input(operator), operator.options
    if not _has_shorts(graph, operator):
        return
    if Family.POOL in OPERATORS[operator.name].family:
        extents = (options.kernel_height, options.kernel_width)
        count = math.prod(min(pair) for pair in zip(extents, source.shape[1:3], strict=True))
    else:
        axes = reduced_axes(graph, operator)
        count = math.prod(size for axis, size in enumerate(source.shape) if axis in axes)
    if count > MAX_SHORTS:
        yield Problem(f"summed elements must be at most {MAX_SHORTS}, not {count}", source)


@rule(SHORT_SCALE_RULES, *of_family(Family.WEIGHTED))
def has_sums_of_48_bits(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """Layers of int16 with weights have a bias with which sums fit 48 bits.

    Where it is not int32, input scale x weight scale / output scale is less than 2**7.
    """
    weights, bias = graph.input(operator, 1), graph.operand(operator, 2)
    kind = operator.options.bias_type if bias is None else bias.type
    if not _has_shorts(graph, operator) or kind == TensorType.INT32:
        return
    channels = weights.shape[-1 if operator.name == "DEPTHWISE_CONV_2D" else 0]
    taps = weights.elements // channels
    largest = 0 if bias is None else max(map(abs, bias.integers()))
    limit = largest_long_bias(taps)
    if bias is not None and largest >= limit:
        yield Problem(f"bias must be less than {limit}, not {largest}", bias)
    scales = (quantization(graph.input(operator)), quantization(weights))
    _, shifts = channel_scales(*scales, quantization(graph.output(operator)), 1)
    if shifts.max() > MAX_LONG_SHIFT:
        yield Problem(
            f"input scale x weight scale / output scale must be less than 2**{MAX_LONG_SHIFT}, "
            f"not 2**{shifts.max() - 1} or more",
            weights,
        )


@rule(SHORT_SCALE_RULES, "ADD", "SUB")
def sums_of_shorts_fit(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """ADD and SUB of int16 have an output scale of more than 2**-14 of the larger input scale."""
    if not _has_shorts(graph, operator):
        return
    first, second, output = graph.input(operator), graph.input(operator, 1), graph.output(operator)
    its = quantization(first), quantization(second), quantization(output)
    *_, ratio = sum_ratios(*its, SHORT_LEFT_SHIFT)
    if ratio >= 1:
        yield Problem(
            "output scale must be more than 2**-14 of the larger input scale, "
            f"not {quantization(output).scale}",
            output,
        )


@rule(SHORT_SCALE_RULES, *_FUNCTIONS)
def has_scales_of_its_function(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """LOGISTIC and TANH of int16 have output scale 1/32768, and an input scale of at most 8/3."""
    if not _has_shorts(graph, operator):
        return
    source, output = graph.input(operator), graph.output(operator)
    if power_of_two(quantization(output).scale) != _FUNCTION_EXPONENT:
        yield Problem(
            f"output scale must be {2.0**_FUNCTION_EXPONENT}, not {quantization(output).scale}",
            output,
        )
    scale = np.float64(quantization(source).scale)
    if scale > LARGEST_ARGUMENT_SCALE:
        yield Problem(f"input scale must be at most {LARGEST_ARGUMENT_SCALE}, not {scale}", source)

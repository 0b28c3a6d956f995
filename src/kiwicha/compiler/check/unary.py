"""Support rules of operators with one input, most of which become a table of 256 values."""

import math
from collections.abc import Iterator

from kiwicha.compiler.check.rules import Problem, Rule, rule
from kiwicha.compiler.quantization.scales import MAX_SHIFT
from kiwicha.compiler.quantization.unary_scales import (
    function_scale,
    hard_swish_scales,
    leaky_ratio,
    relu_ratio,
    rescaling_ratio,
    root_ratio,
    single_ratio,
)
from kiwicha.compiler.tflite.graph import Graph, Operator
from kiwicha.compiler.tflite.operators import Family, of_family
from kiwicha.compiler.tflite.tensor import TensorType, quantization

__all__ = ["UNARY_SCALE_RULES", "UNARY_SHAPE_RULES"]

UNARY_SHAPE_RULES: list[Rule] = []
UNARY_SCALE_RULES: list[Rule] = []

MAX_RATIO = 2.0**MAX_SHIFT
MAX_FLOAT_EXPONENT = 22
"""255 times so much fits an int32."""
MIN_ROOT_EXPONENT = -11
MIN_HARD_SWISH_EXPONENT = -15
_OUTPUTS = {"L2_NORMALIZATION": (1 / 128, 0), "LOGISTIC": (1 / 256, -128), "TANH": (1 / 128, 0)}


@rule(UNARY_SHAPE_RULES, *of_family(Family.UNARY))
def keeps_its_shape(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """Elementwise operators with one input keep the shape."""
    source, output = graph.input(operator), graph.output(operator)
    if source.shape != output.shape:
        yield Problem(f"output must be {list(source.shape)}, not {list(output.shape)}", output)


@rule(UNARY_SCALE_RULES, "ABS", "LEAKY_RELU", "QUANTIZE", "RELU", "RELU_0_TO_1", "RELU_N1_TO_1")
def rescales_moderately(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """These operators, QUANTIZE on bytes, have an input scale of less than 2**30 output scales."""
    source, output = graph.input(operator), graph.output(operator)
    if operator.name == "QUANTIZE" and source.type is not TensorType.INT8:
        return
    pair = quantization(source), quantization(output)
    ratio = max(relu_ratio(*pair), single_ratio(*pair))
    if not ratio < MAX_RATIO:
        yield Problem(
            f"input scale / output scale must be less than 2**{MAX_SHIFT}, not {ratio}", output
        )


@rule(UNARY_SCALE_RULES, "ELU", "GELU")
def gives_numbers_that_fit(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """ELU and GELU have an input scale of less than 2**22 output scales."""
    source, output = graph.input(operator), graph.output(operator)
    ratio = single_ratio(quantization(source), quantization(output))
    if not ratio < 2.0**MAX_FLOAT_EXPONENT:
        yield Problem(
            f"input scale / output scale must be less than 2**{MAX_FLOAT_EXPONENT}, not {ratio}",
            output,
        )


@rule(UNARY_SCALE_RULES, "RSQRT")
def has_roots_of_moderate_size(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """RSQRT has 1 / (root of the input scale x output scale) of 2**-11 to 2**30."""
    source, output = graph.input(operator), graph.output(operator)
    ratio = root_ratio(quantization(source), quantization(output))
    if not 2.0**MIN_ROOT_EXPONENT <= ratio < MAX_RATIO:
        yield Problem(
            f"1 / (root of the input scale x output scale) must be 2**{MIN_ROOT_EXPONENT} to "
            f"2**{MAX_SHIFT}, not {ratio}",
            output,
        )


@rule(UNARY_SCALE_RULES, "LEAKY_RELU")
def leaks_moderately(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """LEAKY_RELU has a finite alpha; alpha x input scale / output scale is less than 2**30."""
    source, output = graph.input(operator), graph.output(operator)
    alpha = operator.options.alpha
    if not math.isfinite(alpha):
        yield Problem(f"alpha must be finite, not {alpha}")
        return
    ratio = leaky_ratio(quantization(source), quantization(output), alpha)
    if not abs(ratio) < MAX_RATIO:
        yield Problem(
            f"alpha x input scale / output scale must be less than 2**{MAX_SHIFT}, not {ratio}",
            output,
        )


@rule(UNARY_SCALE_RULES, "RELU6", "RESIZE_BILINEAR")
def clamps_without_rescaling(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """RELU6 and RESIZE_BILINEAR have one scale and zero point for input and output."""
    source, output = graph.input(operator), graph.output(operator)
    a, b = quantization(source), quantization(output)
    if (a.scale, a.zero_point) != (b.scale, b.zero_point):
        yield Problem(
            f"output scale and zero point must be the input's, {a.scale} and {a.zero_point}, "
            f"not {b.scale} and {b.zero_point}",
            output,
        )


@rule(UNARY_SCALE_RULES, "L2_NORMALIZATION", "LOGISTIC", "TANH")
def has_the_range_of_its_function(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """LOGISTIC's output of bytes has scale 1/256 and the lowest zero point.

    Those of TANH and L2_NORMALIZATION have scale 1/128 and the zero point in the middle.
    """
    output = graph.output(operator)
    if output.type is not TensorType.INT8:
        return
    scale, zero_point = _OUTPUTS[operator.name]
    parameters = quantization(output)
    if (parameters.scale, parameters.zero_point) != (scale, zero_point):
        yield Problem(
            f"output scale and zero point must be {scale} and {zero_point + output.shift}, "
            f"not {parameters.scale} and {parameters.zero_point + output.shift}",
            output,
        )


@rule(UNARY_SCALE_RULES, "LOGISTIC", "TANH")
def has_a_scale_of_moderate_size(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """LOGISTIC and TANH of bytes have an input scale of at least 2**-28 and less than 2**32."""
    source = graph.input(operator)
    if source.type is not TensorType.INT8:
        return
    scale = quantization(source).scale
    if not 0 <= function_scale(quantization(source)).shift < 60 or scale < 2.0**-28:
        yield Problem(f"input scale must be 2**-28 to 2**32, not {scale}", source)


@rule(UNARY_SCALE_RULES, "HARD_SWISH")
def swishes_moderately(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """HARD_SWISH has an input scale of 2**-9 to 2**7 output scales, and of 2**-21 to 2**23."""
    source, output = graph.input(operator), graph.output(operator)
    result, gate = hard_swish_scales(quantization(source), quantization(output))
    if not MIN_HARD_SWISH_EXPONENT <= result.exponent <= 0:
        yield Problem(
            "input scale / output scale must be 2**-9 to 2**7, "
            f"not {rescaling_ratio(quantization(source), quantization(output))}",
            output,
        )
    if not MIN_HARD_SWISH_EXPONENT <= gate.exponent <= MAX_SHIFT:
        yield Problem(
            f"input scale must be 2**-21 to 2**23, not {quantization(source).scale}", source
        )

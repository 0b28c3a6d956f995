"""Support rules of single operators: quantization.

They rely on the rules for operands and shapes.
"""

import math
from collections.abc import Iterator

from kiwicha.compiler.check.rules import Problem, Rule, rule
from kiwicha.compiler.quantization.scales import (
    MAX_SHIFT,
    channel_scales,
    mean_scale,
    product_scale,
    sum_ratios,
)
from kiwicha.compiler.tflite.graph import Graph, Operator
from kiwicha.compiler.tflite.operators import Family, of_family
from kiwicha.compiler.tflite.tensor import TensorType, quantization

__all__ = ["SCALE_RULES"]

SCALE_RULES: list[Rule] = []

BIAS_TOLERANCE = 0.02
"""In output scales, by which TensorFlow Lite Micro lets a bias scale differ."""
MIN_LOGIT_EXPONENT = -25
"""Of two, of which TensorFlow Lite Micro wants more as LOG_SOFTMAX's input scale."""
SHORT_TOLERANCE = 0.001
"""By which TensorFlow Lite Micro lets a scale of probabilities in int16 differ."""
POOL_SCALE_TOLERANCE = 1e-6
"""By which TensorFlow Lite Micro lets the scales of a pool differ."""


@rule(SCALE_RULES, *of_family(Family.WEIGHTED))
def scales_channels_moderately(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """Input scale x weight scale / output scale is less than 2**30."""
    weights = graph.input(operator, 1)
    _, shifts = channel_scales(
        quantization(graph.input(operator)),
        quantization(weights),
        quantization(graph.output(operator)),
        1,
    )
    if shifts.max() > MAX_SHIFT:
        yield Problem(
            f"input scale x weight scale / output scale must be less than 2**{MAX_SHIFT}, "
            f"not 2**{shifts.max() - 1} or more",
            weights,
        )


@rule(SCALE_RULES, *of_family(Family.WEIGHTED))
def scales_its_bias(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """In uint8, and in FULLY_CONNECTED with one weight scale: bias scale = input x weight scale."""
    weights, bias = graph.input(operator, 1), graph.operand(operator, 2)
    scales = quantization(weights).scales
    is_compared = operator.name == "FULLY_CONNECTED" or weights.is_shifted
    if bias is None or len(scales) > 1 or not is_compared:
        return
    actual = 0.0 if bias.quantization is None else bias.quantization.scale
    expected = quantization(graph.input(operator)).scale * float(scales[0])
    if not abs(expected - actual) <= BIAS_TOLERANCE * quantization(graph.output(operator)).scale:
        yield Problem(f"bias scale must be {expected:.9g}, not {actual:.9g}", bias)


@rule(SCALE_RULES, "ADD", "SUB")
def sums_fit(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """ADD and SUB of bytes have an output scale of more than 2**-19 of the larger input scale."""
    if graph.input(operator).type is not TensorType.INT8:
        return
    first, second, output = graph.input(operator), graph.input(operator, 1), graph.output(operator)
    *_, ratio = sum_ratios(quantization(first), quantization(second), quantization(output))
    if ratio >= 1:
        yield Problem(
            "output scale must be more than 2**-19 of the larger input scale, "
            f"not {quantization(output).scale}",
            output,
        )


@rule(SCALE_RULES, "MUL")
def products_fit(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """MUL has input scales whose product / output scale is less than 2**30."""
    first, second, output = graph.input(operator), graph.input(operator, 1), graph.output(operator)
    scale = product_scale(quantization(first), quantization(second), quantization(output))
    if scale.shift > MAX_SHIFT:
        yield Problem(
            f"input scales' product / output scale must be less than 2**{MAX_SHIFT}, "
            f"not 2**{scale.shift - 1} or more",
            output,
        )


@rule(SCALE_RULES, "MEAN")
def means_fit(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """MEAN has an input scale of less than 2**30 output scales."""
    source, output = graph.input(operator), graph.output(operator)
    scale = mean_scale(quantization(source), quantization(output), 1)
    if scale.shift > MAX_SHIFT:
        yield Problem(
            f"input scale / output scale must be less than 2**{MAX_SHIFT}, "
            f"not 2**{scale.shift - 1} or more",
            output,
        )


@rule(SCALE_RULES, *of_family(Family.POOL))
def pools_without_rescaling(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """Pools have one zero point for input and output, and scales that differ by 1e-6 at most."""
    source, output = graph.input(operator), graph.output(operator)
    a, b = quantization(source), quantization(output)
    if abs(a.scale - b.scale) > POOL_SCALE_TOLERANCE or a.zero_point != b.zero_point:
        yield Problem(
            f"output scale and zero point must be the input's, {a.scale} and {a.zero_point}, "
            f"not {b.scale} and {b.zero_point}",
            output,
        )


@rule(SCALE_RULES, "SOFTMAX")
def gives_probabilities(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """SOFTMAX's output has scale 1/256 and the lowest zero point; beta x input scale > 2**-26.

    If it is int16, its scale is 1/65536; if the input is, too, 1/32768, and zero points are 0.
    """
    source, output = graph.input(operator), graph.output(operator)
    parameters = quantization(output)
    if output.type is TensorType.INT16:
        wanted = (1 / 32768, 0) if source.type is TensorType.INT16 else (1 / 65536, -32768)
        is_right = abs(parameters.scale / wanted[0] - 1) <= SHORT_TOLERANCE
        if not is_right or parameters.zero_point != wanted[1]:
            yield Problem(
                f"output scale and zero point must be {wanted[0]} and {wanted[1]}, "
                f"not {parameters.scale} and {parameters.zero_point}",
                output,
            )
        if source.type is TensorType.INT16 and quantization(source).zero_point != 0:
            yield Problem(
                f"input's zero point must be 0, not {quantization(source).zero_point}", source
            )
    elif (parameters.scale, parameters.zero_point) != (1 / 256, -128):
        yield Problem(
            f"output scale and zero point must be 0.00390625 and {output.shift - 128}, "
            f"not {parameters.scale} and {parameters.zero_point + output.shift}",
            output,
        )
    factor = operator.options.beta * quantization(source).scale
    if not (math.isfinite(factor) and factor > 2.0**-26):
        yield Problem(f"beta x input scale must be more than 2**-26, not {factor}", source)


@rule(SCALE_RULES, "LOG_SOFTMAX")
def gives_logarithms(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """LOG_SOFTMAX's output has scale 1/16 and the highest zero point; input scale > 2**-25."""
    source, output = graph.input(operator), graph.output(operator)
    parameters = quantization(output)
    if (parameters.scale, parameters.zero_point) != (1 / 16, 127):
        yield Problem(
            f"output scale and zero point must be 0.0625 and {output.shift + 127}, "
            f"not {parameters.scale} and {parameters.zero_point + output.shift}",
            output,
        )
    scale = quantization(source).scale
    if not scale > 2.0**MIN_LOGIT_EXPONENT:
        yield Problem(f"input scale must be more than 2**{MIN_LOGIT_EXPONENT}, not {scale}", source)

"""Support rules of MINIMUM, MAXIMUM and PRELU, and of SUM and REDUCE_MAX: quantization."""

from collections.abc import Iterator

from kiwicha.compiler.check.rules import Problem, Rule, operands, rule
from kiwicha.compiler.quantization.scales import MAX_SHIFT, product_scale, ratio_scale
from kiwicha.compiler.tflite.graph import Graph, Operator
from kiwicha.compiler.tflite.tensor import quantization

__all__ = ["PAIR_SCALE_RULES"]

PAIR_SCALE_RULES: list[Rule] = []


@rule(PAIR_SCALE_RULES, "MAXIMUM", "MINIMUM", "REDUCE_MAX")
def compares_without_rescaling(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """MAXIMUM, MINIMUM and REDUCE_MAX have one scale and zero point for inputs and output."""
    (_, first), *others = operands(graph, operator)
    a = quantization(first)
    for what, tensor in others:
        b = quantization(tensor)
        if (a.scale, a.zero_point) != (b.scale, b.zero_point):
            yield Problem(
                f"{what}'s scale and zero point must be the first input's, {a.scale} and "
                f"{a.zero_point}, not {b.scale} and {b.zero_point}",
                tensor,
            )


@rule(PAIR_SCALE_RULES, "PRELU", "SUM")
def scales_its_input_moderately(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """PRELU and SUM have an input scale of less than 2**30 output scales."""
    source, output = graph.input(operator), graph.output(operator)
    scale = ratio_scale(quantization(source), quantization(output))
    if scale.shift > MAX_SHIFT:
        yield Problem(
            f"input scale / output scale must be less than 2**{MAX_SHIFT}, "
            f"not 2**{scale.shift - 1} or more",
            output,
        )


@rule(PAIR_SCALE_RULES, "PRELU")
def leaks_products_that_fit(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """PRELU has scales of input and alpha whose product / output scale is less than 2**30."""
    source, alpha, output = graph.input(operator), graph.input(operator, 1), graph.output(operator)
    scale = product_scale(quantization(source), quantization(alpha), quantization(output))
    if scale.shift > MAX_SHIFT:
        yield Problem(
            f"input scale x alpha scale / output scale must be less than 2**{MAX_SHIFT}, "
            f"not 2**{scale.shift - 1} or more",
            output,
        )

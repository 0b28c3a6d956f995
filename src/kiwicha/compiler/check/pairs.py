"""Support rules of operators that compare, of PRELU, SQUARED_DIFFERENCE and SUM: quantization."""

from collections.abc import Iterator

from kiwicha.compiler.check.rules import Problem, Rule, operands, rule
from kiwicha.compiler.quantization.scales import (
    MAX_SHIFT,
    SQUARE_LEFT_SHIFT,
    product_scale,
    ratio_scale,
    square_scales,
)
from kiwicha.compiler.tflite.graph import Graph, Operator
from kiwicha.compiler.tflite.tensor import quantization

__all__ = ["PAIR_SCALE_RULES"]

PAIR_SCALE_RULES: list[Rule] = []


@rule(PAIR_SCALE_RULES, "MAXIMUM", "MINIMUM", "REDUCE_MAX", "REDUCE_MIN")
def compares_without_rescaling(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """Operators that choose one of their values have one scale and zero point for all tensors."""
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


@rule(PAIR_SCALE_RULES, "SQUARED_DIFFERENCE")
def squares_fit(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """SQUARED_DIFFERENCE: (2 x larger input scale)**2 / output scale is less than 2**44."""
    first, second, output = graph.input(operator), graph.input(operator, 1), graph.output(operator)
    scale = square_scales(*(quantization(t) for t in (first, second, output))).output
    if scale.shift > MAX_SHIFT:
        yield Problem(
            "(2 x larger input scale)**2 / output scale must be less than "
            f"2**{MAX_SHIFT + 2 * SQUARE_LEFT_SHIFT}, "
            f"not 2**{scale.shift - 1 + 2 * SQUARE_LEFT_SHIFT} or more",
            output,
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

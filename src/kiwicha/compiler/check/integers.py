"""Support rules of operators on integers and booleans.

They rely on the rules for operands.
"""

from collections.abc import Iterator

from kiwicha.compiler.check.problems import shape_problems
from kiwicha.compiler.check.rules import Problem, Rule, operands, rule
from kiwicha.compiler.quantization.scales import cumulative_scale, divided_scale
from kiwicha.compiler.tflite.graph import Activation, Graph, Operator
from kiwicha.compiler.tflite.integer_operators import DIVISION, computes_integers
from kiwicha.compiler.tflite.operators import OPERATORS, Family, of_family
from kiwicha.compiler.tflite.shapes import broadcast_shape, reduced_axes
from kiwicha.compiler.tflite.tensor import TensorType, quantization
from kiwicha.numerics.quotients import MOST_PLACES, quotient_places

__all__ = ["INTEGER_RULES"]

INTEGER_RULES: list[Rule] = []

_PAIRS = tuple(name for name in of_family(Family.INTEGER) if len(OPERATORS[name].activations) == 2)
_SINGLES = tuple(name for name in of_family(Family.INTEGER) if name not in _PAIRS)


@rule(INTEGER_RULES, *_PAIRS, "SELECT_V2")
def broadcasts_integers(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """Comparisons, divisions, LOGICAL_AND, LOGICAL_OR and SELECT_V2 broadcast by numpy's rules."""
    shapes = [graph.tensors[index].shape for index in operator.inputs]
    expected: tuple[int, ...] | None = ()
    for shape in shapes:
        expected = None if expected is None else broadcast_shape(expected, shape)
    if expected is None:
        yield Problem(f"input shapes must broadcast, not {' and '.join(map(_text, shapes))}")
    else:
        yield from shape_problems(graph.output(operator), expected)


def _text(shape: tuple[int, ...]) -> str:
    return str(list(shape))


@rule(INTEGER_RULES, "SELECT")
def selects_elements_or_rows(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """SELECT has inputs of one shape, and a condition for each element or each row, or one."""
    condition, first, second = (graph.tensors[index].shape for index in operator.inputs)
    if first != second:
        yield Problem(f"inputs must have one shape, not {list(first)} and {list(second)}")
    elif condition not in {first, first[:1], ()}:
        yield Problem(
            f"condition must be {list(first)} or {list(first[:1])}, not {list(condition)}"
        )
    yield from shape_problems(graph.output(operator), first)


@rule(INTEGER_RULES, *_SINGLES, "CAST", "CUMSUM")
def keeps_its_shape(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """CAST, CUMSUM, LOGICAL_NOT and NEG keep the shape."""
    yield from shape_problems(graph.output(operator), graph.input(operator).shape)


@rule(INTEGER_RULES, "ADD", "DIV", "MUL", "SUB")
def computes_integers_alone(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """Arithmetic on int32 and int64 has no fused activation."""
    activation = operator.options.activation
    if computes_integers(graph, operator) and activation is not Activation.NONE:
        yield Problem(f"fused activation of integers must be NONE, not {activation.name}")


@rule(INTEGER_RULES, DIVISION)
def divides_bytes_by_a_constant(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """DIV of int8 has one constant divisor, which does not stand for 0.

    TensorFlow Lite Micro shifts each quotient by 0 to 31 places, as scales and dividend say.
    """
    if computes_integers(graph, operator):
        return
    first, second, output = graph.input(operator), graph.input(operator, 1), graph.output(operator)
    if not second.is_constant or second.elements != 1:
        yield Problem(
            "divisor must be one constant; multiply by the inverse of a computed one", second
        )
        return
    parameters = [quantization(tensor) for tensor in (first, second, output)]
    divisor = second.integers()[0] - parameters[1].zero_point
    if not divisor:
        yield Problem("divisor must not be its zero point, which stands for 0", second)
        return
    shift = divided_scale(*parameters).shift
    places = [quotient_places(divisor, shift, dividend) for dividend in (-256, -1, 1, 255)]
    if not 0 <= min(places) <= max(places) <= MOST_PLACES:
        yield Problem(
            "output scale must be such that quotients neither overflow nor vanish", output
        )


@rule(INTEGER_RULES, *of_family(Family.COMPARISON))
def compares_small_scales(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """What is compared as int8 or uint8 has scales of less than 1."""
    for what, tensor in operands(graph, operator):
        if tensor.type is TensorType.INT8 and quantization(tensor).scale >= 1:
            yield Problem(
                f"{what}'s scale must be less than 1, not {quantization(tensor).scale}", tensor
            )


@rule(INTEGER_RULES, "CUMSUM")
def adds_up_along_one_axis(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """CUMSUM works on one dimension; of int8, output scales are more than 2**-19 input scales."""
    source, output = graph.input(operator), graph.output(operator)
    axes, rank = reduced_axes(graph, operator), len(source.shape)
    if len(axes) != 1 or not 0 <= axes[0] < rank:
        yield Problem(f"axis must be one of {-rank} to {rank - 1}, not {axes}")
    if source.type is not TensorType.INT8:
        return
    scale = cumulative_scale(quantization(source), quantization(output))
    if scale.shift > 0:
        yield Problem("output scale must be more than 2**-19 of the input scale", output)
    if source.is_shifted:
        yield Problem("input must be int8, not uint8", source, is_about_type=True)


@rule(INTEGER_RULES, "TOPK_V2")
def finds_no_more_than_there_are(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """TOPK_V2 finds 1 to all elements of each row, and their positions."""
    source, wanted = graph.input(operator), graph.input(operator, 1)
    depth = source.shape[-1] if source.shape else 0
    counts = wanted.integers()
    if len(counts) != 1 or not 1 <= counts[0] <= depth:
        yield Problem(f"k must be 1 to {depth}, not {counts}", wanted)
        return
    for index in operator.outputs:
        yield from shape_problems(graph.tensors[index], (*source.shape[:-1], counts[0]))

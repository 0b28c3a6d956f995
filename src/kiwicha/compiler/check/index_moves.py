"""Support rules of operators that choose positions: mirrors, indices, repeated dimensions.

They rely on the rules for operands.
"""

from collections.abc import Iterator

from kiwicha.compiler.check.problems import axis_problems, length_problems, shape_problems
from kiwicha.compiler.check.rules import Problem, Rule, rule
from kiwicha.compiler.tflite.graph import Graph, Operator
from kiwicha.compiler.tflite.shapes import broadcast_shape, paddings
from kiwicha.compiler.tflite.slices import from_end, index_runs

__all__ = ["INDEX_MOVE_RULES"]

INDEX_MOVE_RULES: list[Rule] = []

MAX_RUNS = 1024
"""Of positions that GATHER reads: each is a step of the Program."""


@rule(INDEX_MOVE_RULES, "MIRROR_PAD")
def mirrors_its_borders(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """MIRROR_PAD adds to each side of a dimension at most what there is to mirror."""
    source, output = graph.input(operator), graph.output(operator)
    found = list(length_problems(graph, operator, 1, "paddings", 2 * len(source.shape)))
    yield from found
    if found:
        return
    pairs, edge = paddings(graph, operator), 1 - min(operator.options.mode, 1)
    for axis, (size, pair) in enumerate(zip(source.shape, pairs, strict=True)):
        if min(pair) < 0 or max(pair) > size - edge:
            yield Problem(
                f"paddings of dimension {axis} must be 0 to {size - edge}, not {list(pair)}",
                graph.input(operator, 1),
            )
            return
    expected = [size + sum(pair) for size, pair in zip(source.shape, pairs, strict=True)]
    yield from shape_problems(output, expected)


@rule(INDEX_MOVE_RULES, "GATHER")
def gathers_known_positions(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """GATHER has indices inside its input, in at most 1024 runs of equal steps."""
    source, indices, output = (
        graph.input(operator),
        graph.input(operator, 1),
        graph.output(operator),
    )
    rank, batch_dims = len(source.shape), operator.options.batch_dims
    yield from axis_problems(operator.options.axis, rank)
    if not -rank <= operator.options.axis < rank:
        return
    axis = from_end(operator.options.axis, rank)
    if not 0 <= batch_dims <= min(axis, len(indices.shape)):
        yield Problem(f"batch dimensions must be 0 to {axis}, not {batch_dims}")
        return
    if indices.shape[:batch_dims] != source.shape[:batch_dims]:
        yield Problem(
            f"indices must begin with {list(source.shape[:batch_dims])}, "
            f"not be {list(indices.shape)}",
            indices,
        )
        return
    values = indices.integers()
    if not values or min(values) < 0 or max(values) >= source.shape[axis]:
        yield Problem(f"indices must be 0 to {source.shape[axis] - 1}, not {values}", indices)
        return
    if len(index_runs(values)) > MAX_RUNS:
        yield Problem(
            f"indices must have at most {MAX_RUNS} runs, not {len(index_runs(values))}", indices
        )
    expected = (*source.shape[:axis], *indices.shape[batch_dims:], *source.shape[axis + 1 :])
    yield from shape_problems(output, expected)


@rule(INDEX_MOVE_RULES, "REVERSE_V2")
def turns_dimensions_around(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """REVERSE_V2 reverses dimensions of its input and keeps its shape."""
    source, axes = graph.input(operator), graph.input(operator, 1)
    for axis in axes.integers():
        yield from axis_problems(axis, len(source.shape), axes)
    yield from shape_problems(graph.output(operator), source.shape)


@rule(INDEX_MOVE_RULES, "BROADCAST_TO")
def repeats_single_elements(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """BROADCAST_TO repeats dimensions of one element, to the shape that it names."""
    source, output, shape = graph.input(operator), graph.output(operator), graph.input(operator, 1)
    wanted = tuple(shape.integers())
    if broadcast_shape(source.shape, wanted) != wanted:
        yield Problem(
            f"input must broadcast to {list(wanted)}, not be {list(source.shape)}", source
        )
    else:
        yield from shape_problems(output, wanted)

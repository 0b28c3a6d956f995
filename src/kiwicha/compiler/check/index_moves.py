"""Support rules of operators that choose positions: mirrors, indices, repeated dimensions.

They rely on the rules for operands.
"""

from collections.abc import Iterator

from kiwicha.compiler.check.problems import axis_problems, length_problems, shape_problems
from kiwicha.compiler.check.rules import Problem, Rule, rule
from kiwicha.compiler.tflite.graph import Graph, Operator
from kiwicha.compiler.tflite.shapes import broadcast_shape, paddings
from kiwicha.compiler.tflite.slices import from_end
from kiwicha.compiler.tflite.tensor import Tensor

__all__ = ["INDEX_MOVE_RULES"]

INDEX_MOVE_RULES: list[Rule] = []


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
def gathers_along_an_axis(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """GATHER reads positions of a dimension; those that are constants are inside its input."""
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
    values = indices.integers() if indices.is_constant else [0]
    if not values or min(values) < 0 or max(values) >= source.shape[axis]:
        yield Problem(f"indices must be 0 to {source.shape[axis] - 1}, not {values}", indices)
        return
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


@rule(INDEX_MOVE_RULES, "FILL")
def fills_with_one_value(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """FILL repeats one element, to the shape that it names."""
    dims, value = graph.input(operator), graph.input(operator, 1)
    if value.elements != 1:
        yield Problem(f"value must have 1 element, not {value.elements}", value)
    yield from shape_problems(graph.output(operator), dims.integers())


@rule(INDEX_MOVE_RULES, "GATHER_ND")
def gathers_at_places(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """GATHER_ND reads what is at places of its first dimensions."""
    source, indices = graph.input(operator), graph.input(operator, 1)
    yield from _depth_problems(indices, source)
    if indices.shape and indices.shape[-1] <= len(source.shape):
        yield from shape_problems(
            graph.output(operator), (*indices.shape[:-1], *source.shape[indices.shape[-1] :])
        )


@rule(INDEX_MOVE_RULES, "SCATTER_ND")
def scatters_to_places(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """SCATTER_ND adds up updates at places of the first dimensions of the shape that it names."""
    indices, updates = graph.input(operator), graph.input(operator, 1)
    output = graph.output(operator)
    yield from shape_problems(output, graph.input(operator, 2).integers())
    yield from _depth_problems(indices, output)
    expected = (*indices.shape[:-1], *output.shape[indices.shape[-1] if indices.shape else 0 :])
    if updates.shape != expected:
        yield Problem(f"updates must be {list(expected)}, not {list(updates.shape)}", updates)


def _depth_problems(indices: Tensor, whole: Tensor) -> Iterator[Problem]:
    """Yield what is wrong if indices name no places of a tensor's first dimensions."""
    if not indices.shape or indices.shape[-1] > len(whole.shape):
        yield Problem(
            f"indices must end in a dimension of at most {len(whole.shape)}, "
            f"not be {list(indices.shape)}",
            indices,
        )


@rule(INDEX_MOVE_RULES, "EMBEDDING_LOOKUP")
def looks_rows_up(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """EMBEDDING_LOOKUP reads rows of an input of 2 or more dimensions."""
    lookup, source = graph.input(operator), graph.input(operator, 1)
    if len(source.shape) < 2 or len(lookup.shape) != 1:
        yield Problem(
            f"lookup must have 1 dimension and input 2 or more, not {list(lookup.shape)} and "
            f"{list(source.shape)}"
        )
        return
    yield from shape_problems(graph.output(operator), (*lookup.shape, *source.shape[1:]))

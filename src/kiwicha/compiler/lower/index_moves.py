"""Moves of operators that choose positions: mirrors, constant indices, repeated dimensions."""

import itertools
import math
from collections.abc import Sequence

from kiwicha.compiler.lower.moves import Move
from kiwicha.compiler.lower.views import View
from kiwicha.compiler.tflite.graph import Graph, Operator
from kiwicha.compiler.tflite.shapes import paddings, row_major_strides
from kiwicha.compiler.tflite.slices import Range, from_end, index_runs

__all__ = ["broadcast", "filled", "gathered", "mirrored", "turned_around"]


def mirrored(graph: Graph, operator: Operator) -> list[Move]:
    """Return the moves of MIRROR_PAD: one for each border, each corner, and the inside."""
    source, output = graph.input(operator), graph.output(operator)
    is_symmetric = operator.options.mode == 1
    dimensions = []
    for size, (before, after) in zip(source.shape, paddings(graph, operator), strict=True):
        # A reflection leaves out the element at the edge, a symmetric one repeats it.
        edge = 0 if is_symmetric else 1
        pieces = [
            (Range(0, before), Range(before - 1 + edge, before, -1)),
            (Range(before, size), Range(0, size)),
            (Range(before + size, after), Range(size - 1 - edge, after, -1)),
        ]
        dimensions.append([piece for piece in pieces if piece[0].count])
    moves = []
    for choice in itertools.product(*dimensions):
        target, taken = View.of(output.shape), View.of(source.shape)
        for axis, (there, here) in enumerate(choice):
            target = target.sliced(axis, there.first, there.count)
            taken = taken.sliced(axis, here.first, here.count, here.step)
        moves.append(Move(source.index, taken, output.index, target))
    return moves


def gathered(graph: Graph, operator: Operator) -> list[Move]:
    """Return the moves of GATHER with constant indices: one for each run of positions."""
    source, indices, output = (
        graph.input(operator),
        graph.input(operator, 1),
        graph.output(operator),
    )
    rank, batch_dims = len(source.shape), operator.options.batch_dims
    axis = from_end(operator.options.axis, rank)
    batches = math.prod(source.shape[:batch_dims])
    outer, inner = math.prod(source.shape[batch_dims:axis]), math.prod(source.shape[axis + 1 :])
    values = indices.integers()
    count = len(values) // batches
    sources = View.of((batches, outer, source.shape[axis], inner))
    targets = View.of((batches, outer, count, inner))
    moves = []
    for batch in range(batches):
        position = 0
        for run in index_runs(values[batch * count : (batch + 1) * count]):
            moves.append(
                Move(
                    source.index,
                    sources.sliced(0, batch, 1).sliced(2, run.first, run.count, run.step),
                    output.index,
                    targets.sliced(0, batch, 1).sliced(2, position, run.count),
                )
            )
            position += run.count
    return moves


def turned_around(graph: Graph, operator: Operator) -> list[Move]:
    """Return the move of REVERSE_V2."""
    source, output = graph.input(operator), graph.output(operator)
    taken = View.of(source.shape)
    for axis in {from_end(axis, len(source.shape)) for axis in graph.input(operator, 1).integers()}:
        taken = taken.sliced(axis, source.shape[axis] - 1, source.shape[axis], -1)
    return [Move(source.index, taken, output.index, View.of(output.shape))]


def broadcast(graph: Graph, operator: Operator) -> list[Move]:
    """Return the move of BROADCAST_TO."""
    source, output = graph.input(operator), graph.output(operator)
    shape = (1,) * (len(output.shape) - len(source.shape)) + source.shape
    taken = View(output.shape, _repeating(shape))
    return [Move(source.index, taken, output.index, View.of(output.shape))]


def filled(graph: Graph, operator: Operator) -> list[Move]:
    """Return the move of FILL."""
    value, output = graph.input(operator, 1), graph.output(operator)
    return [Move(value.index, View.repeating(output.shape), output.index, View.of(output.shape))]


def _repeating(shape: Sequence[int]) -> tuple[int, ...]:
    """Return strides that stay where a dimension has one element."""
    strides = zip(shape, row_major_strides(shape), strict=True)
    return tuple(0 if size == 1 else stride for size, stride in strides)

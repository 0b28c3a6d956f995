"""Copies of elements between tensors: what operators that only move data consist of."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kiwicha.compiler.lower.network import Values
from kiwicha.compiler.lower.views import View
from kiwicha.compiler.tflite.graph import Graph, Operator
from kiwicha.compiler.tflite.shapes import pad_value
from kiwicha.compiler.tflite.slices import Range

__all__ = ["Move", "borders", "ranged"]


@dataclass(frozen=True, eq=False)
class Move:
    """A copy of elements.

    Parameters
    ----------
    source : int or array
        The tensor that is read, or a constant of one element. `NO_TENSOR`: the operator's own
        working memory.
    source_view : View
        What is read of it.
    target : int
        The tensor that is written, or `NO_TENSOR`.
    target_view : View
        What is written of it: as many elements.
    table : int8 [256] or None
        What becomes of each byte on the way, by the byte taken as unsigned.
    """

    source: int | Values
    source_view: View
    target: int
    target_view: View
    table: Values | None = None


def borders(graph: Graph, operator: Operator, view: View, inside: Sequence[Range]) -> list[Move]:
    """Return what fills a view of the output around its inside."""
    output = graph.output(operator)
    value: Values | None = graph.input(operator, 2).data if operator.name == "PADV2" else None
    if value is None:
        bits = output.type.bits
        assert bits is not None
        value = np.array([pad_value(graph, operator)], f"i{bits // 8}")
    moves = []
    for axis, wanted in enumerate(inside):
        size, end = view.shape[axis], wanted.first + wanted.count
        for first, count in ((0, wanted.first), (end, size - end)):
            if count:
                border = view.sliced(axis, first, count)
                moves.append(Move(value, View.repeating(border.shape), output.index, border))
        view = view.sliced(axis, wanted.first, wanted.count)
        if not wanted.count:
            break
    return moves


def ranged(view: View, ranges: Sequence[Range | None]) -> View:
    """Return the elements that ranges take of each dimension."""
    for axis, wanted in enumerate(item for item in ranges if item is not None):
        view = view.sliced(axis, wanted.first, wanted.count, wanted.step)
    return view

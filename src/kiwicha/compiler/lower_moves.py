"""Lowering of operators that only move data, to copies between views of tensors."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kiwicha.compiler.graph import Graph, Operator, Tensor, TensorType
from kiwicha.compiler.layers import Layer, Values
from kiwicha.compiler.places import Places
from kiwicha.compiler.rules import RESHAPES
from kiwicha.compiler.shapes import pad_value, paddings
from kiwicha.compiler.slices import Range, from_end, nearest, pieces, slice_ranges, strided_ranges
from kiwicha.compiler.views import View, runs
from kiwicha.isa import Kernel

__all__ = ["Move", "lower_moves"]


@dataclass(frozen=True, eq=False)
class Move:
    """A copy of elements.

    Parameters
    ----------
    source : int or array
        The tensor that is read, or a constant of one element.
    source_view : View
        What is read of it.
    target : int
        The tensor that is written.
    target_view : View
        What is written of it: as many elements.
    """

    source: int | Values
    source_view: View
    target: int
    target_view: View


def lower_moves(graph: Graph, operator: Operator, places: Places) -> Layer:
    """Return the layer of an operator that only moves data.

    Tensors that need no memory of their own become known to ``places`` and are not copied.
    """
    calls = []
    for move in _MOVES[operator.name](graph, operator):
        copy = runs(move.source_view, move.target_view, _element_bytes(graph, move.target))
        if isinstance(move.source, int):
            if places.share(move.source, move.target, copy):
                continue
            call = Layer(
                operator.index,
                operator.name,
                kernel=Kernel.COPY,
                params=copy.params,
                tensors={"input": move.source, "output": move.target},
                ranges={"input": copy.source, "output": copy.target},
            )
        else:
            call = Layer(
                operator.index,
                operator.name,
                kernel=Kernel.COPY,
                params=copy.params,
                tensors={"output": move.target},
                constants={"input": move.source},
                ranges={"output": copy.target},
            )
        calls.append(call)
    if not calls:
        return Layer(operator.index, operator.name)
    return replace(calls[0], more=tuple(calls[1:]))


def _element_bytes(graph: Graph, tensor: int) -> int:
    bits = graph.tensors[tensor].type.bits
    assert bits is not None
    return bits // 8


def _whole(graph: Graph, operator: Operator) -> list[Move]:
    source, output = graph.input(operator), graph.output(operator)
    flat = View.of((output.elements,))
    return [Move(source.index, flat, output.index, flat)]


def _pad(graph: Graph, operator: Operator) -> list[Move]:
    source, output = graph.input(operator), graph.output(operator)
    inside = [
        Range(before, size)
        for (before, _), size in zip(paddings(graph, operator), source.shape, strict=True)
    ]
    view = View.of(output.shape)
    return [
        *_borders(graph, operator, view, inside),
        Move(source.index, View.of(source.shape), output.index, _taken(view, inside)),
    ]


def _borders(graph: Graph, operator: Operator, view: View, inside: Sequence[Range]) -> list[Move]:
    """Fill what a view of the output has around its inside."""
    output = graph.output(operator)
    value: Values | None = graph.input(operator, 2).data if operator.name == "PADV2" else None
    if value is None:
        kind = np.int8 if output.type is TensorType.INT8 else np.int32
        value = np.array([pad_value(graph, operator)], kind)
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


def _taken(view: View, ranges: Sequence[Range | None]) -> View:
    """Return the elements that ranges take of each dimension."""
    for axis, wanted in enumerate(item for item in ranges if item is not None):
        view = view.sliced(axis, wanted.first, wanted.count, wanted.step)
    return view


def _concatenation(graph: Graph, operator: Operator) -> list[Move]:
    output = graph.output(operator)
    axis = from_end(operator.options.axis, len(output.shape))
    moves = []
    first = 0
    for index in operator.inputs:
        shape = graph.tensors[index].shape
        target = View.of(output.shape).sliced(axis, first, shape[axis])
        moves.append(Move(index, View.of(shape), output.index, target))
        first += shape[axis]
    return moves


def _pack(graph: Graph, operator: Operator) -> list[Move]:
    output = graph.output(operator)
    axis = from_end(operator.options.axis, len(output.shape))
    whole = View.of(output.shape)
    return [
        Move(index, View.of(graph.tensors[index].shape), output.index, whole.sliced(axis, k, 1))
        for k, index in enumerate(operator.inputs)
    ]


def _unpack(graph: Graph, operator: Operator) -> list[Move]:
    source = graph.input(operator)
    axis = from_end(operator.options.axis, len(source.shape))
    whole = View.of(source.shape)
    return [
        Move(source.index, whole.sliced(axis, k, 1), index, View.of(graph.tensors[index].shape))
        for k, index in enumerate(operator.outputs)
    ]


def _split(graph: Graph, operator: Operator) -> list[Move]:
    is_even = operator.name == "SPLIT"
    source = graph.input(operator, 1 if is_even else 0)
    (axis,) = graph.input(operator, 0 if is_even else 2).integers()
    axis = from_end(axis, len(source.shape))
    moves = []
    first = 0
    for index in operator.outputs:
        shape = graph.tensors[index].shape
        taken = View.of(source.shape).sliced(axis, first, shape[axis])
        moves.append(Move(source.index, taken, index, View.of(shape)))
        first += shape[axis]
    return moves


def _slice(graph: Graph, operator: Operator) -> list[Move]:
    source, output = graph.input(operator), graph.output(operator)
    taken = _taken(View.of(source.shape), slice_ranges(graph, operator))
    return [Move(source.index, taken, output.index, View.of(output.shape))]


def _strided_slice(graph: Graph, operator: Operator) -> list[Move]:
    source, output = graph.input(operator), graph.output(operator)
    ranges = strided_ranges(graph, operator)
    assert ranges is not None
    taken = _taken(View.of(source.shape), ranges)
    return [Move(source.index, taken, output.index, View.of(output.shape))]


def _transpose(graph: Graph, operator: Operator) -> list[Move]:
    source, output = graph.input(operator), graph.output(operator)
    taken = View.of(source.shape).permuted(graph.input(operator, 1).integers())
    return [Move(source.index, taken, output.index, View.of(output.shape))]


def _depth(graph: Graph, operator: Operator) -> list[Move]:
    """Return the move of SPACE_TO_DEPTH or DEPTH_TO_SPACE."""
    block = operator.options.block_size
    source, output = graph.input(operator), graph.output(operator)
    space, depth = (source, output) if operator.name == "SPACE_TO_DEPTH" else (output, source)
    batches, height, width, _ = depth.shape
    spread = View.of(space.shape).split(2, width, block).split(1, height, block)
    blocks = View.of((batches, height, width, block, block, space.shape[3]))
    blocks = blocks.permuted((0, 1, 3, 2, 4, 5))
    if operator.name == "SPACE_TO_DEPTH":
        return [Move(source.index, spread, output.index, blocks)]
    return [Move(source.index, blocks, output.index, spread)]


def _batches(graph: Graph, operator: Operator) -> list[Move]:
    """Return the moves of SPACE_TO_BATCH_ND or BATCH_TO_SPACE_ND."""
    blocks = graph.input(operator, 1).integers()
    margins = [before for before, _ in paddings(graph, operator, 2)]
    is_spreading = operator.name == "SPACE_TO_BATCH_ND"
    source, output = graph.input(operator), graph.output(operator)
    space, batch = (source, output) if is_spreading else (output, source)
    phases = View.of((math.prod(blocks), *space.shape[:1], *batch.shape[1:]))
    if not any(graph.input(operator, 2).integers()):
        return [_all_phases(operator, space, phases, blocks, is_spreading)]
    moves = []
    for number, phase in enumerate(np.ndindex(*blocks)):
        inner = View(phases.shape[1:], phases.strides[1:], number * phases.strides[0])
        here, there = [Range(0, space.shape[0])], [Range(0, space.shape[0])]
        for axis, (block, offset) in enumerate(zip(blocks, phase, strict=True), 1):
            # Position k of the phase is position k * block + shift without margins.
            shift = int(offset) - margins[axis - 1]
            first = max(-(shift // block), 0)
            last = min((space.shape[axis] - 1 - shift) // block, batch.shape[axis] - 1)
            count = max(last - first + 1, 0)
            first = first if count else 0
            here.append(Range(first, count))
            there.append(Range(first * block + shift, count, block))
        channels = Range(0, space.shape[-1])
        here.append(channels)
        there.append(channels)
        if is_spreading:
            moves += _borders(graph, operator, inner, here)
        if all(item.count for item in here):
            views = _taken(View.of(space.shape), there), _taken(inner, here)
            moves.append(_directed(operator, *views, is_spreading))
    return moves


def _all_phases(
    operator: Operator, space: Tensor, phases: View, blocks: Sequence[int], is_spreading: bool
) -> Move:
    """Return the single move that it takes without margins."""
    spread = View.of(space.shape)
    for axis in range(len(blocks), 0, -1):
        spread = spread.split(axis, phases.shape[axis + 1], blocks[axis - 1])
    # [batches, rows, row of the block, columns, column of the block, ..., channels]
    inner = [2 * axis for axis in range(1, len(blocks) + 1)]
    outer = [axis for axis in range(len(spread.shape)) if axis not in inner]
    split = View.of((*blocks, *phases.shape[1:]))
    return _directed(operator, spread.permuted([*inner, *outer]), split, is_spreading)


def _directed(operator: Operator, space: View, batch: View, is_spreading: bool) -> Move:
    source, output = operator.inputs[0], operator.outputs[0]
    views = (space, batch) if is_spreading else (batch, space)
    return Move(source, views[0], output, views[1])


def _resize_nearest(graph: Graph, operator: Operator) -> list[Move]:
    source, output = graph.input(operator), graph.output(operator)
    rows, columns = (
        pieces(nearest(operator, source.shape[axis], output.shape[axis])) for axis in (1, 2)
    )
    moves = []
    top = 0
    for row in rows:
        left = 0
        for column in columns:
            taken, target = View.of(source.shape), View.of(output.shape)
            for axis, (wanted, first) in ((2, (column, left)), (1, (row, top))):
                taken = taken.sliced(axis, wanted.first, wanted.count, wanted.step)
                taken = taken.repeated(axis, wanted.repeat)
                target = target.sliced(axis, first, wanted.count * wanted.repeat)
                target = target.split(axis, wanted.count, wanted.repeat)
            moves.append(Move(source.index, taken, output.index, target))
            left += column.count * column.repeat
        top += row.count * row.repeat
    return moves


_MOVES: dict[str, Callable[[Graph, Operator], list[Move]]] = {
    **dict.fromkeys(RESHAPES, _whole),
    "BATCH_TO_SPACE_ND": _batches,
    "CONCATENATION": _concatenation,
    "DEPTH_TO_SPACE": _depth,
    "PACK": _pack,
    "PAD": _pad,
    "PADV2": _pad,
    "RESIZE_NEAREST_NEIGHBOR": _resize_nearest,
    "SLICE": _slice,
    "SPACE_TO_BATCH_ND": _batches,
    "SPACE_TO_DEPTH": _depth,
    "SPLIT": _split,
    "SPLIT_V": _split,
    "STRIDED_SLICE": _strided_slice,
    "TRANSPOSE": _transpose,
    "UNPACK": _unpack,
}
"""What becomes of each operator."""

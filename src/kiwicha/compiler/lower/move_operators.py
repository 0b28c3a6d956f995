"""Lowering of operators that only move data, to copies between views of tensors."""

from collections.abc import Callable
from dataclasses import replace

from kiwicha.compiler.lower.byte_copies import ByteCopy, byte_copy
from kiwicha.compiler.lower.image_moves import moved_batches, moved_blocks, resized
from kiwicha.compiler.lower.index_moves import (
    broadcast,
    filled,
    gathered,
    mirrored,
    turned_around,
)
from kiwicha.compiler.lower.memory_sharing import MemorySharing
from kiwicha.compiler.lower.moves import Move, borders, ranged
from kiwicha.compiler.lower.network import Layer, Values
from kiwicha.compiler.lower.views import View
from kiwicha.compiler.tflite.graph import NO_TENSOR, Graph, Operator
from kiwicha.compiler.tflite.operators import Family, of_family
from kiwicha.compiler.tflite.shapes import paddings
from kiwicha.compiler.tflite.slices import Range, from_end, slice_ranges, strided_ranges
from kiwicha.compiler.tflite.tensor import TensorType
from kiwicha.compiler.tflite.variables import ASSIGN, READ
from kiwicha.contract.layout import Ref
from kiwicha.contract.program import MAX_RANK, Kernel
from kiwicha.kernels.lookup import Lookup
from kiwicha.numerics.float_edges import rescaled

__all__ = ["lower_moves"]


def lower_moves(graph: Graph, operator: Operator, sharing: MemorySharing) -> Layer:
    """Return the layer of an operator that only moves data.

    Tensors that need no memory of their own become known to ``sharing`` and are not copied.
    """
    bits = graph.tensors[operator.outputs[0]].type.bits
    assert bits is not None
    moves = [
        (move, byte_copy(move.source_view, move.target_view, bits // 8))
        for move in _MOVES[operator.name](graph, operator)
    ]
    own_bytes = max((sum(c.target) for m, c in moves if m.target == NO_TENSOR), default=0)
    own = sharing.temporary(operator, own_bytes * 8 // bits) if own_bytes else NO_TENSOR
    copies = {
        number: (move.source, move.target, copy)
        for number, (move, copy) in enumerate(moves)
        if isinstance(move.source, int) and move.table is None
    }
    shared = sharing.share(copies)
    calls = [
        _call(operator, move, copy, own)
        for number, (move, copy) in enumerate(moves)
        if number not in shared
    ]
    if not calls:
        return Layer(operator.index, operator.name)
    return replace(calls[0], more=tuple(calls[1:]))


def _call(operator: Operator, move: Move, copy: ByteCopy, own: int) -> Layer:
    """Return the kernel call of a move; ``own`` is the operator's working memory."""
    tensors = {"output": own if move.target == NO_TENSOR else move.target}
    ranges = {"output": copy.target}
    constants: dict[str, Values] = {}
    if isinstance(move.source, int):
        tensors["input"] = own if move.source == NO_TENSOR else move.source
        ranges["input"] = copy.source
    else:
        constants["input"] = move.source
    if move.table is not None:
        assert copy.is_one
        constants["table"] = move.table
    return Layer(
        operator.index,
        operator.name,
        kernel=Kernel.COPY if move.table is None else Kernel.LOOKUP,
        params=copy.params if move.table is None else Lookup(*[Ref()] * 3),
        tensors=tensors,
        constants=constants,
        ranges=ranges,
    )


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
        *borders(graph, operator, view, inside),
        Move(source.index, View.of(source.shape), output.index, ranged(view, inside)),
    ]


def _concatenation(graph: Graph, operator: Operator) -> list[Move]:
    output = graph.output(operator)
    axis = from_end(operator.options.axis, len(output.shape))
    moves = []
    first = 0
    for index in operator.inputs:
        shape = graph.tensors[index].shape
        target = View.of(output.shape).sliced(axis, first, shape[axis])
        moves += _joined(graph, Move(index, View.of(shape), output.index, target))
        first += shape[axis]
    return moves


def _joined(graph: Graph, move: Move) -> list[Move]:
    """Return the move of a whole tensor, through a table if its scale is not the target's."""
    assert isinstance(move.source, int)
    a, b = (graph.tensors[tensor].quantization for tensor in (move.source, move.target))
    if graph.tensors[move.target].type is not TensorType.INT8:
        return [move]
    if a is None or b is None or (a.scale, a.zero_point) == (b.scale, b.zero_point):
        return [move]
    table = rescaled((a.scale, a.zero_point), (b.scale, b.zero_point))
    if byte_copy(move.source_view, move.target_view, 1).is_one:
        return [replace(move, table=table)]
    # The table's kernel works on bytes that lie together.
    aside = Move(move.source, move.source_view, NO_TENSOR, move.source_view, table)
    return [aside, replace(move, source=NO_TENSOR)]


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
    taken = ranged(View.of(source.shape), slice_ranges(graph, operator))
    return [Move(source.index, taken, output.index, View.of(output.shape))]


def _strided_slice(graph: Graph, operator: Operator) -> list[Move]:
    source, output = graph.input(operator), graph.output(operator)
    ranges = strided_ranges(graph, operator)
    assert ranges is not None
    taken = ranged(View.of(source.shape), ranges)
    return [Move(source.index, taken, output.index, View.of(output.shape))]


def _transpose(graph: Graph, operator: Operator) -> list[Move]:
    source, output = graph.input(operator), graph.output(operator)
    taken = View.of(source.shape).permuted(graph.input(operator, 1).integers())
    return [Move(source.index, taken, output.index, View.of(output.shape))]


def _tile(graph: Graph, operator: Operator) -> list[Move]:
    source, output = graph.input(operator), graph.output(operator)
    pairs = [(View.of(source.shape), View.of(output.shape))]
    multiples = graph.input(operator, 1).integers()
    for axis in range(len(multiples) - 1, -1, -1):
        count, size = multiples[axis], source.shape[axis]
        if count == 1:
            continue
        if sum(n > 1 for n in pairs[0][0].shape) < MAX_RANK:
            pairs = [(a.tiled(axis, count), b.split(axis, count, size)) for a, b in pairs]
        else:
            # A copy has no loop left for this one.
            firsts = range(0, count * size, size)
            pairs = [(a, b.sliced(axis, first, size)) for a, b in pairs for first in firsts]
    return [Move(source.index, a, output.index, b) for a, b in pairs]


_MOVES: dict[str, Callable[[Graph, Operator], list[Move]]] = {
    **dict.fromkeys(of_family(Family.RESHAPE), _whole),
    **dict.fromkeys((READ, ASSIGN), _whole),
    "BATCH_TO_SPACE_ND": moved_batches,
    "BROADCAST_TO": broadcast,
    "CAST": _whole,
    "CONCATENATION": _concatenation,
    "DEPTH_TO_SPACE": moved_blocks,
    "FILL": filled,
    "GATHER": gathered,
    "MIRROR_PAD": mirrored,
    "PACK": _pack,
    "PAD": _pad,
    "PADV2": _pad,
    "RESIZE_BILINEAR": resized,
    "RESIZE_NEAREST_NEIGHBOR": resized,
    "REVERSE_V2": turned_around,
    "SLICE": _slice,
    "SPACE_TO_BATCH_ND": moved_batches,
    "SPACE_TO_DEPTH": moved_blocks,
    "SPLIT": _split,
    "SPLIT_V": _split,
    "STRIDED_SLICE": _strided_slice,
    "TILE": _tile,
    "TRANSPOSE": _transpose,
    "UNPACK": _unpack,
}
"""What becomes of each operator."""

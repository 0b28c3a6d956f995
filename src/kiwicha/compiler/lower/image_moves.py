"""Moves of operators on images: blocks of pixels, phases of batches, repeated pixels."""

import math
from collections.abc import Sequence

import numpy as np

from kiwicha.compiler.lower.moves import Move, borders, ranged
from kiwicha.compiler.lower.views import View
from kiwicha.compiler.tflite.graph import NO_TENSOR, Graph, Operator
from kiwicha.compiler.tflite.shapes import paddings
from kiwicha.compiler.tflite.slices import Range, nearest, pieces
from kiwicha.compiler.tflite.tensor import Tensor

__all__ = ["moved_batches", "moved_blocks", "resized"]


def moved_blocks(graph: Graph, operator: Operator) -> list[Move]:
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


def moved_batches(graph: Graph, operator: Operator) -> list[Move]:
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
            moves += borders(graph, operator, inner, here)
        if all(item.count for item in here):
            views = ranged(View.of(space.shape), there), ranged(inner, here)
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


def resized(graph: Graph, operator: Operator) -> list[Move]:
    """Return the moves of RESIZE_NEAREST_NEIGHBOR, or of RESIZE_BILINEAR of a single pixel.

    Rows and columns that are repeated alike are one move; if there would be many, columns are
    repeated first, in rows that are still those of the input.
    """
    source, output = graph.input(operator), graph.output(operator)
    rows, columns = (
        pieces(nearest(operator, source.shape[axis], output.shape[axis])) for axis in (1, 2)
    )
    images = View.of(source.shape)
    result = View.of(output.shape)
    if len(rows) * len(columns) <= len(rows) + len(columns) + 1:
        whole = _repeated(images, result, 2, columns)
        views = [pair for a, b in whole for pair in _repeated(a, b, 1, rows)]
        return [Move(source.index, a, output.index, b) for a, b in views]
    wide = View.of((*source.shape[:2], *output.shape[2:]))
    return [
        *(Move(source.index, a, NO_TENSOR, b) for a, b in _repeated(images, wide, 2, columns)),
        *(Move(NO_TENSOR, a, output.index, b) for a, b in _repeated(wide, result, 1, rows)),
    ]


def _repeated(
    source: View, target: View, axis: int, parts: Sequence[Range]
) -> list[tuple[View, View]]:
    """Return views of source and target for each part of a dimension of the target."""
    views = []
    first = 0
    for part in parts:
        count = part.count * part.repeat
        a = source.sliced(axis, part.first, part.count, part.step).repeated(axis, part.repeat)
        b = target.sliced(axis, first, count).split(axis, part.count, part.repeat)
        views.append((a, b))
        first += count
    return views

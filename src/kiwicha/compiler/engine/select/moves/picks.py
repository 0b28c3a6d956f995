"""Moves of single bytes on the array: convolutions that pick each output from some input bytes.

A MOVE job brings a cycle's bytes from one place to one place, so channels in an order of their own
are a byte in a cycle. A 1x1 convolution with weights of 0 and 1, whose scale is one, gives eight
bytes for each word of inputs that they come from. Its pixels are as many bytes as the order
repeats after, in whole words of the output.
"""

import dataclasses
import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.engine.cost.job_work import JOB_CYCLES
from kiwicha.compiler.engine.ir.kernel_chunks import part_of
from kiwicha.compiler.engine.ir.limits import WINDOW_LIMITS, require
from kiwicha.compiler.engine.ir.move_operations import MoveOperation, closing_gaps
from kiwicha.compiler.engine.ir.operations import (
    MAX_INTERNAL_TENSORS,
    ComputeOperation,
    DividedOperation,
    Operation,
    OperationSequence,
    Piece,
    internal_tensor,
)
from kiwicha.compiler.engine.ir.refusals import BrokenLimitError
from kiwicha.compiler.engine.ir.replacements import with_fields
from kiwicha.compiler.engine.ir.strided_copies import StridedCopy
from kiwicha.compiler.engine.ir.window import Image, Window, padded
from kiwicha.compiler.engine.ir.window_operations import Convolution
from kiwicha.compiler.engine.schedule.estimates.operation_costs import (
    move_cycles,
    sequence_cycles,
)
from kiwicha.compiler.engine.schedule.move_estimate import cycles_alone, move_cycles_alone
from kiwicha.compiler.engine.select.convolutions.packed_products import packed_if_faster
from kiwicha.compiler.engine.select.convolutions.weighted import WeightedLayer, convolution
from kiwicha.compiler.engine.select.moves.byte_orders import ByteOrder, byte_orders
from kiwicha.compiler.engine.select.reductions.sum_parts import uniform
from kiwicha.compiler.optimize.ranges import UNIT_SCALE
from kiwicha.contract.configs import Config
from kiwicha.contract.engine import INPUT_LANES, OUTPUT_BYTES, SumFlag

__all__ = ["with_picks"]

FAST_BYTES = 8.0
"""Bytes in a cycle that a move need not exceed: a convolution has no more on most engines."""
MOST_BYTES = 2**23
"""Of an output whose order is looked at: where that repeats is found byte by byte."""
MOST_CHANNELS = 1024
"""Bytes of a pixel, of input or output: with more there would be too many jobs."""
_BLOCKS = (8, 16, 32, 64, 128, MOST_CHANNELS)
"""Outputs of a job that are tried."""
MARGIN = 1.1
"""By what a convolution must be faster than a move: it has weights to load, and more jobs."""
OWN_ROWS = 1.2
"""By what a convolution counts as slower whose rows are not those of neighbours."""
SERIES_BLOCK = 16
"""Outputs of a block of which sums may be kept: two jobs can need fewer words than one."""
_INT8 = (-128, 127)
_INPUT, _OUTPUT = 0, 1
_Box = tuple[range, range]
"""Parts of an input pixel, and bytes of each of them."""


def with_picks(operation: Operation, config: Config) -> Operation:
    """Return a layer of moves with convolutions instead of those that are faster so.

    Parameters
    ----------
    operation : Operation
        A move, or several operations.
    config : Config
        With an engine.
    """
    tensors = {tensor for step in operation.steps for tensor in (*step.inputs, step.output)}
    steps: list[Operation] = []
    for step in operation.steps:
        numbers = (internal_tensor(step.position, n) for n in range(MAX_INTERNAL_TENSORS))
        between = next((tensor for tensor in numbers if tensor not in tensors), None)
        if isinstance(step, MoveOperation) and between is not None:
            steps += _picked(step, between, config)
        else:
            steps.append(step)
        tensors |= {item.output for item in steps}
    return operation if steps == list(operation.steps) else OperationSequence.of(steps)


def _picked(move: MoveOperation, between: int, config: Config) -> Sequence[Operation]:
    """Return a convolution that does the same as a move, or the move if it is faster.

    ``between`` is a tensor that only these operations know.
    """
    if len(move.inputs) != 1 or move.place is not None or move.planes > 1 or move.constants:
        return [move]
    (tensor,) = move.inputs
    copies = tuple(
        copy if copy.source is None else dataclasses.replace(copy, source=_INPUT)
        for copy in move.copies
    )
    images = move.images[tensor], move.output_image
    if images[1].bytes > MOST_BYTES or images[1].bytes >= FAST_BYTES * move_cycles(move):
        return [move]
    found, busy, cycles = _fastest(copies, *images, config)
    # Beside neighbours that keep tensors in the scratchpad only its jobs count.
    if found is None or busy >= move_cycles(move):
        return [move]
    if MARGIN * cycles >= move_cycles_alone(move, config):
        return [move]
    own = with_fields(found, position=move.position, inputs=(tensor,), output=move.output)
    return _without_gaps(own, between)


def _without_gaps(operation: ComputeOperation, between: int) -> Sequence[Operation]:
    """Return an operation, and a move behind it if its pixels are not of whole words."""
    if operation.output_channels % OUTPUT_BYTES == 0:
        return [operation]
    closing = closing_gaps(operation, between, operation.output)
    return [with_fields(operation, output=between), closing]


# Networks have many moves of the same shape.
@lru_cache(maxsize=256)
def _fastest(
    copies: tuple[StridedCopy, ...], image: Image, output_image: Image, config: Config
) -> tuple[ComputeOperation | None, float, float]:
    """Return the fastest convolution that does the same as copies, and what it takes.

    That is what its jobs take, and what it takes with its tensors in the arena.
    """
    found = list(_convolutions(copies, image, output_image, config))
    if not found:
        return None, math.inf, math.inf
    between = internal_tensor(0, 0)
    weights = [OWN_ROWS if has_own_rows else 1.0 for _, has_own_rows in found]
    steps = [_without_gaps(item, between) for item, _ in found]
    cycles = [sum(sequence_cycles(step, config) for step in item) for item in steps]
    weighed = [a * b for a, b in zip(weights, cycles, strict=True)]
    best = weighed.index(min(weighed))
    alone = weights[best] * cycles_alone(steps[best], config)
    return found[best][0], weighed[best], alone


def _convolutions(
    copies: tuple[StridedCopy, ...], image: Image, output_image: Image, config: Config
) -> Iterator[tuple[ComputeOperation, bool]]:
    """Yield convolutions that do the same as copies, and whether they have rows of their own.

    Pixels and blocks are of several sizes.
    """
    parts = {abs(loop.source) for copy in copies for loop in copy.loops}
    for order in byte_orders(copies, image, output_image, MOST_CHANNELS):
        outputs = len(order.sources)
        for part in _parts(order, parts):
            layer = _layer(order, part)
            for size in (*(size for size in _BLOCKS if size < outputs), outputs):
                with suppress(BrokenLimitError):
                    yield _in_blocks(layer, order, size, config), order.has_own_rows
                    if size <= SERIES_BLOCK:
                        whole = _in_blocks(layer, order, size, config, in_series=True)
                        yield whole, order.has_own_rows


def _parts(order: ByteOrder, sizes: Iterable[int]) -> list[int]:
    """Return the bytes of parts of an input pixel: the whole, and what takes fewer words."""
    whole = order.channels
    possible = [size for size in sorted(sizes) if 0 < size < whole and whole % size == 0]
    possible = [size for size in possible if order.input_row_bytes % size == 0]
    best = min([whole, *possible], key=lambda size: _words(order, size))
    return [whole] if best == whole or order.input_row_bytes % best else [whole, best]


def _words(order: ByteOrder, part: int) -> int:
    """Return the words that all blocks of outputs need, given the bytes of a part of a pixel."""
    firsts = range(0, len(order.sources), OUTPUT_BYTES)
    blocks = (order.sources[first : first + OUTPUT_BYTES] for first in firsts)
    return sum(_box_words(_read(block, part)) for block in blocks)


def _box_words(box: _Box) -> int:
    columns, channels = box
    return len(columns) * -(-len(channels) // INPUT_LANES)


def _boxes(sources: NDArray[np.int64], part: int, least: int) -> list[_Box]:
    """Return what some outputs read: one box, or two that save so many words or more."""
    whole = _read(sources, part)
    used = np.unique(sources[sources >= 0])
    found = [[whole]]
    for key in (used, used % part):
        ordered = used[np.argsort(key, kind="stable")]
        halves = (np.split(ordered, [n]) for n in range(1, len(ordered)))
        found += [[_read(low, part), _read(high, part)] for low, high in halves]
    best = min(found, key=lambda boxes: sum(map(_box_words, boxes)))
    saved = _box_words(whole) - sum(map(_box_words, best))
    # Both parts must lie beside each other: no input counts twice.
    return best if saved >= least and not _overlap(best[0], best[-1]) else [whole]


def _overlap(first: _Box, second: _Box) -> bool:
    """Return whether two boxes have bytes in common."""
    return all(a.start < b.stop and b.start < a.stop for a, b in zip(first, second, strict=True))


def _read(sources: NDArray[np.int64], part: int) -> _Box:
    """Return which parts of a pixel some outputs need, and which bytes of each."""
    used = sources[sources >= 0]
    if not len(used):
        return range(1), range(part)
    columns, channels = used // part, used % part
    read = range(int(channels.min()), int(channels.max()) + 1)
    # A slice of as many words as the whole is read as a whole.
    return (
        range(int(columns.min()), int(columns.max()) + 1),
        read if padded(len(read)) < part else range(part),
    )


def _layer(order: ByteOrder, part: int) -> WeightedLayer:
    """Return the layer, whose input columns are parts of so many bytes."""
    columns = order.input_row_bytes // part
    return WeightedLayer(
        position=0,
        input=_INPUT,
        output=_OUTPUT,
        window=Window(
            input_rows=order.input_rows,
            input_columns=columns,
            channels=part,
            output_rows=order.rows,
            output_columns=order.columns,
            kernel_columns=order.channels // part,
            stride_rows=order.row_stride,
            stride_columns=order.channels // part,
        ),
        parameters=dataclasses.replace(uniform(len(order.sources), UNIT_SCALE), bias=order.fills),
        input_zero_point=0,
        output_zero_point=0,
        clamp=_INT8,
    )


def _in_blocks(
    layer: WeightedLayer,
    order: ByteOrder,
    size: int,
    config: Config,
    *,
    in_series: bool = False,
) -> ComputeOperation:
    """Return the layer with a job for each block of so many outputs, or two that sum up."""
    require(WINDOW_LIMITS, layer)
    outputs = len(order.sources)
    pieces = [
        piece
        for first in range(0, outputs, size)
        for piece in _pieces(
            layer, order, range(first, min(first + size, outputs)), config, in_series
        )
    ]
    if len(pieces) == 1 and pieces[0].operation.window == layer.window:
        return pieces[0].operation
    return DividedOperation(
        position=layer.position,
        inputs=(layer.input,),
        output=layer.output,
        window=layer.window,
        output_channels=outputs,
        clamp=layer.clamp,
        pieces=tuple(pieces),
    )


def _pieces(
    layer: WeightedLayer, order: ByteOrder, outputs: range, config: Config, in_series: bool
) -> Iterator[Piece]:
    """Yield the job of some outputs, of the inputs that they need, or the two of a series."""
    sources, part = order.sources[outputs.start : outputs.stop], layer.window.channels
    columns, channels = _read(sources, part)
    block = dataclasses.replace(
        layer,
        window=dataclasses.replace(
            layer.window,
            channels=len(channels),
            kernel_columns=len(columns),
            pad_left=-columns.start,
        ),
        parameters=dataclasses.replace(
            uniform(len(outputs), UNIT_SCALE), bias=order.fills[outputs.start : outputs.stop]
        ),
    )
    places = np.add.outer(np.array(columns) * part, np.array(channels))
    weights = (sources[:, np.newaxis, np.newaxis] == places).astype(np.int16)
    whole = packed_if_faster(convolution(block, weights[:, np.newaxis]), config)
    assert isinstance(whole, Convolution)
    least = math.ceil(JOB_CYCLES / (order.rows * order.columns)) + 1
    boxes = _boxes(sources, part, least) if in_series else [(columns, channels)]
    for number, (some_columns, some_channels) in enumerate(boxes):
        chunk = (
            slice(0, 1),
            slice(some_columns.start - columns.start, some_columns.stop - columns.start),
            slice(some_channels.start - channels.start, some_channels.stop - channels.start),
        )
        sums = SumFlag.CONTINUE if number else SumFlag.NONE
        sums |= SumFlag.KEEP if number < len(boxes) - 1 else SumFlag.NONE
        yield Piece(
            rows=range(layer.window.image_rows),
            operation=dataclasses.replace(part_of(whole, chunk), sums=sums),
            first_input_channel=some_channels.start,
            first_output_channel=outputs.start,
        )

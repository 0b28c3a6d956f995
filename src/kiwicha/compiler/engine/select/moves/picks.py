"""Moves of single bytes on the array: convolutions that pick each output from some input bytes.

A MOVE job brings a cycle's bytes from one place to one place, so channels in an order of their own
are a byte in a cycle. A 1x1 convolution with weights of 0 and 1, whose scale is one, gives eight
bytes for each word of inputs that they come from. Its pixels are as many bytes as the order
repeats after, in whole words of the output.
"""

import dataclasses
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.engine.ir.limits import WINDOW_LIMITS, require
from kiwicha.compiler.engine.ir.move_operations import MoveOperation
from kiwicha.compiler.engine.ir.operations import (
    ComputeOperation,
    DividedOperation,
    Operation,
    OperationSequence,
    Piece,
)
from kiwicha.compiler.engine.ir.refusals import BrokenLimitError
from kiwicha.compiler.engine.ir.replacements import with_fields
from kiwicha.compiler.engine.ir.strided_copies import StridedCopy
from kiwicha.compiler.engine.ir.window import Image, Window
from kiwicha.compiler.engine.schedule.estimates.operation_costs import (
    move_cycles,
    operation_cycles,
)
from kiwicha.compiler.engine.schedule.move_estimate import cycles_alone, move_cycles_alone
from kiwicha.compiler.engine.select.convolutions.packed_products import packed_if_faster
from kiwicha.compiler.engine.select.convolutions.weighted import WeightedLayer, convolution
from kiwicha.compiler.engine.select.reductions.sum_parts import uniform
from kiwicha.compiler.optimize.ranges import UNIT_SCALE
from kiwicha.contract.configs import Config
from kiwicha.contract.engine import INPUT_LANES, OUTPUT_BYTES

__all__ = ["with_picks"]

FAST_BYTES = 8.0
"""Bytes in a cycle that a move need not exceed: a convolution has no more on most engines."""
MOST_BYTES = 2**23
"""Of an output whose order is looked at: where that repeats is found byte by byte."""
MOST_CHANNELS = 1024
"""Bytes of a pixel, of input or output: with more there would be too many jobs."""
MOST_ROWS = 512
"""Rows that are told apart, about: finer stripes gain nothing."""
_BLOCKS = (8, 16, 32, 64, 128, MOST_CHANNELS)
"""Outputs of a job that are tried."""
_INT8 = (-128, 127)
_INPUT, _OUTPUT = 0, 1


@dataclass(frozen=True, eq=False)
class _Order:
    """Where the output bytes of each pixel come from.

    Parameters
    ----------
    sources : ndarray of int64
        For each, the input byte of that pixel; -1 if it is filled.
    fills : ndarray of int32
        What those are filled with; else 0.
    channels : int
        Input bytes of a pixel.
    pixels : int
        How many there are.
    """

    sources: NDArray[np.int64]
    fills: NDArray[np.int32]
    channels: int
    pixels: int


def with_picks(operation: Operation, config: Config) -> Operation:
    """Return a layer of moves with convolutions instead of those that are faster so.

    Parameters
    ----------
    operation : Operation
        A move, or several operations.
    config : Config
        With an engine.
    """
    found = [
        _picked(step, config) if isinstance(step, MoveOperation) else None
        for step in operation.steps
    ]
    if not any(found):
        return operation
    return OperationSequence.of(
        step if pick is None else pick for step, pick in zip(operation.steps, found, strict=True)
    )


def _picked(move: MoveOperation, config: Config) -> ComputeOperation | None:
    """Return a convolution that does the same as a move; None if there is none, or a slower one."""
    if len(move.inputs) != 1 or move.place is not None or move.planes > 1 or move.constants:
        return None
    (tensor,) = move.inputs
    copies = tuple(
        copy if copy.source is None else dataclasses.replace(copy, source=_INPUT)
        for copy in move.copies
    )
    images = move.images[tensor], move.output_image
    if images[1].bytes > MOST_BYTES or images[1].bytes >= FAST_BYTES * move_cycles(move):
        return None
    found, cycles = _fastest(copies, *images, config)
    if found is None or cycles >= move_cycles_alone(move, config):
        return None
    return with_fields(found, position=move.position, inputs=(tensor,), output=move.output)


# Networks have many moves of the same shape.
@lru_cache(maxsize=256)
def _fastest(
    copies: tuple[StridedCopy, ...], image: Image, output_image: Image, config: Config
) -> tuple[ComputeOperation | None, float]:
    """Return the fastest convolution that does the same as copies, and what it takes."""
    found = list(_convolutions(copies, image, output_image, config))
    if not found:
        return None, math.inf
    best = min(found, key=lambda item: operation_cycles(item, config))
    return best, cycles_alone(best, config)


def _convolutions(
    copies: tuple[StridedCopy, ...], image: Image, output_image: Image, config: Config
) -> Iterator[ComputeOperation]:
    """Yield convolutions that do the same as copies, with pixels and blocks of several sizes."""
    for order in _orders(copies, image.bytes, output_image.bytes):
        layer = _layer(order, image, output_image)
        size = len(order.sources)
        for block in (*(block for block in _BLOCKS if block < size), size):
            try:
                yield _in_blocks(layer, order, block, config)
            except BrokenLimitError:
                continue


def _orders(
    copies: tuple[StridedCopy, ...], input_bytes: int, output_bytes: int
) -> Iterator[_Order]:
    """Yield the order of bytes in pixels of whole words, as small ones as there are."""
    places = _places(copies, output_bytes)
    steps = {loop.target for copy in copies for loop in copy.loops if loop.target}
    size = next((step for step in sorted(steps) if _shift(places, step) is not None), None)
    if size is None:
        return
    size = next(n for n in range(1, size + 1) if size % n == 0 and _shift(places, n) is not None)
    whole = math.lcm(size, OUTPUT_BYTES)
    for pixel in (whole, 2 * whole):
        shift = _shift(places, pixel)
        if output_bytes % pixel or shift is None or not 0 < shift <= MOST_CHANNELS:
            continue
        sources = places[:pixel]
        is_filled = sources < 0
        if pixel > MOST_CHANNELS or (sources[~is_filled] >= shift).any():
            continue
        if output_bytes // pixel * shift != input_bytes:
            continue
        fills = np.where(is_filled, -1 - sources, 0).astype(np.uint8).view(np.int8)
        yield _Order(
            np.where(is_filled, -1, sources), fills.astype(np.int32), shift, output_bytes // pixel
        )


def _places(copies: tuple[StridedCopy, ...], size: int) -> NDArray[np.int64]:
    """Return which input byte each output byte is; -1 less a byte where that fills it."""
    found = np.zeros(size, np.int64)
    for copy in copies:
        targets = np.arange(copy.piece_bytes) + copy.target_start
        sources = np.arange(copy.piece_bytes) + copy.source_start
        for loop in reversed(copy.loops):
            steps = np.arange(loop.count).reshape(-1, *[1] * targets.ndim)
            targets = steps * loop.target + targets
            sources = steps * loop.source + sources
        found[targets] = sources if copy.source is not None else -1 - (copy.fill & 0xFF)
    return found


def _shift(places: NDArray[np.int64], size: int) -> int | None:
    """Return by how much the input moves on after so many output bytes; None if that differs."""
    if size <= 0 or len(places) % size:
        return None
    for end in (min(4 * size, len(places)), len(places)):
        first, second = places[: end - size], places[size:end]
        is_filled = first < 0
        if (np.where(is_filled, first - second, 0) != 0).any() or (second[~is_filled] < 0).any():
            return None
        shifts = (second - first)[~is_filled]
        if not len(shifts) or (shifts != shifts[0]).any():
            return None
    return int(shifts[0])


def _layer(order: _Order, image: Image, output_image: Image) -> WeightedLayer:
    """Return the layer, in the rows of the move's tensors if pixels do not cross them."""
    outputs, pixels = len(order.sources), order.pixels
    rows = output_image.rows
    if image.rows != rows or output_image.row_bytes % outputs:
        rows = next((n for n in range(min(pixels, MOST_ROWS), 1, -1) if pixels % n == 0), pixels)
    return WeightedLayer(
        position=0,
        input=_INPUT,
        output=_OUTPUT,
        window=Window.of_pixels(rows, pixels // rows, order.channels),
        parameters=dataclasses.replace(uniform(outputs, UNIT_SCALE), bias=order.fills),
        input_zero_point=0,
        output_zero_point=0,
        clamp=_INT8,
    )


def _in_blocks(layer: WeightedLayer, order: _Order, size: int, config: Config) -> ComputeOperation:
    """Return the layer with a job for each block of so many outputs."""
    require(WINDOW_LIMITS, layer)
    outputs = len(order.sources)
    pieces = [
        _piece(layer, order, first, min(first + size, outputs), config)
        for first in range(0, outputs, size)
    ]
    if len(pieces) == 1 and pieces[0].operation.window.channels == order.channels:
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


def _piece(layer: WeightedLayer, order: _Order, first: int, end: int, config: Config) -> Piece:
    """Return the job for the outputs from ``first`` up to ``end``: of the inputs that they need."""
    sources = order.sources[first:end]
    used = sources[sources >= 0]
    low, high = (int(used.min()), int(used.max()) + 1) if len(used) else (0, 1)
    if high - low > order.channels - INPUT_LANES:
        low, high = 0, order.channels
    p = layer.parameters
    block = dataclasses.replace(
        layer,
        window=dataclasses.replace(layer.window, channels=high - low),
        parameters=dataclasses.replace(uniform(end - first, UNIT_SCALE), bias=p.bias[first:end]),
    )
    weights = (sources[:, np.newaxis] == np.arange(low, high)).astype(np.int16)
    return Piece(
        rows=range(layer.window.image_rows),
        operation=packed_if_faster(convolution(block, weights[:, np.newaxis, np.newaxis]), config),
        first_input_channel=low,
        first_output_channel=first,
    )

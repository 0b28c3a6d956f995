"""Convolutions of int16 in jobs of bytes: sums of lower bytes, to which upper ones add 256 times.

The last job gives results of int16, as planes.
"""

import dataclasses
from collections.abc import Iterator, Sequence
from typing import TypeVar

import numpy as np

from kiwicha.compiler.engine.ir.kernel_chunks import (
    Chunk,
    block_of,
    part_of,
    summed,
    with_zero_points,
)
from kiwicha.compiler.engine.ir.limits import require, verify
from kiwicha.compiler.engine.ir.operations import DividedOperation, Piece
from kiwicha.compiler.engine.ir.window import Window, padded
from kiwicha.compiler.engine.ir.window_operations import (
    Convolution,
    DepthwiseConvolution,
    WeightedOperation,
)
from kiwicha.compiler.engine.select.convolutions.chunks import blocks_of, chunks_of
from kiwicha.compiler.engine.select.convolutions.packed_products import packed_if_faster
from kiwicha.compiler.engine.select.convolutions.phases import PHASE_LIMITS, phases_of
from kiwicha.compiler.engine.select.shorts.planes import SHORT_BYTES, are_rows, row_windows
from kiwicha.contract.configs import Config
from kiwicha.contract.engine import INPUT_LANES, OUTPUT_BYTES, SumFlag
from kiwicha.program.weight_streams import Parameters

__all__ = ["Part", "in_two_passes"]

Op = TypeVar("Op", bound=WeightedOperation)
SPARSE_BLOCK = 2 * OUTPUT_BYTES
"""Outputs of a block where outputs read some channels only: a group of packed products."""
_LOWEST = -128
"""Zero point of lower bytes: they have no sign."""


@dataclasses.dataclass(frozen=True)
class _Way:
    """How planes lie, and for what.

    Parameters
    ----------
    config : Config
        The engine's.
    pixel_bytes : int
        From one pixel to the next.
    step : int
        From the first lower byte of a pixel to its first upper one; 0 if rows are planes.
    """

    config: Config
    pixel_bytes: int
    step: int


@dataclasses.dataclass(frozen=True, eq=False)
class Part:
    """Outputs of a convolution that have parameters of their own.

    Parameters
    ----------
    rows : range
        Output rows, counted from the first one of their image.
    columns : range or None
        Output columns; None if it is all of them.
    operation : WeightedOperation
        The convolution as if all of its outputs were such.
    """

    rows: range
    columns: range | None
    operation: WeightedOperation


def in_two_passes(
    operation: WeightedOperation, config: Config, parts: Sequence[Part] = ()
) -> DividedOperation:
    """Return a convolution of int16.

    Parameters
    ----------
    operation : Convolution or DepthwiseConvolution
        The convolution as if planes were tensors: its window has the channels of one of them. The
        clamp is that of upper bytes, sums are wide.
    config : Config
        With an engine.
    parts : sequence of Part
        What is computed, in order, if not all outputs are alike; later ones may overwrite.

    Raises
    ------
    BrokenLimitError
        If the engine cannot do it.
    """
    window = operation.window
    if are_rows(window):
        lower, upper, both = row_windows(window)
        step = 0
    else:
        lower = upper = window
        step = padded(window.channels)
        both = dataclasses.replace(window, channels=SHORT_BYTES * step)
    way = _Way(config, both.channels, step)
    if window.is_transposed:
        assert isinstance(operation, Convolution)
        series: Iterator[Piece] = _of_phases(operation, way)
    elif parts:
        series = (
            dataclasses.replace(piece, rows=part.rows, columns=part.columns)
            for part in parts
            for piece in _of_window(part.operation, lower, upper.pad_top, way)
        )
    else:
        series = _of_window(operation, lower, upper.pad_top, way)
    return DividedOperation(
        position=operation.position,
        inputs=operation.inputs,
        output=operation.output,
        window=both,
        output_channels=SHORT_BYTES * padded(operation.output_channels),
        clamp=operation.clamp,
        pieces=tuple(series),
    )


def _lower(operation: Op) -> Op:
    """Return the same for lower bytes."""
    return dataclasses.replace(operation, input_zero_point=_LOWEST, reads_lowers=True)


def _upper(operation: Op, pad_top: int) -> Op:
    """Return the same for upper bytes."""
    window = dataclasses.replace(operation.window, pad_top=pad_top)
    return dataclasses.replace(operation, window=window)


def _of_phases(operation: Convolution, way: _Way) -> Iterator[Piece]:
    """Yield the jobs of a transposed convolution: those of a convolution for each phase."""
    outputs = SHORT_BYTES * padded(operation.output_channels)
    require(PHASE_LIMITS, dataclasses.replace(operation, output_channels=outputs))
    for phase in phases_of(operation.window, operation.weights):
        part = dataclasses.replace(operation, weights=phase.weights)
        for piece in _of_window(part, phase.window, phase.window.pad_top, way):
            yield dataclasses.replace(piece, rows=phase.rows, columns=phase.columns)


def _of_window(
    operation: WeightedOperation, window: Window, upper_pad: int, way: _Way
) -> Iterator[Piece]:
    """Yield the jobs of a convolution, given its window on lower bytes.

    Parameters
    ----------
    operation : Convolution or DepthwiseConvolution
        The convolution.
    window : Window
        On lower bytes.
    upper_pad : int
        Rows above the image of upper bytes.
    way : _Way
        From lower to upper bytes.
    """
    pixels = dataclasses.replace(window, channels=way.pixel_bytes)
    verify(_lower(dataclasses.replace(operation, window=pixels)))
    operation = dataclasses.replace(operation, window=window)
    if isinstance(operation, Convolution):
        packed = packed_if_faster(operation, way.config)
        assert isinstance(packed, Convolution)
        yield from _of_all_channels(packed, upper_pad, way.step)
    else:
        assert isinstance(operation, DepthwiseConvolution)
        yield from _of_each_channel(operation, upper_pad, way.step)


def _of_all_channels(operation: Convolution, upper_pad: int, step: int) -> Iterator[Piece]:
    """Yield the jobs of a convolution, given the padding and the first channel of upper bytes."""
    for outputs in _blocks(operation, step):
        block = block_of(operation, outputs)
        chunks = chunks_of(block) if step == 0 else _chunks_with_weights(block)
        lower = _lower(block)
        lowers = [part_of(lower, chunk) for chunk in chunks]
        if operation.is_packed:
            others = summed(lower) - summed(lowers[0])
            lowers[0] = with_zero_points(lowers[0], others)
        uppers = [part_of(_upper(block, upper_pad), chunk) for chunk in chunks]
        firsts = [chunk[2].start for chunk in chunks]
        firsts += [step + first for first in firsts]
        yield from _series(operation, [*lowers, *uppers], firsts, outputs.start)


def _blocks(operation: Convolution, step: int) -> list[slice]:
    """Return blocks of outputs; small ones if most weights of pixels of several words are zero."""
    weights = operation.weights
    if step <= OUTPUT_BYTES or 2 * np.count_nonzero(weights) > weights.size:
        return blocks_of(operation)
    count = operation.output_channels
    firsts = range(0, count, SPARSE_BLOCK)
    return [slice(first, min(first + SPARSE_BLOCK, count)) for first in firsts]


def _chunks_with_weights(block: Convolution) -> list[Chunk]:
    """Return parts of the kernel, without words of channels that have no weights at the ends."""
    used = np.flatnonzero(block.weights.any(axis=(0, 1, 2)))
    first, last = (int(used[0]), int(used[-1])) if len(used) else (0, 0)
    start = first // INPUT_LANES * INPUT_LANES
    channels = min(padded(last + 1), block.window.channels) - start
    window = dataclasses.replace(block.window, channels=channels)
    return [
        (rows, columns, slice(start + some.start, start + min(some.stop, channels)))
        for rows, columns, some in chunks_of(dataclasses.replace(block, window=window))
    ]


def _of_each_channel(operation: DepthwiseConvolution, upper_pad: int, step: int) -> Iterator[Piece]:
    """Yield the same of a depthwise convolution."""
    for channels in blocks_of(operation):
        p = operation.parameters
        block = dataclasses.replace(
            operation,
            window=dataclasses.replace(operation.window, channels=channels.stop - channels.start),
            output_channels=channels.stop - channels.start,
            parameters=Parameters(*(v[channels] for v in (p.bias, p.multiplier, p.shift))),
            weights=np.ascontiguousarray(operation.weights[:, :, channels]),
        )
        parts = [_lower(block), _upper(block, upper_pad)]
        firsts = [channels.start, step + channels.start]
        yield from _series(operation, parts, firsts, channels.start)


def _series(
    whole: WeightedOperation,
    parts: Sequence[WeightedOperation],
    first_channels: Sequence[int],
    first_output: int,
) -> Iterator[Piece]:
    """Yield the jobs of some outputs: what reads lower bytes, then what reads upper ones.

    Parameters
    ----------
    whole : WeightedOperation
        All outputs.
    parts : sequence of WeightedOperation
        Parts of the kernel, of lower bytes and then of upper ones.
    first_channels : sequence of int
        The first input channel of each part.
    first_output : int
        The first of the outputs.
    """
    output_size = padded(whole.output_channels)
    for number, (part, first_channel) in enumerate(zip(parts, first_channels, strict=True)):
        is_last = number == len(parts) - 1
        sums = SumFlag.CONTINUE if number else SumFlag.NONE
        sums |= SumFlag.NONE if is_last else SumFlag.KEEP
        sums |= SumFlag.NONE if part.reads_lowers else SumFlag.SHIFTED
        yield Piece(
            range(whole.window.image_rows),
            dataclasses.replace(
                part,
                sums=sums,
                is_wide=is_last,
                lower_step=-output_size if is_last else 0,
            ),
            first_input_channel=first_channel,
            first_output_channel=output_size + first_output,
        )

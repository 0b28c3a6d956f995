"""Long sums: jobs that add up parts of a kernel each, in sums that one leaves for the next.

A job's group has up to `GROUP_WORDS` weight words. A convolution with more of them is divided into
chunks of kernel rows, of kernel columns, or of channels; and into blocks of output channels, so
that the engine can keep the sums of enough pixels.
"""

import dataclasses
from collections.abc import Iterator
from typing import TypeGuard

from kiwicha.compiler.engine.ir.kernel_chunks import (
    Chunk,
    block_of,
    part_of,
    summed,
    with_zero_points,
)
from kiwicha.compiler.engine.ir.operations import Operation, Piece
from kiwicha.compiler.engine.ir.window import padded
from kiwicha.compiler.engine.ir.window_operations import (
    Convolution,
    LongConvolution,
    WeightedOperation,
)
from kiwicha.contract.engine import (
    GROUP_WORDS,
    INPUT_LANES,
    MAX_KEPT_SUMS,
    MAX_KERNEL_ROWS,
    MAX_U8,
    OUTPUT_BYTES,
    SumFlag,
)

__all__ = ["blocks_of", "chunks_of", "in_chunks", "is_long", "with_parts_of_sums"]

_PIXELS = 64
"""Of a job, if there are as many: then its weights come much faster than they are used."""
_BLOCK = 2 * OUTPUT_BYTES
"""Outputs of which blocks have multiples: those of a group with two products per multiplier."""


def is_long(operation: Operation) -> TypeGuard[Convolution]:
    """Whether an operation is a convolution with more weights per output than a job can have."""
    return isinstance(operation, Convolution) and len(chunks_of(operation)) > 1


def with_parts_of_sums(operation: Convolution) -> LongConvolution:
    """Return a long convolution in blocks and chunks."""
    return LongConvolution(
        position=operation.position,
        inputs=operation.inputs,
        output=operation.output,
        window=operation.window,
        output_channels=operation.output_channels,
        clamp=operation.clamp,
        merged=operation.merged,
        pieces=tuple(in_chunks(Piece(range(operation.window.image_rows), operation))),
        whole=operation,
    )


def in_chunks(piece: Piece) -> Iterator[Piece]:
    """Yield what computes a piece: series of chunks, block by block, if it is long; else itself."""
    operation = piece.operation
    if not is_long(operation):
        yield piece
        return
    chunks = chunks_of(operation)
    for outputs in blocks_of(operation):
        block = block_of(operation, outputs)
        for number, chunk in enumerate(chunks):
            part = part_of(block, chunk)
            sums = SumFlag.CONTINUE if number else SumFlag.KEEP
            if 0 < number < len(chunks) - 1:
                sums |= SumFlag.KEEP
            if not number and operation.is_packed:
                part = with_zero_points(part, summed(block) - summed(part))
            is_last = number == len(chunks) - 1
            yield dataclasses.replace(
                piece,
                operation=dataclasses.replace(
                    part, sums=sums, is_wide=operation.is_wide and is_last
                ),
                first_input_channel=piece.first_input_channel + chunk[2].start,
                first_output_channel=piece.first_output_channel + outputs.start,
            )


def chunks_of(operation: Convolution) -> list[Chunk]:
    """Return parts of the kernel, each with the words of a group at most."""
    window = operation.window
    rows, columns, channels = window.kernel_rows, window.kernel_columns, window.channels
    words = padded(channels) // INPUT_LANES
    most_words = min(words, GROUP_WORDS)
    most_columns = min(columns, GROUP_WORDS // most_words, MAX_U8)
    most_rows = min(rows, MAX_KERNEL_ROWS)
    if (most_words, most_columns) == (words, columns):
        most_rows = min(most_rows, GROUP_WORDS // (columns * words))
    else:
        most_rows = 1
    return [
        (some_rows, some_columns, slice(some.start * INPUT_LANES, some.stop * INPUT_LANES))
        for some_rows in _slices(rows, most_rows)
        for some_columns in _slices(columns, most_columns)
        for some in _slices(words, most_words)
    ]


def _slices(count: int, most: int) -> list[slice]:
    """Return slices of about the same size, each of up to ``most``."""
    size = -(-count // -(-count // most))
    return [slice(first, min(first + size, count)) for first in range(0, count, size)]


def blocks_of(operation: WeightedOperation) -> list[slice]:
    """Return blocks of outputs, small enough for the sums of some pixels."""
    pixels = operation.window.output_pixels // operation.window.images
    most = MAX_KEPT_SUMS // min(pixels, _PIXELS) // _BLOCK * _BLOCK
    count = operation.output_channels
    blocks = _slices(-(-count // _BLOCK), most // _BLOCK)
    return [slice(part.start * _BLOCK, min(part.stop * _BLOCK, count)) for part in blocks]

"""Long sums: jobs that add up parts of a kernel each, in sums that one leaves for the next.

A job's group has up to `GROUP_WORDS` weight words. A convolution with more of them is divided into
chunks of kernel rows, of kernel columns, or of channels; and into blocks of output channels, so
that the engine can keep the sums of enough pixels.
"""

import dataclasses
from collections.abc import Iterator
from typing import TypeGuard

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.engine.ir.operations import Operation, Piece
from kiwicha.compiler.engine.ir.window import padded
from kiwicha.compiler.engine.ir.window_operations import Convolution, LongConvolution
from kiwicha.contract.engine import (
    GROUP_WORDS,
    INPUT_LANES,
    MAX_KEPT_SUMS,
    MAX_KERNEL_ROWS,
    MAX_U8,
    OUTPUT_BYTES,
    SumFlag,
)
from kiwicha.numerics.requantization import wrap_int32
from kiwicha.program.weight_streams import Parameters

__all__ = [
    "Chunk",
    "block_of",
    "in_chunks",
    "is_long",
    "part_of",
    "summed",
    "with_parts_of_sums",
    "with_zero_points",
]

_PIXELS = 64
"""Of a job, if there are as many: then its weights come much faster than they are used."""
_BLOCK = 2 * OUTPUT_BYTES
"""Outputs of which blocks have multiples: those of a group with two products per multiplier."""

Chunk = tuple[slice, slice, slice]
"""Kernel rows, kernel columns and channels."""


def is_long(operation: Operation) -> TypeGuard[Convolution]:
    """Whether an operation is a convolution with more weights per output than a job can have."""
    return isinstance(operation, Convolution) and len(_chunks(operation)) > 1


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
    chunks = _chunks(operation)
    for outputs in _blocks(operation):
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


def _chunks(operation: Convolution) -> list[Chunk]:
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


def _blocks(operation: Convolution) -> list[slice]:
    """Return blocks of outputs, small enough for the sums of some pixels."""
    pixels = operation.window.output_pixels // operation.window.images
    most = MAX_KEPT_SUMS // min(pixels, _PIXELS) // _BLOCK * _BLOCK
    count = operation.output_channels
    blocks = _slices(-(-count // _BLOCK), most // _BLOCK)
    return [slice(part.start * _BLOCK, min(part.stop * _BLOCK, count)) for part in blocks]


def block_of(operation: Convolution, outputs: slice) -> Convolution:
    """Return the operation of some outputs."""
    p = operation.parameters
    return dataclasses.replace(
        operation,
        output_channels=outputs.stop - outputs.start,
        parameters=Parameters(*(values[outputs] for values in (p.bias, p.multiplier, p.shift))),
        weights=operation.weights[outputs],
    )


def part_of(operation: Convolution, chunk: Chunk) -> Convolution:
    """Return the operation of a part of the kernel."""
    rows, columns, channels = chunk
    weights = operation.weights[:, rows, columns, channels]
    window = operation.window
    return dataclasses.replace(
        operation,
        window=dataclasses.replace(
            window,
            channels=weights.shape[3],
            kernel_rows=weights.shape[1],
            kernel_columns=weights.shape[2],
            pad_top=window.pad_top - rows.start * window.dilation_rows,
            pad_left=window.pad_left - columns.start * window.dilation_columns,
        ),
        weights=weights,
    )


def with_zero_points(first: Convolution, others: NDArray[np.int64]) -> Convolution:
    """Return the first chunk of packed products, given the sums of the other chunks' weights.

    Its bias stands for those of all chunks. What the zero point adds to their sums leaves with it,
    and of that its own weights' part is taken from it later.
    """
    bias = wrap_int32(first.parameters.bias - first.input_zero_point * others)
    parameters = dataclasses.replace(first.parameters, bias=bias.astype(np.int32))
    return dataclasses.replace(first, parameters=parameters)


def summed(operation: Convolution) -> NDArray[np.int64]:
    """Return the sum of the weights of each output."""
    total: NDArray[np.int64] = operation.weights.sum(axis=(1, 2, 3), dtype=np.int64)
    return total

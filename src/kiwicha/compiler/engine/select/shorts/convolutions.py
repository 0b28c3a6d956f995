"""Convolutions of int16 in jobs of bytes: sums of lower bytes, to which upper ones add 256 times.

The last job gives results of int16, as planes.
"""

import dataclasses
from collections.abc import Iterator, Sequence
from typing import TypeVar

import numpy as np

from kiwicha.compiler.engine.ir.kernel_chunks import block_of, part_of, summed, with_zero_points
from kiwicha.compiler.engine.ir.limits import verify
from kiwicha.compiler.engine.ir.operations import DividedOperation, Piece
from kiwicha.compiler.engine.ir.window import padded
from kiwicha.compiler.engine.ir.window_operations import (
    Convolution,
    DepthwiseConvolution,
    WeightedOperation,
)
from kiwicha.compiler.engine.select.convolutions.chunks import blocks_of, chunks_of
from kiwicha.compiler.engine.select.convolutions.packed_products import packed_if_faster
from kiwicha.compiler.engine.select.shorts.planes import SHORT_BYTES
from kiwicha.contract.configs import Config
from kiwicha.contract.engine import SumFlag
from kiwicha.program.weight_streams import Parameters

__all__ = ["in_two_passes"]

Op = TypeVar("Op", bound=WeightedOperation)
_LOWEST = -128
"""Zero point of lower bytes: they have no sign."""


def in_two_passes(operation: WeightedOperation, config: Config) -> DividedOperation:
    """Return a convolution of int16.

    Parameters
    ----------
    operation : Convolution or DepthwiseConvolution
        The convolution as if planes were tensors: its window has the channels of one of them. The
        clamp is that of upper bytes, sums are wide.
    config : Config
        With an engine.

    Raises
    ------
    BrokenLimitError
        If the engine cannot do it.
    """
    window = operation.window
    both = dataclasses.replace(window, channels=SHORT_BYTES * padded(window.channels))
    verify(dataclasses.replace(operation, window=both))
    verify(_lower(operation))
    if isinstance(operation, Convolution):
        packed = packed_if_faster(operation, config)
        assert isinstance(packed, Convolution)
        series = _of_all_channels(packed)
    else:
        assert isinstance(operation, DepthwiseConvolution)
        series = _of_each_channel(operation)
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


def _of_all_channels(operation: Convolution) -> Iterator[Piece]:
    chunks = chunks_of(operation)
    for outputs in blocks_of(operation):
        block = block_of(operation, outputs)
        lower = _lower(block)
        lowers = [part_of(lower, chunk) for chunk in chunks]
        if operation.is_packed:
            others = summed(lower) - summed(lowers[0])
            lowers[0] = with_zero_points(lowers[0], others)
        uppers = [part_of(block, chunk) for chunk in chunks]
        firsts = [chunk[2].start for chunk in chunks]
        yield from _series(operation, lowers, uppers, firsts, outputs.start)


def _of_each_channel(operation: DepthwiseConvolution) -> Iterator[Piece]:
    for channels in blocks_of(operation):
        p = operation.parameters
        block = dataclasses.replace(
            operation,
            window=dataclasses.replace(operation.window, channels=channels.stop - channels.start),
            output_channels=channels.stop - channels.start,
            parameters=Parameters(*(v[channels] for v in (p.bias, p.multiplier, p.shift))),
            weights=np.ascontiguousarray(operation.weights[:, :, channels]),
        )
        yield from _series(operation, [_lower(block)], [block], [channels.start], channels.start)


def _series(
    whole: WeightedOperation,
    lowers: Sequence[WeightedOperation],
    uppers: Sequence[WeightedOperation],
    first_channels: Sequence[int],
    first_output: int,
) -> Iterator[Piece]:
    """Yield the jobs of some outputs: what reads lower bytes, then what reads upper ones.

    Parameters
    ----------
    whole : WeightedOperation
        All outputs.
    lowers, uppers : sequence of WeightedOperation
        Parts of the kernel.
    first_channels : sequence of int
        The first input channel of each part.
    first_output : int
        The first of the outputs.
    """
    size, output_size = padded(whole.window.channels), padded(whole.output_channels)
    parts = [
        *zip(lowers, first_channels, strict=True),
        *zip(uppers, (size + first for first in first_channels), strict=True),
    ]
    for number, (part, first_channel) in enumerate(parts):
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

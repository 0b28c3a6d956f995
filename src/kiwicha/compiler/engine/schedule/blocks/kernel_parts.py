"""Parts of a kernel, patches of outputs, and what of the input a part meets for a patch."""

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from kiwicha.compiler.engine.ir.kernel_chunks import (
    Chunk,
    block_of,
    part_of,
    summed,
    with_zero_points,
)
from kiwicha.compiler.engine.ir.window import Window, padded
from kiwicha.compiler.engine.ir.window_operations import Convolution
from kiwicha.contract.engine import GROUP_WORDS, INPUT_LANES, MAX_U8, MAX_U16, SumFlag

__all__ = ["KernelPart", "Met", "Patch", "met", "series_of", "ways_to_divide"]

_MOST_CHANNELS = GROUP_WORDS * INPUT_LANES
"""Of the part of a single tap."""
_SLICES = tuple(2**bits for bits in range(8, 16))
"""Of a pixel in parts, how many channels are loaded together."""


@dataclass(frozen=True)
class Patch:
    """Outputs of which a series of jobs adds up the parts of the kernel.

    Parameters
    ----------
    image : int
        Number of their image.
    rows, columns, channels : range
        Which they are; the rows are those of the image.
    """

    image: int
    rows: range
    columns: range
    channels: range


@dataclass(frozen=True)
class KernelPart:
    """A part of a kernel, a job for each of its chunks, whose inputs are loaded together.

    Parameters
    ----------
    row : int
        The kernel row.
    columns, channels : range
        Kernel columns, and input channels.
    chunks : tuple
        What each job multiplies.
    """

    row: int
    columns: range
    channels: range
    chunks: tuple[Chunk, ...]


@dataclass(frozen=True)
class Met:
    """What of an image a part of the kernel meets for a patch.

    Parameters
    ----------
    rows : range
        Input rows.
    above : int
        Rows above them that lie outside the image.
    columns : range
        Input columns.
    """

    rows: range
    above: int
    columns: range


def ways_to_divide(whole: Convolution) -> Iterator[tuple[KernelPart, ...]]:
    """Yield the kernel by rows, by taps, and the channels of a single column in slices."""
    window = whole.window
    rows, columns = range(window.kernel_rows), range(window.kernel_columns)
    channels = range(window.channels)
    is_narrow = len(columns) * padded(len(channels)) <= _MOST_CHANNELS and len(columns) <= MAX_U8
    is_near = window.dilation_columns * len(channels) <= MAX_U16
    if len(columns) > 1 and is_narrow and is_near:
        chunk = (slice(0, len(columns)), slice(0, len(channels)))
        yield tuple(
            KernelPart(row, columns, channels, ((slice(row, row + 1), *chunk),)) for row in rows
        )
    if window.input_columns > 1 or len(channels) <= _MOST_CHANNELS:
        yield tuple(_tap(row, column, channels) for row in rows for column in columns)
        return
    for size in _SLICES:
        slices = [channels[first : first + size] for first in channels[::size]]
        yield tuple(_tap(row, 0, some) for row in rows for some in slices)


def _tap(row: int, column: int, channels: range) -> KernelPart:
    """Return the part of a single tap, in as few jobs as it can have."""
    chunks = tuple(
        (
            slice(row, row + 1),
            slice(column, column + 1),
            slice(first, min(first + _MOST_CHANNELS, channels.stop)),
        )
        for first in channels[::_MOST_CHANNELS]
    )
    return KernelPart(row, range(column, column + 1), channels, chunks)


def met(window: Window, part: KernelPart, patch: Patch) -> Met | None:
    """Return what a part meets for a patch; None if all of that is outside the image."""
    height = window.input_rows // window.images
    first = part.row * window.dilation_rows - window.pad_top
    rows = [row * window.stride_rows + first for row in patch.rows]
    inside = [row for row in rows if 0 <= row < height]
    step, shift = window.dilation_columns, window.pad_left
    left = patch.columns.start * window.stride_columns + part.columns.start * step - shift
    right = (patch.columns.stop - 1) * window.stride_columns
    right += (part.columns.stop - 1) * step - shift + 1
    columns = range(max(left, 0), min(right, window.input_columns))
    if not inside or not columns:
        return None
    met_rows = range(inside[0], inside[-1] + 1, window.stride_rows)
    return Met(met_rows, rows.index(inside[0]), columns)


def series_of(whole: Convolution, channels: range, chunks: Sequence[Chunk]) -> list[Convolution]:
    """Return the operations of a series of jobs: each adds to what the one before it has kept.

    Their rows are those that they meet: one for each output row.

    Parameters
    ----------
    whole : Convolution
        All of it.
    channels : range
        Its outputs that are computed.
    chunks : sequence of Chunk
        What each job multiplies.
    """
    block = block_of(whole, slice(channels.start, channels.stop))
    parts = [_by_rows(part_of(block, chunk)) for chunk in chunks]
    if whole.is_packed:
        others = np.sum([summed(part) for part in parts], axis=0) - summed(parts[0])
        parts[0] = with_zero_points(parts[0], others)
    found = []
    for number, part in enumerate(parts):
        is_last = number == len(parts) - 1
        sums = SumFlag.CONTINUE if number else SumFlag.NONE
        sums |= SumFlag.NONE if is_last else SumFlag.KEEP
        is_wide = whole.is_wide and is_last
        found.append(dataclasses.replace(part, sums=sums, is_wide=is_wide, has_long_rows=True))
    return found


def _by_rows(part: Convolution) -> Convolution:
    window = dataclasses.replace(part.window, stride_rows=1, dilation_rows=1, pad_top=0, images=1)
    return dataclasses.replace(part, window=window)

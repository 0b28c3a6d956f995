"""Orders of bytes: after how many bytes the places repeat from which a move takes its output."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.engine.ir.strided_copies import StridedCopy
from kiwicha.compiler.engine.ir.window import MAX_STRIDE, Image, padded
from kiwicha.contract.engine import OUTPUT_BYTES

__all__ = ["ByteOrder", "byte_orders"]

MOST_ROWS = 512
"""Rows that are told apart, about: finer stripes gain nothing."""
LONG_ROW = 32
"""Pixels of a row, at least, where rows can be as long as one likes: each begins with a pause."""

LARGEST_WITH_GAPS = 256
"""Bytes of an output pixel that is not of whole words, at most."""
_TRIED_WITH_GAPS = 2

Places = NDArray[np.int64]
_Pixel = tuple[Places, NDArray[np.int32], int]


@dataclass(frozen=True, eq=False)
class ByteOrder:
    """Where the output bytes of each pixel come from: from the same bytes of its input pixel.

    Parameters
    ----------
    sources : ndarray of int64
        For each, the input byte of that pixel; -1 if it is filled.
    fills : ndarray of int32
        What those are filled with; else 0.
    channels : int
        Input bytes of a pixel.
    rows, columns : int
        Of pixels in the output.
    input_rows, input_row_bytes : int
        Of the input.
    row_stride : int
        Input rows from one output row to the next.
    has_own_rows : bool
        Rows are not those of the tensors.
    """

    sources: Places
    fills: NDArray[np.int32]
    channels: int
    rows: int
    columns: int
    input_rows: int
    input_row_bytes: int
    row_stride: int
    has_own_rows: bool = False


def byte_orders(
    copies: Sequence[StridedCopy], image: Image, output_image: Image, most: int
) -> Iterator[ByteOrder]:
    """Yield the orders of what copies do, in pixels of whole words, as small ones as there are.

    If their number does not go into that of all bytes, pixels are of other sizes.

    Parameters
    ----------
    copies : sequence of StridedCopy
        Of one tensor; together they write every byte of another.
    image, output_image : Image
        In what rows the two lie.
    most : int
        Bytes of a pixel of either.
    """
    places = _places(copies, output_image.bytes)
    steps = sorted({loop.target for copy in copies for loop in copy.loops if loop.target})
    found = list(_orders(places, (image, output_image), lambda row: _in_words(row, steps, most)))
    yield from found or _orders(
        places, (image, output_image), lambda row: _with_gaps(row, steps, most)
    )


def _orders(
    places: Places, images: tuple[Image, Image], pixels_of: Callable[[Places], Iterator[_Pixel]]
) -> Iterator[ByteOrder]:
    """Yield orders in rows of either image, and in rows of their own."""
    image, output_image = images
    for rows in dict.fromkeys((image.rows, output_image.rows)):
        if not 1 < rows < len(places) or len(places) % rows:
            continue
        row = places[: len(places) // rows]
        shift = _shift(places, len(row)) or 0
        stride, left = divmod(shift, image.row_bytes)
        if left or not 0 < stride <= MAX_STRIDE:
            continue
        for sources, fills, channels in pixels_of(row):
            columns = len(row) // len(sources)
            if channels * columns <= image.row_bytes:
                shape = rows, columns, image.rows, image.row_bytes, stride
                yield ByteOrder(sources, fills, channels, *shape)
    for sources, fills, channels in pixels_of(places):
        pixels = len(places) // len(sources)
        if pixels * channels == image.bytes:
            count = _rows(pixels)
            shape = count, pixels // count, count, image.bytes // count, 1
            yield ByteOrder(sources, fills, channels, *shape, has_own_rows=True)


def _rows(pixels: int) -> int:
    """Return in how many rows pixels lie that are told apart."""
    long = range(min(pixels // LONG_ROW, MOST_ROWS), 1, -1)
    short = range(min(pixels, MOST_ROWS), 1, -1)
    return next((n for n in (*long, *short) if pixels % n == 0), pixels)


def _places(copies: Sequence[StridedCopy], size: int) -> Places:
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


def _shift(places: Places, size: int) -> int | None:
    """Return by how much the input moves on after so many output bytes; None if that differs."""
    if len(places) % size:
        return None
    for end in (min(4 * size, len(places)), len(places)):
        first, second = places[: end - size], places[size:end]
        is_filled = first < 0
        if (second[is_filled] != first[is_filled]).any() or (second[~is_filled] < 0).any():
            return None
        shifts = (second - first)[~is_filled]
        if not len(shifts) or (shifts != shifts[0]).any():
            return None
    return int(shifts[0])


def _in_words(places: Places, steps: Sequence[int], most: int) -> Iterator[_Pixel]:
    """Yield pixels in a row of bytes, of whole words."""
    size = _period(places, steps)
    if size is None:
        return
    whole = math.lcm(size, OUTPUT_BYTES)
    for count in (whole, 2 * whole):
        yield from _pixel(places, count, most)


def _with_gaps(places: Places, steps: Sequence[int], most: int) -> Iterator[_Pixel]:
    """Yield pixels in a row of bytes, of sizes that are almost whole words."""
    size = _period(places, steps)
    if size is None or size > LARGEST_WITH_GAPS:
        return
    sizes = range(size, LARGEST_WITH_GAPS + 1, size)
    possible = (count for count in sizes if len(places) % count == 0)
    for count in sorted(possible, key=lambda count: padded(count) / count)[:_TRIED_WITH_GAPS]:
        yield from _pixel(places, count, most)


def _period(places: Places, steps: Sequence[int]) -> int | None:
    """Return after how many bytes the order repeats; None if it does not."""
    some = (step for step in steps if step < len(places))
    size = next((step for step in some if _shift(places, step) is not None), None)
    if size is None:
        return None
    parts = (count for count in range(1, size + 1) if size % count == 0)
    return next(count for count in parts if _shift(places, count) is not None)


def _pixel(places: Places, size: int, most: int) -> Iterator[_Pixel]:
    """Yield sources, fills and channels of pixels of a size, if there are such."""
    if size > min(most, len(places) // 2):
        return
    channels = _shift(places, size)
    if channels is None or not 0 < channels <= most:
        return
    sources = places[:size]
    is_filled = sources < 0
    if (sources[~is_filled] < channels).all():
        fills = np.where(is_filled, -1 - sources, 0).astype(np.uint8).view(np.int8)
        yield np.where(is_filled, -1, sources), fills.astype(np.int32), channels

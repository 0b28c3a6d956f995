"""Geometry of an operation: images, kernels, strides, and how their bytes lie in memory."""

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass

from kiwicha.contract.engine import CARRIED_LANES, INPUT_LANES, MAX_U8, OUTPUT_BYTES

__all__ = ["MAX_STRIDE", "Image", "Window", "gathered_words", "padded", "segment_shape"]

MAX_STRIDE = MAX_U8
"""Rows from one output to the next, at most."""


@dataclass(frozen=True)
class Image:
    """Shape of a tensor in the engine's terms: pixels of so many bytes, in rows and columns."""

    rows: int
    columns: int
    channels: int

    @classmethod
    def of_shape(cls, shape: Sequence[int], element_bytes: int = 1) -> "Image":
        """Return a tensor as an image: all dimensions but the last two as rows."""
        *_, rows, columns, channels = (1, 1, 1, *shape)
        rows *= math.prod(shape[:-3])
        if rows == 1:
            rows, columns = columns, 1  # rows can be cut into stripes
        return cls(rows, columns, channels * element_bytes)

    @property
    def row_bytes(self) -> int:
        """Bytes of a row without gaps."""
        return self.columns * self.channels

    @property
    def bytes(self) -> int:
        """All bytes without gaps."""
        return self.rows * self.row_bytes


@dataclass(frozen=True)
class Window:
    """Geometry of an operation: int8 [rows, columns, channels] in and out.

    Several images lie below each other; padding and windows are those of each of them.
    ``is_transposed``: input and output change places, so that an input pixel reaches a window of
    outputs, and strides and padding are those of the output. ``row_reads``: for each output row of
    an image the first input row that it needs, and the one behind the last, where no stride says
    so; neither goes back from a row to the next.
    """

    input_rows: int
    input_columns: int
    channels: int
    output_rows: int
    output_columns: int
    kernel_rows: int = 1
    kernel_columns: int = 1
    stride_rows: int = 1
    stride_columns: int = 1
    dilation_rows: int = 1
    dilation_columns: int = 1
    pad_top: int = 0
    pad_left: int = 0
    images: int = 1
    is_transposed: bool = False
    row_reads: tuple[tuple[int, int], ...] = ()

    @classmethod
    def of_pixels(cls, rows: int, columns: int, channels: int) -> "Window":
        """Return the geometry of an operation that computes each pixel from the same pixel."""
        return cls(rows, columns, channels, rows, columns)

    def repeated(self, count: int) -> "Window":
        """Return the geometry of ``count`` such images."""
        # The stride means nothing where an image gives one row.
        stride = self.input_rows if self.output_rows == 1 else self.stride_rows
        reach = (self.kernel_rows - 1) * self.dilation_rows + 1
        is_free = self.input_rows == self.output_rows * stride and reach <= stride
        as_one = is_free and not self.pad_top and stride <= MAX_STRIDE and not self.is_transposed
        return dataclasses.replace(
            self,
            input_rows=count * self.input_rows,
            output_rows=count * self.output_rows,
            stride_rows=stride if as_one and count > 1 else self.stride_rows,
            images=1 if as_one else count,
        )

    @property
    def image_rows(self) -> int:
        """Output rows of one image."""
        return self.output_rows // self.images

    @property
    def kernel_rows_inside(self) -> int:
        """Kernel rows that lie in the image, of all output rows together."""
        height = self.input_rows // self.images
        firsts = (row * self.stride_rows - self.pad_top for row in range(self.image_rows))
        reach = range(0, self.kernel_rows * self.dilation_rows, self.dilation_rows)
        inside = sum(0 <= first + step < height for first in firsts for step in reach)
        return self.images * inside

    def row_of(self, output_row: int) -> int:
        """Return the number of an output row in its image."""
        return output_row % self.image_rows

    @property
    def slots(self) -> int:
        """Kernel columns for each column of stride: taps of a depthwise chain in use."""
        return -(-self.kernel_columns // self.stride_columns)

    @property
    def input_pixels(self) -> int:
        """Pixels of the input."""
        return self.input_rows * self.input_columns

    @property
    def output_pixels(self) -> int:
        """Pixels of the output."""
        return self.output_rows * self.output_columns


def padded(channels: int) -> int:
    """Return the bytes from one pixel to the next of what a job writes."""
    return -(-channels // OUTPUT_BYTES) * OUTPUT_BYTES


def segment_shape(window: Window, pitch: int, lanes: int = INPUT_LANES) -> tuple[int, int]:
    """Return the segments of a convolution's kernel row, and the words of a segment.

    A segment is contiguous: a whole kernel row or, where columns or channels are left out, a pixel.

    Parameters
    ----------
    window : Window
        Geometry.
    pitch : int
        Bytes from one input pixel to the next.
    lanes : int
        Bytes of a word: see `input_lanes_of`.
    """
    is_slice = pitch > padded(window.channels)
    if not is_slice and (window.dilation_columns == 1 or window.kernel_columns == 1):
        return 1, -(-window.kernel_columns * pitch // lanes)
    return window.kernel_columns, -(-window.channels // lanes)


def gathered_words(window: Window, pitch: int) -> int | None:
    """Return the words of a kernel with `JobFlag.GATHERED`, or None if its jobs cannot have it.

    Parameters
    ----------
    window : Window
        Geometry.
    pitch : int
        Bytes from one input pixel to the next.
    """
    segments, _ = segment_shape(window, pitch)
    if segments > 1 or pitch > padded(window.channels):
        return None
    size = window.kernel_columns * pitch
    whole, behind = divmod(size, INPUT_LANES)
    places = [row * size % INPUT_LANES for row in range(window.kernel_rows)]
    if not whole or not behind or max(places) > CARRIED_LANES:
        return None
    if places[-1] + behind > INPUT_LANES:
        return None
    return -(-window.kernel_rows * size // INPUT_LANES)

"""Layers in the engine's terms."""

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.engine import ELEMENT_KINDS, INPUT_LANES, OUTPUT_BYTES, JobFlag, JobKind
from kiwicha.program.weight_streams import Parameters

__all__ = ["EngineLayer", "Patch", "Window", "padded", "segment_shape"]

MAX_STRIDE = 255
"""Rows from one output to the next, at most."""


@dataclass(frozen=True)
class Window:
    """Geometry of a layer: int8 [rows, columns, channels] in and out.

    Several images lie below each other; padding and windows are those of each of them.
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

    def repeated(self, count: int) -> "Window":
        """Return the geometry of ``count`` such images."""
        # The stride means nothing where an image gives one row.
        stride = self.input_rows if self.output_rows == 1 else self.stride_rows
        reach = (self.kernel_rows - 1) * self.dilation_rows + 1
        is_free = self.input_rows == self.output_rows * stride and reach <= stride
        as_one = is_free and not self.pad_top and stride <= MAX_STRIDE
        return dataclasses.replace(
            self,
            input_rows=count * self.input_rows,
            output_rows=count * self.output_rows,
            stride_rows=stride if as_one and count > 1 else self.stride_rows,
            images=1 if as_one else count,
        )

    def row_of(self, output_row: int) -> int:
        """Return the number of an output row in its image."""
        return output_row % (self.output_rows // self.images)

    @property
    def slots(self) -> int:
        """Taps of a depthwise chain in use."""
        return -(-self.kernel_columns // self.stride_columns)

    @property
    def input_pixels(self) -> int:
        """Pixels of the input."""
        return self.input_rows * self.input_columns

    @property
    def output_pixels(self) -> int:
        """Pixels of the output."""
        return self.output_rows * self.output_columns


@dataclass(frozen=True, eq=False)
class EngineLayer:
    """A layer for the engine.

    Parameters
    ----------
    position : int
        Position of the layer.
    kind : JobKind
        What its jobs are.
    flags : JobFlag
        Of its jobs.
    inputs : tuple of int
        Tensors it reads, as stored.
    output : int
        Tensor it writes, as stored.
    window : Window
        Geometry; ADD, TABLE and MUL: pixels.
    output_channels : int
        Channels of the output.
    parameters : Parameters
        Of the output channels; ADD, TABLE and MUL without CHANNELS: one.
    input_zero_point, output_zero_point : int
        Zero points.
    clamp : tuple of int
        Smallest and largest output.
    weights : int16
        CONV: [O, H, W, I]; DEPTHWISE: [H, W, C]; less than 256 in size. MAX has none.
    tables : int32 [256, 2]
        ADD and TABLE.
    merged : tuple of int
        Positions of earlier layers that it does as well.
    weight_zero_point : int
        What must be added to the weights to make them int8; MUL: of the second tensor.
    patches : tuple of Patch
        Jobs that together do it, in this order, where one does not. Later ones may overwrite what
        earlier ones wrote.
    """

    position: int
    kind: JobKind
    flags: JobFlag
    inputs: tuple[int, ...]
    output: int
    window: Window
    output_channels: int
    parameters: Parameters
    input_zero_point: int
    output_zero_point: int
    clamp: tuple[int, int]
    weights: NDArray[np.int16]
    tables: NDArray[np.int32]
    merged: tuple[int, ...] = ()
    weight_zero_point: int = 0
    patches: tuple["Patch", ...] = ()

    @property
    def positions(self) -> tuple[int, ...]:
        """Positions of all layers that it does."""
        return (*self.merged, self.position)

    @property
    def is_in_blocks(self) -> bool:
        """Whether its jobs are about some of the output channels each."""
        return any(p.layer.output_channels != self.output_channels for p in self.patches)

    @property
    def is_flat(self) -> bool:
        """Whether its jobs work byte by byte, wherever pixels begin and end."""
        return self.kind in ELEMENT_KINDS and not self.flags & JobFlag.CHANNELS

    @property
    def whole_inputs(self) -> tuple[int, ...]:
        """Inputs of one pixel, which serves all pixels of the output."""
        return self.inputs[1:] if self.flags & JobFlag.CHANNELS else ()

    def within(self, first_row: int, rows: int) -> Iterator["Patch"]:
        """Yield the jobs that compute some of the rows of an image."""
        end = first_row + rows
        for patch in self.patches or (Patch(range(first_row, end), None, self),):
            span = range(max(patch.rows.start, first_row), min(patch.rows.stop, end))
            if span:
                yield dataclasses.replace(patch, rows=span)


@dataclass(frozen=True, eq=False)
class Patch:
    """Outputs of a layer that one job computes.

    Parameters
    ----------
    rows : range
        Output rows, counted from the first one of their image.
    column : int or None
        The only output column, None if it is all of them.
    layer : EngineLayer
        The layer as it is there: it may differ in parameters, and be about some channels only.
    first_channel, first_output : int
        Of the whole layer's input and output, the first channels that it is about.
    """

    rows: range
    column: int | None
    layer: EngineLayer
    first_channel: int = 0
    first_output: int = 0


def padded(channels: int) -> int:
    """Return the pitch of pixels that a job writes."""
    return -(-channels // OUTPUT_BYTES) * OUTPUT_BYTES


def segment_shape(window: Window, pitch: int) -> tuple[int, int]:
    """Return segments per kernel row of CONV, and words per segment, for an input pitch.

    A segment is a whole row, or where columns or channels are left out, a pixel.
    """
    is_slice = pitch > padded(window.channels)
    if not is_slice and (window.dilation_columns == 1 or window.kernel_columns == 1):
        return 1, -(-window.kernel_columns * pitch // INPUT_LANES)
    return window.kernel_columns, -(-window.channels // INPUT_LANES)

"""Images of pixels a dilation apart: how a dilated convolution of single channels is done.

Outputs that are a dilation apart, in rows and columns, read inputs that are as far apart, and no
others. They are a small image of their own, which the same kernel meets without dilation. Where not
even the rows of one output fit, such a layer is a region of its own: each pixel of a small image is
a transfer, and each is loaded and stored once. Padding is that of the small images.
"""

import dataclasses
from dataclasses import dataclass
from functools import cached_property

from kiwicha.compiler.engine.ir.limits import verify
from kiwicha.compiler.engine.ir.operations import DividedOperation, Operation
from kiwicha.compiler.engine.ir.plan import (
    MAX_REGION_JOBS,
    BufferAddress,
    Compute,
    PartOfRows,
    Plan,
)
from kiwicha.compiler.engine.ir.refusals import BrokenLimitError
from kiwicha.compiler.engine.ir.region import Region
from kiwicha.compiler.engine.ir.window import Window
from kiwicha.compiler.engine.ir.window_operations import DepthwiseConvolution
from kiwicha.compiler.engine.schedule.blocks.moved_rows import MovedRows, pitch_of
from kiwicha.compiler.engine.schedule.blocks.patchworks import MOST_TRANSFERS
from kiwicha.compiler.engine.schedule.buffers import Builder
from kiwicha.compiler.engine.schedule.plans import plan_of_one
from kiwicha.contract.cfu import ALIGNMENT_BYTES
from kiwicha.contract.configs import Config
from kiwicha.program.weight_streams import Parameters

__all__ = ["phase_plan"]


def phase_plan(region: Region, config: Config) -> Plan | None:
    """Return a plan image by image; None if there is none.

    Parameters
    ----------
    region : Region
        Of one operation.
    config : Config
        With an engine.
    """
    (operation,) = region.operations
    whole = _whole(operation)
    if whole is None or not region.is_streamable(operation.output):
        return None
    capacity = config.scratchpad_bytes
    for is_early in (True, False):
        size = _channels(whole, capacity // (2 if is_early else 1))
        if size:
            found = _Builder(region, whole, size, is_early).plan(capacity)
            if found is not None:
                return found
    return None


def _whole(operation: Operation) -> DepthwiseConvolution | None:
    """Return what an operation in phases of columns is, None if it is none."""
    if not isinstance(operation, DividedOperation):
        return None
    first, *others = dict.fromkeys(operation.job_operations)
    window = operation.window
    is_dilated = window.dilation_rows > 1 or window.dilation_columns > 1
    is_plain = window.stride_rows == window.stride_columns == 1 and not others
    is_whole = is_plain and is_dilated and len(operation.inputs) == 1
    return first if is_whole and isinstance(first, DepthwiseConvolution) else None


def _channels(whole: DepthwiseConvolution, room: int) -> int:
    """Return how many channels of the largest image fit some bytes, 0 if there are too few."""
    window = whole.window
    steps = window.dilation_rows, window.dilation_columns
    inputs = (
        -(-(window.input_rows // window.images) // steps[0]),
        -(-window.input_columns // steps[1]),
    )
    outputs = -(-window.image_rows // steps[0]), -(-window.output_columns // steps[1])
    pixels = inputs[0] * inputs[1] + outputs[0] * outputs[1]
    # Pieces, and rows of them, lie up to a line further apart.
    left = room - (pixels + inputs[0] + outputs[0] + 2) * ALIGNMENT_BYTES
    unit = ALIGNMENT_BYTES
    most = left // pixels // unit * unit
    count = -(-window.channels // most) if most > 0 else 0
    return -(-window.channels // (count * unit)) * unit if count else 0


@dataclass(frozen=True)
class _Axis:
    """Rows or columns of an image: which are read and written, and what lies before them."""

    inputs: range
    outputs: range
    pad: int

    @classmethod
    def of(cls, phase: int, step: int, sizes: tuple[int, int], pad: int, kernel: int) -> "_Axis":
        """Return those of a phase, given the sizes of input and output."""
        outputs = range(phase, sizes[1], step)
        start = phase - pad
        first = start if start >= 0 else start % step
        inputs = range(first, sizes[0], step)
        if not inputs:
            # All of it is padding: something is read, and lies behind what windows reach.
            return cls(range(1), outputs, len(outputs) + kernel)
        return cls(inputs, outputs, (first - start) // step)


@dataclass(frozen=True)
class _Image:
    """A small image, or some channels of it."""

    number: int
    rows: _Axis
    columns: _Axis
    channels: range


@dataclass(frozen=True)
class _Pixels:
    """Pixels of a small image in a buffer."""

    rows: tuple[MovedRows, ...]
    row_bytes: int

    @property
    def lead(self) -> int:
        """First byte in the buffer."""
        return self.rows[0].lead

    @property
    def pitch(self) -> int:
        """Bytes from one pixel to the next."""
        return self.rows[0].pitch

    @property
    def size(self) -> int:
        """Bytes of the buffer."""
        return self.lead + len(self.rows) * self.row_bytes


class _Builder:
    """Makes the plan.

    Parameters
    ----------
    region : Region
        Of one operation.
    whole : DepthwiseConvolution
        What it computes.
    size : int
        Channels of an image, at most.
    is_early : bool
        The next image is loaded beside one.
    """

    def __init__(
        self, region: Region, whole: DepthwiseConvolution, size: int, is_early: bool
    ) -> None:
        self._region, self._whole, self._size = region, whole, size
        self._is_early = is_early
        self._builder = Builder()
        self._operations: dict[Window, dict[int, DepthwiseConvolution]] = {}

    @cached_property
    def _images(self) -> list[_Image]:
        window = self._whole.window
        height = window.input_rows // window.images
        rows = [
            _Axis.of(
                *(phase, window.dilation_rows, (height, window.image_rows), window.pad_top),
                window.kernel_rows,
            )
            for phase in range(min(window.dilation_rows, window.image_rows))
        ]
        sizes = window.input_columns, window.output_columns
        columns = [
            _Axis.of(phase, window.dilation_columns, sizes, window.pad_left, window.kernel_columns)
            for phase in range(min(window.dilation_columns, window.output_columns))
        ]
        channels = range(window.channels)
        blocks = [channels[first : first + self._size] for first in channels[:: self._size]]
        return [
            _Image(number, row, column, block)
            for number in range(window.images)
            for block in blocks
            for row in rows
            for column in columns
        ]

    def plan(self, capacity: int) -> Plan | None:
        """Return the plan; None if buffers do not fit, or there are too many transfers."""
        images = self._images
        pixels = sum(
            len(image.rows.inputs) * len(image.columns.inputs)
            + len(image.rows.outputs) * len(image.columns.outputs)
            for image in images
        )
        if len(images) > MAX_REGION_JOBS or pixels > MOST_TRANSFERS:
            return None
        buffers: list[int] = []
        stored: int | None = None
        try:
            for number, image in enumerate(images):
                for later in images[len(buffers) : number + 1 + self._is_early]:
                    buffers.append(self._load(later))
                stored = self._compute(image, buffers[number], stored)
        except BrokenLimitError:
            return None
        return plan_of_one(self._region, self._builder, len(images), capacity)

    def _load(self, image: _Image) -> int:
        """Add the transfers of an image, and return its buffer."""
        (source,) = self._region.operations[0].inputs
        place = self._place(image, is_store=False)
        buffer = self._builder.buffer(f"phase {self._name(image)} of {source}", place.size)
        self._move(place, source, buffer, is_store=False)
        return buffer

    def _name(self, image: _Image) -> str:
        first = image.rows.outputs.start, image.columns.outputs.start, image.channels.start
        return ", ".join(map(str, first))

    def _place(self, image: _Image, *, is_store: bool) -> _Pixels:
        """Return how the pixels lie that an image reads or writes."""
        window, channels = self._whole.window, self._whole.window.channels
        rows, columns = (image.rows, image.columns)
        ys, xs = (rows.outputs, columns.outputs) if is_store else (rows.inputs, columns.inputs)
        width = window.output_columns if is_store else window.input_columns
        height = window.image_rows if is_store else window.input_rows // window.images
        found = tuple(
            MovedRows(
                first=((image.number * height + y) * width + xs.start) * channels
                + image.channels.start,
                step=xs.step * channels,
                bytes=len(image.channels),
                count=len(xs),
            )
            for y in ys
        )
        row = found[0].count * found[0].pitch
        return _Pixels(found, pitch_of(row, ys.step * width * channels))

    def _move(self, place: _Pixels, tensor: int, buffer: int, *, is_store: bool) -> None:
        for number, row in enumerate(place.rows):
            start = place.lead + number * place.row_bytes
            for transfer in row.transfers(tensor, buffer, is_store=is_store, place=start):
                self._builder.add(transfer)

    def _operation(self, image: _Image) -> DepthwiseConvolution:
        """Return the operation on some channels of an image."""
        window = dataclasses.replace(
            self._whole.window,
            input_rows=len(image.rows.inputs),
            input_columns=len(image.columns.inputs),
            channels=len(image.channels),
            output_rows=len(image.rows.outputs),
            output_columns=len(image.columns.outputs),
            dilation_rows=1,
            dilation_columns=1,
            pad_top=image.rows.pad,
            pad_left=image.columns.pad,
            images=1,
        )
        known = self._operations.setdefault(window, {})
        first = image.channels.start
        if first not in known:
            some, p = slice(first, image.channels.stop), self._whole.parameters
            known[first] = dataclasses.replace(
                self._whole,
                window=window,
                output_channels=len(image.channels),
                parameters=Parameters(p.bias[some], p.multiplier[some], p.shift[some]),
                weights=self._whole.weights[:, :, some],
                has_long_rows=True,
            )
            verify(known[first])
        return known[first]

    def _compute(self, image: _Image, source: int, stored_before: int | None) -> int:
        """Add the job of an image and the transfers of its outputs, and return their buffer."""
        output = self._region.operations[0].output
        loaded, stored = (self._place(image, is_store=is_store) for is_store in (False, True))
        buffer = self._builder.buffer(f"phase {self._name(image)} of {output}", stored.size)
        operation = self._operation(image)
        self._builder.add(
            Compute(
                operation=operation,
                inputs=(BufferAddress(source, loaded.lead),),
                input_pitch=loaded.pitch,
                first_input_row=0,
                input_rows=len(image.rows.inputs),
                output=BufferAddress(buffer, stored.lead),
                output_pitch=stored.pitch,
                first_output_row=0,
                output_rows=len(image.rows.outputs),
                output_row_bytes=stored.row_bytes,
                part=PartOfRows(0, len(image.columns.inputs), loaded.row_bytes),
            )
        )
        if stored_before is not None and self._is_early:
            # It may still be on its way to the arena.
            self._builder.keep(stored_before)
        self._move(stored, output, buffer, is_store=True)
        return buffer

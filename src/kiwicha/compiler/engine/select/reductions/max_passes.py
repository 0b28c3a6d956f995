"""Largest bytes of many in several passes, where one job has no window for all of them.

The largest of some bytes is the largest of what is largest in parts of them, whether these overlap
or not. So a pass leaves one byte of each part, and the next one goes on with these. Neighbouring
channels are parts, too: as long as there are fewer than the lanes of the engine, several pixels are
taken for one.
"""

import dataclasses

from kiwicha.compiler.engine.ir.limits import broken_row_limit, verify
from kiwicha.compiler.engine.ir.move_operations import MoveOperation, moved
from kiwicha.compiler.engine.ir.strided_copies import Loop, StridedCopy, in_order
from kiwicha.compiler.engine.ir.window import Image, Window, padded
from kiwicha.compiler.engine.ir.window_operations import MaxPooling
from kiwicha.compiler.engine.select.reductions.step_sequence import StepSequence
from kiwicha.compiler.engine.select.reductions.sum_parts import uniform
from kiwicha.compiler.optimize.ranges import UNIT_SCALE
from kiwicha.contract.engine import MAX_INPUT_ZERO_POINT, MAX_KERNEL_ROWS, OUTPUT_BYTES

__all__ = ["add_passes", "add_two_passes", "maximum", "planes", "windows_of_maxima"]

WINDOW_BYTES = 8192
"""Of a window, about: the scratchpad holds stripes of several."""
WIDE_BYTES = 64
"""Channels of pixels that were taken together, about, if so many can be."""
MOST_WIDE_BYTES = 512
LARGEST_GROUP = 512
"""Pixels that are transposed together, at most, where a tensor has no rows of its own."""
GROUP_BYTES = 16384
"""Of such pixels, about: the scratchpad holds them twice, and what becomes of them."""
_ANY_BYTE = (-128, 127)


def add_passes(steps: StepSequence, outer: int, depth: int, inner: int) -> None:
    """Add what finds the largest of each ``depth`` bytes of an int8 [outer, depth, inner].

    Parameters
    ----------
    steps : StepSequence
        Receives the operations; its tensor is the input.
    outer, depth, inner : int
        Shape of the input.
    """
    while depth > 1:
        if inner % OUTPUT_BYTES and depth <= WIDE_BYTES and not _is_turned(outer, inner):
            steps.append(maximum(steps, _columns(outer, depth, inner)))
            return
        together = _together(depth, inner)
        if together is None and inner == 1:
            _add_turned(steps, outer, depth)
            return
        rest = together or 1
        _add_windows(steps, outer, depth // rest, inner * rest)
        depth = rest


def _is_turned(outer: int, inner: int) -> bool:
    """Whether it is worthwhile to make channels of the first dimensions: there are no others."""
    return inner == 1 and outer >= OUTPUT_BYTES


def _columns(outer: int, depth: int, inner: int) -> Window:
    """Return the window that is a whole row."""
    return Window(
        input_rows=outer,
        input_columns=depth,
        channels=inner,
        output_rows=outer,
        output_columns=1,
        kernel_columns=depth,
    )


def _together(depth: int, inner: int) -> int | None:
    """Return how many neighbours become channels of one pixel, None if it would be no gain."""
    if inner % OUTPUT_BYTES == 0:
        return None
    sizes = [
        size
        for size in range(2, min(depth, MOST_WIDE_BYTES // inner + 1))
        if depth % size == 0 and inner * size % OUTPUT_BYTES == 0
    ]
    wide = (size for size in sizes if inner * size >= WIDE_BYTES)
    return next(wide, sizes[-1] if sizes else None)


def _add_windows(steps: StepSequence, outer: int, depth: int, inner: int) -> None:
    """Add passes over rows of ``inner`` channels, until there is one row of each ``depth``."""
    while depth > 1:
        size, stride, count = windows_of_maxima(depth, WINDOW_BYTES // padded(inner))
        is_whole = inner % OUTPUT_BYTES == 0
        # One group of channels serves all of them.
        columns, channels = (inner // OUTPUT_BYTES, OUTPUT_BYTES) if is_whole else (1, inner)
        window = Window(
            input_rows=depth,
            input_columns=columns,
            channels=channels,
            output_rows=count,
            output_columns=columns,
            kernel_rows=size,
            stride_rows=stride,
        )
        if size == stride:
            window = dataclasses.replace(
                window, input_rows=outer * depth, output_rows=outer * count
            )
        else:
            window = window.repeated(outer)
        steps.append(maximum(steps, window))
        depth = count


def windows_of_maxima(depth: int, most: int) -> tuple[int, int, int]:
    """Return rows of a window, from one to the next, and how many there are, that cover all rows.

    Parameters
    ----------
    depth : int
        Rows.
    most : int
        Of a window, about.
    """
    most = max(min(most, MAX_KERNEL_ROWS), 2)
    if depth <= most:
        return depth, depth, 1
    size = next((size for size in range(most, 1, -1) if depth % size == 0), 1)
    # Windows that overlap read some rows twice.
    for count in range(-(-depth // most), depth):
        stride = depth // count
        behind = depth - stride * (count - 1)
        if behind <= MAX_KERNEL_ROWS:
            return (behind, stride, count) if count < depth // size else (size, size, depth // size)
    return size, size, depth // size


def maximum(steps: StepSequence, window: Window) -> MaxPooling:
    """Return the operation that finds the largest bytes of windows; raises if it breaks a limit."""
    found = MaxPooling(
        position=steps.position,
        inputs=(steps.tensor,),
        output=steps.new,
        window=window,
        output_channels=window.channels,
        parameters=uniform(window.channels, UNIT_SCALE),
        output_zero_point=MAX_INPUT_ZERO_POINT,
        clamp=_ANY_BYTE,
    )
    long = dataclasses.replace(found, has_long_rows=broken_row_limit(found) is not None)
    verify(long)
    return long


def _add_turned(steps: StepSequence, outer: int, depth: int) -> None:
    """Add what does the same where the last dimension is reduced: the others become channels."""
    if not _is_turned(outer, 1):
        size = -(-depth // WIDE_BYTES) * WIDE_BYTES
        steps.append(_lengthened(steps, outer, depth, size))
        add_passes(steps, outer, size, 1)
        return
    columns = _group(outer, depth)
    image = Image(outer // columns, columns, depth)
    steps.append(planes(steps.position, steps.tensor, steps.new, image))
    pitch = padded(columns)
    _add_windows(steps, image.rows, depth, pitch)
    if pitch > columns:
        loops = in_order((Loop(image.rows, pitch, columns), Loop(columns, 1, 1)), 1)
        copy = StridedCopy(steps.tensor, 0, 0, *loops)
        read = {steps.tensor: Image(image.rows, pitch // OUTPUT_BYTES, OUTPUT_BYTES)}
        written = Image(image.rows, 1, columns)
        steps.append(moved(steps.position, [copy], read, steps.new, written))


def _group(outer: int, depth: int) -> int:
    """Return how many pixels are transposed together: as many as fit, and as there are lanes."""
    sizes = [n for n in range(1, min(outer, LARGEST_GROUP) + 1) if outer % n == 0]
    least = next((n for n in sizes if n >= OUTPUT_BYTES), sizes[-1])
    return max(least, *(n for n in sizes if n * depth <= GROUP_BYTES))


def _lengthened(steps: StepSequence, outer: int, depth: int, size: int) -> MoveOperation:
    """Return the move that lengthens rows: behind each come some of its own bytes again."""
    copies = []
    place = 0
    while place < size:
        count = min(size - place, depth)
        loops = in_order((Loop(outer, depth, size),), count)
        copies.append(StridedCopy(steps.tensor, 0, place, *loops))
        place += count
    image = {steps.tensor: Image(outer, 1, depth)}
    return moved(steps.position, copies, image, steps.new, Image(outer, 1, size))


def planes(position: int, source: int, output: int, image: Image) -> MoveOperation:
    """Return the move from the pixels of each row to a row of each channel, of whole words."""
    count, depth, pitch = image.columns, image.channels, padded(image.columns)
    rows = image.rows * depth
    loops = (
        Loop(image.rows, image.row_bytes, depth * pitch),
        Loop(depth, 1, pitch),
        Loop(count, depth, 1),
    )
    ordered, piece = in_order(loops, 1)
    copies = [StridedCopy(source, 0, 0, ordered, piece)]
    if pitch > count:
        loop = (Loop(rows, pitch, pitch),)
        copies.append(StridedCopy(None, 0, count, loop, pitch - count))
    found = Image(rows, pitch // OUTPUT_BYTES, OUTPUT_BYTES)
    return moved(position, copies, {source: image}, output, found)


def add_two_passes(steps: StepSequence, window: Window, images: int) -> None:
    """Add what finds the largest bytes of windows: those of their columns, then of their rows."""
    rows, columns = window.input_rows, window.output_columns
    of_columns = dataclasses.replace(
        window, output_rows=rows, kernel_rows=1, stride_rows=1, pad_top=0
    )
    of_rows = dataclasses.replace(
        window, input_columns=columns, kernel_columns=1, stride_columns=1, pad_left=0
    )
    for part in (of_columns, of_rows):
        steps.append(maximum(steps, part.repeated(images)))

"""Regions in rows of another length, of layers that give the same whatever their rows are.

Stripes are whole rows, and begin at aligned bytes. A tensor of few long rows, or of rows of an odd
number of bytes, has only few stripes, or none that fit. Element-wise layers of tensors of one shape
take them as runs of bytes, which rows of any length divide. Layers that compute each pixel from the
pixel in the same place take pixels in any rows.
"""

import dataclasses
import math
from collections.abc import Callable, Collection

from kiwicha.compiler.engine.ir.element_operations import ElementOperation, RowAddition
from kiwicha.compiler.engine.ir.move_operations import MoveOperation, closes_gaps, closing_gaps
from kiwicha.compiler.engine.ir.operations import DividedOperation, JobOperation, Operation
from kiwicha.compiler.engine.ir.region import Region
from kiwicha.compiler.engine.ir.softmax_operation import SoftmaxOperation
from kiwicha.compiler.engine.ir.window import Window
from kiwicha.compiler.engine.ir.window_operations import Convolution, DepthwiseConvolution
from kiwicha.contract.cfu import ALIGNMENT_BYTES

__all__ = ["any_rows_around", "with_other_rows"]

UNITS = 32
"""Of the scratchpad, what all stripes are multiples of: so there are stripes of about any size."""


def any_rows_around(operations: tuple[Operation, ...], number: int) -> range:
    """Return the numbers of consecutive operations around one that can have other rows together.

    Parameters
    ----------
    operations : tuple of Operation
        Of a region, in order.
    number : int
        Which one; the range is empty if it needs the rows that it has.
    """
    return max((_around(operations, number, count) for count in (_bytes, _pixels)), key=len)


def _around(
    operations: tuple[Operation, ...],
    number: int,
    count: Callable[[Operation], int | None],
) -> range:
    """Return the same for operations of which this count is the same."""
    wanted = count(operations[number])
    first, end = number, number + (wanted is not None)
    while number < end and first > 0 and count(operations[first - 1]) == wanted:
        first -= 1
    while number < end < len(operations) and count(operations[end]) == wanted:
        end += 1
    return range(first, end)


def with_other_rows(region: Region, capacity: int) -> Region | None:
    """Return a region in rows of a convenient length; None if an operation needs those it has.

    Parameters
    ----------
    region : Region
        What is to be done.
    capacity : int
        Bytes of the scratchpad.
    """
    operations, unit = region.operations, max(capacity // UNITS, ALIGNMENT_BYTES)
    size, *others = {_bytes(operation) for operation in operations}
    pixels, *more = {_pixels(operation) for operation in operations}
    if size is not None and not others:
        row = _divisor(size, unit, (1,))
        window = Window.of_pixels(size // row, 1, row)
        changed = [_as_run(o, window) for o in operations]
    elif pixels is not None and not more:
        pitches = {region.pitch(tensor, o) for o in operations for tensor in o.inputs}
        pitches |= {region.output_pitch(o) for o in operations}
        columns = _divisor(pixels, unit, pitches)
        changed = [_in_rows(o, pixels // columns, columns) for o in operations]
    else:
        return None
    is_same = all(a.window == b.window for a, b in zip(changed, operations, strict=True))
    return None if is_same else dataclasses.replace(region, operations=tuple(changed))


def _bytes(operation: Operation) -> int | None:
    """Return the bytes of an operation's output, None if it needs more than a run of them."""
    closes = isinstance(operation, MoveOperation) and closes_gaps(operation)
    return operation.output_image.bytes if closes or _is_flat(operation) else None


def _pixels(operation: Operation) -> int | None:
    """Return the pixels of an operation's output, None if it needs more than a number of them."""
    return operation.window.output_pixels if _is_by_pixel(operation) else None


def _is_flat(operation: Operation) -> bool:
    """Whether an operation works byte by byte on tensors of one shape."""
    is_element = isinstance(operation, ElementOperation) and not isinstance(operation, RowAddition)
    return is_element and operation.is_flat


def _is_by_pixel(operation: Operation) -> bool:
    """Whether each pixel depends on the pixel in the same place, and nothing else."""
    if isinstance(operation, MoveOperation):
        return closes_gaps(operation)
    if isinstance(operation, DividedOperation):
        rows = range(operation.window.image_rows)
        return all(
            piece.columns is None and piece.rows == rows and _is_by_pixel(piece.operation)
            for piece in operation.pieces
        )
    if isinstance(operation, Convolution | DepthwiseConvolution):
        window = operation.window
        plain = Window.of_pixels(window.input_rows, window.input_columns, window.channels)
        # Of a single tap dilation means nothing.
        return dataclasses.replace(window, dilation_rows=1, dilation_columns=1) == plain
    return isinstance(operation, ElementOperation | SoftmaxOperation) and not isinstance(
        operation, RowAddition
    )


def _divisor(count: int, unit: int, pitches: Collection[int]) -> int:
    """Return the largest divisor of a count of pixels so that rows of as many fit in a unit."""
    best = 1
    for divisor in range(1, min(count, unit) + 1):
        sizes = (math.lcm(divisor * pitch, ALIGNMENT_BYTES) for pitch in pitches)
        if count % divisor == 0 and max(sizes) <= unit:
            best = divisor
    return best


def _as_run(operation: Operation, window: Window) -> Operation:
    """Return an operation on runs of bytes with its bytes in such rows."""
    changed = dataclasses.replace(operation, window=window, output_channels=window.channels)
    if not isinstance(changed, MoveOperation):
        return changed
    # What it reads has no gaps either: it would be no run of bytes.
    (source,) = changed.inputs
    return closing_gaps(changed, source, changed.output)


def _in_rows(operation: Operation, rows: int, columns: int) -> Operation:
    """Return an operation by pixel with its pixels in so many rows and columns."""
    channels = operation.window.channels
    window = Window.of_pixels(rows, columns, channels)
    if isinstance(operation, MoveOperation):
        (source,) = operation.inputs
        return closing_gaps(dataclasses.replace(operation, window=window), source, operation.output)
    if not isinstance(operation, DividedOperation):
        return dataclasses.replace(operation, window=window)
    # Pieces of one operation stay pieces of one operation.
    parts: dict[JobOperation, JobOperation] = {
        part: dataclasses.replace(
            part, window=Window.of_pixels(rows, columns, part.window.channels)
        )
        for part in operation.job_operations
    }
    pieces = (
        dataclasses.replace(piece, rows=range(rows), operation=parts[piece.operation])
        for piece in operation.pieces
    )
    return dataclasses.replace(operation, window=window, pieces=tuple(pieces))

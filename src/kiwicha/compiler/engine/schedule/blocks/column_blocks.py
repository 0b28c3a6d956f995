"""What blocks of columns, and stripes of their rows, are: what each reads and writes."""

import dataclasses
import math
from dataclasses import dataclass

from kiwicha.compiler.engine.ir.limits import broken_row_limit
from kiwicha.compiler.engine.ir.operations import ComputeOperation, DividedOperation, JobOperation
from kiwicha.compiler.engine.ir.region import Region
from kiwicha.compiler.engine.ir.short_elements import ShortOperation
from kiwicha.compiler.engine.ir.window import Window
from kiwicha.compiler.engine.schedule.stripes.stripes import input_rows
from kiwicha.contract.cfu import ALIGNMENT_BYTES

__all__ = ["Block", "BlockStripe", "block_stripes", "blocks", "can_be_divided", "most_rows"]


def can_be_divided(region: Region) -> bool:
    """Whether blocks of a region's only operation begin and end at aligned bytes of each row."""
    (operation,) = region.operations
    if isinstance(operation, DividedOperation):
        # Pieces of rows, and series that leave sums, have borders of their own.
        rows = range(operation.window.image_rows)
        step = operation.window.dilation_columns
        is_simple = all(
            (piece.columns is None or piece.columns.step == step)
            and piece.rows == rows
            and not piece.operation.sums
            for piece in operation.pieces
        )
    else:
        is_simple = isinstance(operation, JobOperation) and not operation.is_flat
        is_simple &= not isinstance(operation, ShortOperation)
    window = operation.window
    rows_bytes = (
        region.input_row_bytes(operation, operation.inputs[0]),
        region.output_row_bytes(operation),
    )
    return (
        is_simple
        and window.images == 1
        and not window.is_transposed
        and len(operation.inputs) == 1
        and region.is_streamable(operation.output)
        and all(size % ALIGNMENT_BYTES == 0 for size in rows_bytes)
    )


@dataclass(frozen=True)
class Block:
    """Some columns of an operation.

    Parameters
    ----------
    operation : ComputeOperation
        As if they were all.
    inputs, outputs : range
        Columns that are read and written.
    """

    operation: ComputeOperation
    inputs: range
    outputs: range


def blocks(region: Region, count: int) -> tuple[Block, ...]:
    """Return about so many blocks of columns, as wide as each other."""
    operation = region.operations[0]
    assert isinstance(operation, ComputeOperation)
    window = operation.window
    output_unit = _unit(region.output_pitch(operation))
    width = -(-window.output_columns // (count * output_unit)) * output_unit
    found = []
    for start in range(0, window.output_columns, width):
        outputs = range(start, min(start + width, window.output_columns))
        inputs = _columns(window, outputs, _unit(region.input_pitch(operation)))
        if isinstance(operation, DividedOperation) and len(inputs) < window.dilation_columns:
            # There must be a column for each phase.
            return ()
        block = _cropped(operation, inputs, outputs)
        if any(part.has_long_rows and broken_row_limit(part) for part in block.job_operations):
            return ()
        found.append(Block(block, inputs, outputs))
    return tuple(found)


def _unit(pitch: int) -> int:
    """Return the pixels of which blocks have multiples, so that each begins at an aligned byte."""
    return ALIGNMENT_BYTES // math.gcd(ALIGNMENT_BYTES, pitch)


def _columns(window: Window, outputs: range, unit: int) -> range:
    """Return the input columns that some output columns need, one at least."""
    reach = (window.kernel_columns - 1) * window.dilation_columns + 1
    left = outputs.start * window.stride_columns - window.pad_left
    right = (outputs.stop - 1) * window.stride_columns - window.pad_left + reach
    start = min(max(left, 0), window.input_columns - 1) // unit * unit
    stop = -(-max(right, start + 1) // unit) * unit
    return range(start, min(stop, window.input_columns))


def _cropped(operation: ComputeOperation, inputs: range, outputs: range) -> ComputeOperation:
    """Return the operation as it is for some columns, which it takes for the whole image."""
    window = operation.window
    left = outputs.start * window.stride_columns - window.pad_left
    cropped = dataclasses.replace(
        window,
        input_columns=len(inputs),
        output_columns=len(outputs),
        # Stripes say which of the rows that they need are there.
        dilation_rows=1 if len(_phases(window)) > 1 else window.dilation_rows,
        pad_top=0,
        pad_left=inputs.start - left,
    )
    if not isinstance(operation, DividedOperation):
        return dataclasses.replace(operation, window=cropped)
    # A block of channels has the columns of the whole, and channels of its own; phases of columns
    # have one operation.
    changed = {
        part: dataclasses.replace(
            part, window=dataclasses.replace(cropped, channels=part.window.channels)
        )
        for part in operation.job_operations
    }
    pieces = []
    for piece in operation.pieces:
        columns = piece.columns
        if columns is not None:
            columns = range(columns.start, len(outputs), columns.step)
        if columns is None or columns:
            pieces.append(
                dataclasses.replace(piece, operation=changed[piece.operation], columns=columns)
            )
    return dataclasses.replace(operation, window=cropped, pieces=tuple(pieces))


@dataclass(frozen=True)
class BlockStripe:
    """Some rows of an operation.

    Parameters
    ----------
    inputs, outputs : range
        Rows that are read and written.
    first : int
        Number of the first output row in its phase.
    rows_above : int
        Rows that the first output row needs above those that are read, outside the image.
    """

    inputs: range
    outputs: range
    first: int
    rows_above: int


def _phases(window: Window) -> list[range]:
    """Return the output rows that are a dilation apart: all, where these read any rows together."""
    step = window.dilation_rows
    reach = (window.kernel_rows - 1) * step + 1
    if window.kernel_rows == 1 or window.stride_rows > 1 or window.input_rows < reach:
        step = 1
    return [range(first, window.output_rows, step) for first in range(step)]


def block_stripes(window: Window, height: int) -> tuple[BlockStripe, ...]:
    """Return the stripes of so many rows, phase by phase."""
    starts, ends = input_rows(window)
    found = []
    for phase in _phases(window):
        for first in range(0, len(phase), height):
            outputs = phase[first : first + height]
            top = outputs.start * window.stride_rows - window.pad_top
            if phase.step == 1:
                inputs = range(int(starts[outputs.start]), int(ends[outputs.stop - 1]))
            else:
                start = top if top >= 0 else top % phase.step
                last = top + (len(outputs) + window.kernel_rows - 2) * phase.step
                inputs = range(start, min(last + 1, window.input_rows), phase.step)
            found.append(BlockStripe(inputs, outputs, first, (inputs.start - top) // phase.step))
    return tuple(found)


def most_rows(window: Window) -> int:
    """Return the rows that a stripe can have."""
    return len(_phases(window)[0])

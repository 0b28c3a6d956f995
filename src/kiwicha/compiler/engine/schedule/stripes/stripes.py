"""Stripes of rows in which operations work whose tensors do not fit the scratchpad."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.engine.ir.move_operations import MoveOperation
from kiwicha.compiler.engine.ir.operations import Operation
from kiwicha.compiler.engine.ir.window import Window

__all__ = ["Rows", "Stripe", "by_image", "input_rows"]


@dataclass(frozen=True)
class Stripe:
    """Output rows of an operation, and the input rows inside the image that they need.

    Of an operation whose inputs are of different heights, these are those of the first one.
    """

    first_output_row: int
    output_rows: int
    first_input_row: int
    input_rows: int

    @property
    def end_output_row(self) -> int:
        """The output row behind the last."""
        return self.first_output_row + self.output_rows


class Rows:
    """The rows that operations must compute for rows of the last one.

    What is needed from a first row up to a last one begins where the first row's needs do, and
    ends where the last row's do: so a table for each operation says all.

    Parameters
    ----------
    operations : sequence of Operation
        In order.
    readers : sequence of sequence of int
        For each operation the numbers of the later ones that read its output; only those of the
        last operation are none.

    Attributes
    ----------
    output_starts, output_ends : ndarray of int64 [operations, rows]
        For each row of the last operation, the first row that each operation computes and the one
        behind its last.
    input_starts, input_ends : ndarray of int64 [operations, rows]
        The same of the rows that it reads of its first input.
    """

    def __init__(self, operations: Sequence[Operation], readers: Sequence[Sequence[int]]) -> None:
        self._operations = operations
        self._count = operations[-1].window.output_rows
        shape = len(operations), self._count
        self.output_starts, self.output_ends = np.empty(shape, np.int64), np.empty(shape, np.int64)
        self.input_starts, self.input_ends = np.empty(shape, np.int64), np.empty(shape, np.int64)
        for number in reversed(range(len(operations))):
            first = np.arange(self._count)
            end = first + 1
            if readers[number]:
                read = [self.read(k, operations[number].output) for k in readers[number]]
                first = np.min([starts for starts, _ in read], axis=0)
                end = np.max([ends for _, ends in read], axis=0)
            self.output_starts[number], self.output_ends[number] = first, end
            tensor = operations[number].inputs[0]
            self.input_starts[number], self.input_ends[number] = self.read(number, tensor)

    def read(self, number: int, tensor: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return which rows of a tensor an operation reads for each row of the last one.

        Of each row the first one, and the one behind the last.
        """
        starts, ends = _rows_read(self._operations[number], tensor)
        return starts[self.output_starts[number]], ends[self.output_ends[number] - 1]

    def stripe(self, first_row: int, rows: int) -> tuple[Stripe, ...]:
        """Return what each operation computes for some rows of the last one."""
        last = first_row + rows - 1
        parts = zip(
            self.output_starts[:, first_row].tolist(),
            self.output_ends[:, last].tolist(),
            self.input_starts[:, first_row].tolist(),
            self.input_ends[:, last].tolist(),
            strict=True,
        )
        return tuple(Stripe(a, b - a, start, end - start) for a, b, start, end in parts)

    def stripes(self, height: int) -> list[tuple[Stripe, ...]]:
        """Return stripes that cover all rows of the last operation; see `stripe`.

        Rows that two neighbouring stripes need are computed in both of them.
        """
        return [
            self.stripe(first, min(height, self._count - first))
            for first in range(0, self._count, height)
        ]


def _rows_read(operation: Operation, tensor: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return for each output row the first row of an input that it needs, and the one behind."""
    if isinstance(operation, MoveOperation):
        return _rows_moved(operation, tensor)
    if tensor in operation.broadcast_inputs:
        zeros = np.zeros(operation.window.output_rows, np.int64)
        return zeros, zeros + 1
    if tensor in operation.pixel_inputs:
        rows = np.arange(operation.window.output_rows)
        return rows, rows + 1
    return input_rows(operation.window)


@lru_cache(maxsize=1024)
def _rows_moved(move: MoveOperation, tensor: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the same for a move: what further rows need is needed where a stripe may begin."""
    found = [move.rows_read(tensor, row, row + 1) for row in range(move.window.output_rows)]
    starts, ends = np.array(found, np.int64).T
    return np.minimum.accumulate(starts[::-1])[::-1], np.maximum.accumulate(ends)


@lru_cache(maxsize=1024)
def input_rows(window: Window) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return for each output row the first input row that it needs, and the one behind its last.

    It needs one at least, also where its window lies outside the image.
    """
    rows = window.input_rows // window.images
    image, row = np.divmod(np.arange(window.output_rows), window.output_rows // window.images)
    reach = (window.kernel_rows - 1) * window.dilation_rows + 1
    if window.row_reads:
        top, behind = np.array(window.row_reads, np.int64)[row].T
    elif window.is_transposed:
        behind = (row + window.pad_top) // window.stride_rows + 1
        top = -(-(row + window.pad_top - reach + 1) // window.stride_rows)
    else:
        top = row * window.stride_rows - window.pad_top
        behind = top + reach
    start = np.minimum(np.maximum(top, 0), rows - 1)
    end = np.minimum(np.maximum(behind, start + 1), rows)
    return image * rows + start, image * rows + end


def by_image(window: Window, part: Stripe) -> list[Stripe]:
    """Return a stripe image by image, in rows of all images."""
    rows = window.output_rows // window.images
    end = part.first_output_row + part.output_rows
    starts = [part.first_output_row, *range(_next(part.first_output_row, rows), end, rows)]
    return [
        _with_inputs(window, first, stop)
        for first, stop in zip(starts, [*starts[1:], end], strict=True)
    ]


def _with_inputs(window: Window, first: int, end: int) -> Stripe:
    """Return the stripe of output rows from ``first`` up to ``end``."""
    starts, ends = input_rows(window)
    start = int(starts[first])
    return Stripe(first, end - first, start, int(ends[end - 1]) - start)


def _next(row: int, unit: int) -> int:
    return (row // unit + 1) * unit

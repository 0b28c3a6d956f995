"""Stripes of rows in which operations work whose tensors do not fit the scratchpad."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.engine.ir.window import Window

__all__ = ["Rows", "Stripe", "by_image"]


@dataclass(frozen=True)
class Stripe:
    """Output rows of an operation, and the input rows inside the image that they need."""

    first_output_row: int
    output_rows: int
    first_input_row: int
    input_rows: int


class Rows:
    """The rows that operations must compute for rows of the last one.

    What is needed from a first row up to a last one begins where the first row's needs do, and
    ends where the last row's do: so a table for each operation says all.

    Parameters
    ----------
    windows : sequence of Window
        Geometry of the operations.
    readers : sequence of sequence of int
        For each operation the numbers of the later ones that read its output; only those of the
        last operation are none.

    Attributes
    ----------
    output_starts, output_ends : ndarray of int64 [operations, rows]
        For each row of the last operation, the first row that each operation computes and the one
        behind its last.
    input_starts, input_ends : ndarray of int64 [operations, rows]
        The same of the input rows that it reads.
    """

    def __init__(self, windows: Sequence[Window], readers: Sequence[Sequence[int]]) -> None:
        self._count = windows[-1].output_rows
        shape = len(windows), self._count
        self.output_starts, self.output_ends = np.empty(shape, np.int64), np.empty(shape, np.int64)
        self.input_starts, self.input_ends = np.empty(shape, np.int64), np.empty(shape, np.int64)
        for number in reversed(range(len(windows))):
            if readers[number]:
                first = np.min([self.input_starts[k] for k in readers[number]], axis=0)
                end = np.max([self.input_ends[k] for k in readers[number]], axis=0)
            else:
                first = np.arange(self._count)
                end = first + 1
            starts, ends = _input_rows(windows[number])
            self.output_starts[number], self.output_ends[number] = first, end
            self.input_starts[number], self.input_ends[number] = starts[first], ends[end - 1]

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


@lru_cache(maxsize=1024)
def _input_rows(window: Window) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return for each output row the first input row that it needs, and the one behind its last.

    It needs one at least, also where its window lies outside the image.
    """
    rows = window.input_rows // window.images
    image, row = np.divmod(np.arange(window.output_rows), window.output_rows // window.images)
    reach = (window.kernel_rows - 1) * window.dilation_rows + 1
    if window.is_transposed:
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
    starts, ends = _input_rows(window)
    start = int(starts[first])
    return Stripe(first, end - first, start, int(ends[end - 1]) - start)


def _next(row: int, unit: int) -> int:
    return (row // unit + 1) * unit

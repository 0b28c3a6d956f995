"""Stripes of rows in which operations work whose tensors do not fit the scratchpad."""

from collections.abc import Sequence
from dataclasses import dataclass

from kiwicha.compiler.engine.ir.window import Window

__all__ = ["Stripe", "by_image", "stripe", "stripes"]


@dataclass(frozen=True)
class Stripe:
    """Output rows of an operation, and the input rows inside the image that they need."""

    first_output_row: int
    output_rows: int
    first_input_row: int
    input_rows: int


def stripes(
    windows: Sequence[Window], readers: Sequence[Sequence[int]], height: int
) -> list[tuple[Stripe, ...]]:
    """Return stripes that cover all rows of the last operation; see `stripe`."""
    rows = windows[-1].output_rows
    return [
        stripe(windows, readers, first, min(height, rows - first))
        for first in range(0, rows, height)
    ]


def stripe(
    windows: Sequence[Window], readers: Sequence[Sequence[int]], first_row: int, rows: int
) -> tuple[Stripe, ...]:
    """Return what operations must compute for some rows of the last one.

    Rows that two neighbouring stripes need are computed in both of them.

    Parameters
    ----------
    windows : sequence of Window
        Geometry of the operations.
    readers : sequence of sequence of int
        For each operation the numbers of the later ones that read its output; only those of the
        last operation are none.
    first_row, rows : int
        Output rows of the last operation.

    Returns
    -------
    tuple of Stripe
        One per operation.
    """
    found: dict[int, Stripe] = {}
    for number in reversed(range(len(windows))):
        first, end = first_row, first_row + rows
        if readers[number]:
            parts = [found[reader] for reader in readers[number]]
            first = min(part.first_input_row for part in parts)
            end = max(part.first_input_row + part.input_rows for part in parts)
        found[number] = _with_inputs(windows[number], first, end)
    return tuple(found[number] for number in range(len(windows)))


def _with_inputs(window: Window, first: int, end: int) -> Stripe:
    """Return the stripe of output rows from ``first`` up to ``end``."""
    start, _ = _input_rows(window, first)
    _, stop = _input_rows(window, end - 1)
    return Stripe(first, end - first, start, stop - start)


def _input_rows(window: Window, row: int) -> tuple[int, int]:
    """Return the first input row that an output row needs, one at least, and the one behind."""
    rows = window.input_rows // window.images
    image, row = divmod(row, window.output_rows // window.images)
    top = row * window.stride_rows - window.pad_top
    reach = (window.kernel_rows - 1) * window.dilation_rows + 1
    start = min(max(top, 0), rows - 1)
    return image * rows + start, image * rows + min(max(top + reach, start + 1), rows)


def by_image(window: Window, part: Stripe) -> list[Stripe]:
    """Return a stripe image by image, in rows of all images."""
    rows = window.output_rows // window.images
    end = part.first_output_row + part.output_rows
    starts = [part.first_output_row, *range(_next(part.first_output_row, rows), end, rows)]
    return [
        _with_inputs(window, first, stop)
        for first, stop in zip(starts, [*starts[1:], end], strict=True)
    ]


def _next(row: int, unit: int) -> int:
    return (row // unit + 1) * unit

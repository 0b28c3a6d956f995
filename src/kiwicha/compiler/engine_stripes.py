"""Stripes of rows in which layers work whose tensors do not fit the scratchpad."""

from collections.abc import Sequence
from dataclasses import dataclass

from kiwicha.compiler.engine_layers import Window

__all__ = ["Stripe", "stripe", "stripes"]


@dataclass(frozen=True)
class Stripe:
    """Output rows of a layer, and the input rows inside the image that they need."""

    first_output_row: int
    output_rows: int
    first_input_row: int
    input_rows: int


def stripes(
    windows: Sequence[Window], readers: Sequence[Sequence[int]], height: int
) -> list[tuple[Stripe, ...]]:
    """Return stripes that cover all rows of the last layer; see `stripe`."""
    rows = windows[-1].output_rows
    return [
        stripe(windows, readers, first, min(height, rows - first))
        for first in range(0, rows, height)
    ]


def stripe(
    windows: Sequence[Window], readers: Sequence[Sequence[int]], first_row: int, rows: int
) -> tuple[Stripe, ...]:
    """Return what layers must compute for some rows of the last one.

    Rows that two neighbouring stripes need are computed in both of them.

    Parameters
    ----------
    windows : sequence of Window
        Geometry of the layers.
    readers : sequence of sequence of int
        For each layer the numbers of the later ones that read its output; only those of the last
        layer are none.
    first_row, rows : int
        Output rows of the last layer.

    Returns
    -------
    tuple of Stripe
        One per layer.
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
    top = first * window.stride_rows - window.pad_top
    reach = (window.kernel_rows - 1) * window.dilation_rows + 1
    bottom = (end - 1) * window.stride_rows - window.pad_top + reach
    start = min(max(top, 0), window.input_rows - 1)
    return Stripe(first, end - first, start, min(max(bottom, start + 1), window.input_rows) - start)

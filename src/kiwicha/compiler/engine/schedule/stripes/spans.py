"""Spans: what single output rows of a move need of an input, wherever that lies.

Rows of a table in any order, or phases of an image, are far apart: the range of bytes around them
would not fit the scratchpad.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.engine.ir.move_operations import (
    MIN_LEFT_OUT,
    MUCH_LEFT_OUT,
    MoveOperation,
)
from kiwicha.contract.cfu import ALIGNMENT_BYTES

__all__ = ["Span", "SpanTables", "row_spans", "span_tables"]

MAX_ROW_SPANS = 16
"""Of an output row, each a transfer."""
LESS = 4
"""So many times less than the range around them must spans be."""

Span = tuple[int, int]
"""First byte of an input, and the one behind the last."""


@dataclass(frozen=True, eq=False)
class SpanTables:
    """What rows need of an input in spans.

    Parameters
    ----------
    bytes, counts : ndarray of int64 [rows + 1]
        Of all rows before each: the bytes of a buffer, at most, and how many spans.
    """

    bytes: NDArray[np.int64]
    counts: NDArray[np.int64]

    def loaded(
        self, firsts: NDArray[np.int64], ends: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the bytes and the number of spans of rows, from first ones up to ends."""
        return self.bytes[ends] - self.bytes[firsts], self.counts[ends] - self.counts[firsts]


def row_spans(move: MoveOperation, tensor: int, row: int) -> tuple[Span, ...]:
    """Return what an output row needs of an input, without what lies between if that is much."""
    copies = move.parts(row, row + 1)
    return tuple(_joined(sorted(copy.source_span for copy in copies if copy.source == tensor)))


@lru_cache(maxsize=1024)
def span_tables(move: MoveOperation, tensor: int) -> SpanTables | None:
    """Return what output rows of a move need of an input, None if that is no gain.

    It is one if the range of input rows that even a single output row would need is much longer.
    """
    row_bytes = move.images[tensor].row_bytes
    rows = range(move.window.output_rows)
    found = [row_spans(move, tensor, row) for row in rows]
    sizes = [sum(end - first for first, end in spans) for spans in found]
    lows = np.array([spans[0][0] if spans else 0 for spans in found], np.int64)
    highs = np.array([spans[-1][1] if spans else 0 for spans in found], np.int64)
    filled = np.array([bool(spans) for spans in found])
    lows = np.where(filled, lows // row_bytes * row_bytes, move.images[tensor].bytes)
    highs = -(-highs // row_bytes) * row_bytes
    # Stripes go forward: what later rows need is there from the first one on.
    widths = np.maximum.accumulate(highs) - np.minimum.accumulate(lows[::-1])[::-1]
    widest = int(widths.max())
    if widest < max(LESS * max(sizes), MUCH_LEFT_OUT) or max(map(len, found)) > MAX_ROW_SPANS:
        return None
    # Each begins as far behind a multiple of the alignment as in DRAM.
    room = [
        size + 2 * ALIGNMENT_BYTES * len(spans) for size, spans in zip(sizes, found, strict=True)
    ]
    return SpanTables(
        np.concatenate([[0], np.cumsum(room)]), np.concatenate([[0], np.cumsum([*map(len, found)])])
    )


def _joined(spans: list[Span]) -> Iterator[Span]:
    """Yield spans, those as one between which there is little."""
    if not spans:
        return
    first, end = spans[0]
    for low, high in itertools.islice(spans, 1, None):
        if low - end > MIN_LEFT_OUT:
            yield first, end
            first, end = low, high
        else:
            end = max(end, high)
    yield first, end

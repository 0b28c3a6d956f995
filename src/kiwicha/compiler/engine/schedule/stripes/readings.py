"""What a stripe needs of a tensor in the arena, and how it lies in a buffer of the scratchpad."""

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.engine.ir.move_operations import (
    MIN_LEFT_OUT,
    MUCH_LEFT_OUT,
    MoveOperation,
    Planes,
)
from kiwicha.compiler.engine.ir.strided_copies import StridedCopy
from kiwicha.compiler.engine.schedule.stripes.spans import Span
from kiwicha.contract.cfu import ALIGNMENT_BYTES

__all__ = ["MovedPiece", "PlaneTables", "Reading", "plane_tables"]


@dataclass(frozen=True)
class MovedPiece:
    """Contiguous bytes of a tensor, and where they go in a buffer."""

    first: int
    bytes: int
    place: int


@dataclass(frozen=True)
class Reading:
    """What is loaded of a tensor.

    Parameters
    ----------
    pieces : tuple of MovedPiece
        A transfer each.
    planes : Planes or None
        What the pieces are parts of, if there are several.
    plane_step : int
        Bytes in the buffer from piece to piece.
    is_by_rows : bool
        Pieces are what single output rows need: jobs read of one of them each.
    """

    pieces: tuple[MovedPiece, ...]
    planes: Planes | None = None
    plane_step: int = 0
    is_by_rows: bool = False

    @classmethod
    def of_range(cls, start: int, end: int) -> "Reading":
        """Return the reading of one range of bytes, from a whole line on."""
        first = start // ALIGNMENT_BYTES * ALIGNMENT_BYTES
        return cls((MovedPiece(first, end - first, 0),))

    @classmethod
    def of_planes(cls, planes: Planes) -> "Reading":
        """Return the reading of the same bytes of each plane, without what lies between."""
        size = planes.high - planes.low
        start = planes.first * planes.bytes + planes.low
        # DRAM and scratchpad count bytes of their lines alike.
        step = size + (planes.bytes - size) % ALIGNMENT_BYTES
        lead = start % ALIGNMENT_BYTES
        pieces = tuple(
            MovedPiece(start + number * planes.bytes, size, lead + number * step)
            for number in range(planes.end - planes.first)
        )
        return cls(pieces, planes, step)

    @classmethod
    def of_spans(cls, spans: Iterable[Span]) -> "Reading":
        """Return the reading of what rows need, the same bytes only once."""
        pieces: list[MovedPiece] = []
        end = 0
        for first, behind in dict.fromkeys(spans):
            # DRAM and scratchpad count bytes of their lines alike.
            place = end + (first - end) % ALIGNMENT_BYTES
            pieces.append(MovedPiece(first, behind - first, place))
            end = place + behind - first
        return cls(tuple(pieces), is_by_rows=True)

    @property
    def is_in_places(self) -> bool:
        """Whether bytes lie elsewhere in the buffer than behind each other."""
        return self.planes is not None or self.is_by_rows

    @property
    def bytes(self) -> int:
        """Bytes of the buffer."""
        last = self.pieces[-1]
        return last.place + last.bytes

    def in_buffer(self, copy: StridedCopy) -> StridedCopy:
        """Return a copy from a tensor in planes, or what one row needs, as one from the buffer."""
        planes = self.planes
        if planes is None:
            first, end = copy.source_span
            piece = next(k for k in self.pieces if k.first <= first and end <= k.first + k.bytes)
            return dataclasses.replace(
                copy, source_start=copy.source_start - piece.first + piece.place
            )
        plane, start = divmod(copy.source_start, planes.bytes)
        start += (plane - planes.first) * self.plane_step + self.pieces[0].place - planes.low
        loops = tuple(
            dataclasses.replace(loop, source=loop.source // planes.bytes * self.plane_step)
            if loop.source % planes.bytes == 0
            else loop
            for loop in copy.loops
        )
        return dataclasses.replace(copy, source_start=start, loops=loops)


@dataclass(frozen=True, eq=False)
class PlaneTables:
    """What rows need of an input that lies in planes, as in `Planes`, for each row.

    Parameters
    ----------
    bytes, count : int
        Of a plane; how many are read.
    lows, highs : ndarray of int64 [rows]
        First byte of each plane that is needed, and the one behind the last.
    """

    bytes: int
    count: int
    lows: NDArray[np.int64]
    highs: NDArray[np.int64]

    def at(self, firsts: NDArray[np.int64], ends: NDArray[np.int64]) -> "PlaneTables":
        """Return the tables for rows that need these rows, from a first one on."""
        return dataclasses.replace(self, lows=self.lows[firsts], highs=self.highs[ends - 1])

    def loaded(
        self, firsts: NDArray[np.int64], lasts: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return the bytes of stripes, given their first and last rows, and if it is worthwhile."""
        sizes = self.highs[lasts] - self.lows[firsts]
        left_out = self.bytes - sizes
        is_better = (left_out >= MIN_LEFT_OUT) | (self.count * left_out >= MUCH_LEFT_OUT)
        return self.count * (sizes + ALIGNMENT_BYTES), is_better & (self.count > 1)


@lru_cache(maxsize=1024)
def plane_tables(move: MoveOperation, tensor: int) -> PlaneTables | None:
    """Return what output rows of a move need of an input in planes, None if it is in none."""
    rows = range(move.window.output_rows)
    found = [move.planes_read(tensor, row, row + 1) for row in rows]
    if not found[0]:
        return None
    planes = [item for item in found if item is not None]
    if len(planes) < len(found):
        return None
    lows = np.array([item.low for item in planes], np.int64)
    highs = np.array([item.high for item in planes], np.int64)
    return PlaneTables(
        bytes=planes[0].bytes,
        count=max(item.end for item in planes) - min(item.first for item in planes),
        lows=np.minimum.accumulate(lows[::-1])[::-1],
        highs=np.maximum.accumulate(highs),
    )

"""MOVE jobs of the engine: bytes from place to place within the scratchpad."""

import enum
from collections.abc import Sequence
from dataclasses import dataclass

from kiwicha.contract.engine import EngineJob
from kiwicha.contract.layout import Struct, array, i32, u8, u16, u32
from kiwicha.contract.recurrences import EngineRecurrence
from kiwicha.contract.short_elements import EngineShortElements

__all__ = ["AnyJob", "EngineMove", "MoveFlag", "loop_steps"]

MOVE_LOOPS = 4
"""Nested loops of a move; the last is the fastest."""
TILE_LOOPS = MOVE_LOOPS - 1
"""Those of them that go from tile to tile; the last goes through a tile."""
TILE_ROWS = 4
"""Rows of a tile, at most."""
TILE_COLUMNS = 4
"""Columns of a tile, at most."""


class MoveFlag(enum.IntFlag):
    """Bits of `EngineMove.flags`: none or one of them."""

    FILL = 1
    """16 equal bytes lie at the source, which does not advance within a piece."""
    TILE = 2
    """Tiles are transposed: what is read in rows is written in columns."""


@dataclass(frozen=True)
class EngineMove(Struct):
    """A job of kind MOVE, as long as any `EngineJob` and with the same first fields.

    Without TILE: four nested loops. For each of their indices a piece of ``last_byte + 1``
    contiguous bytes goes from a source to a target address, both at any alignment. Pieces begin at
    ``source`` and ``target``; when loop k advances, after the loops in it have run to their ends,
    ``source_steps[k]`` and ``target_steps[k]`` are added to them: see `loop_steps`. A step can be 0
    or negative.

    With TILE: three nested loops of tiles, each of ``last_byte + 1`` rows, at most `TILE_ROWS`, and
    ``last_indices[3] + 1`` columns, at most `TILE_COLUMNS`. Row r is read at the tile's source
    + ``r * source_steps[3]``; column c is written as a piece of a byte of each row, at the tile's
    target + ``c * target_steps[3]``. So for the source the rows are the loop inside of those of
    tiles, and for the target the columns are. More rows or columns give unspecified bytes.

    Source and target of a job do not overlap: this is the compiler's duty. All bytes of a job are
    in the scratchpad when the next one starts. Addresses wrap as in other jobs. There is no weight
    stream.

    Cycles: without TILE one for each line of the scratchpad that a piece touches; with TILE a tile
    takes the larger number of its rows and of the lines that its pieces touch.
    """

    kind: int = u8("JobKind.MOVE")
    interval: int = u8("1")
    flags: int = u16("MoveFlag")
    wait_transfers: int = u16("transfers that must be complete")
    groups: int = u16("1")
    source: int = i32("scratchpad address of the first byte that is read")
    target: int = u32("scratchpad address of the first byte that is written")
    last_indices: tuple[int, ...] = array(
        "u16", 4, "runs of each loop less 1; TILE: columns less 1"
    )
    last_byte: int = u16("bytes of a piece less 1; TILE: rows less 1")
    reserved_half: int = u16("0")
    reserved_word: int = u32("0")
    source_steps: tuple[int, ...] = array(
        "i32", 4, "added when a loop advances; TILE: from row to row"
    )
    target_steps: tuple[int, ...] = array("i32", 4, "likewise; TILE: from column to column")
    reserved: tuple[int, ...] = array("u32", 4, "0")
    reserved_sums: int = u16("0")
    wait_rows: int = u16("as in EngineJob")
    reserved_end: tuple[int, ...] = array("u32", 2, "0")
    layer: int = u8("for reports: number of its layer, counted from that of the step")
    reserved_1: int = u8("0")
    reserved_2: int = u16("0")

    @property
    def counts(self) -> tuple[int, ...]:
        """How often each loop runs."""
        return tuple(last + 1 for last in self.last_indices)

    @property
    def piece_bytes(self) -> int:
        """Bytes of a piece, which with TILE are the rows of a tile."""
        return self.last_byte + 1


AnyJob = EngineJob | EngineMove | EngineRecurrence | EngineShortElements
"""What a list can have as a job."""


def loop_steps(counts: Sequence[int], strides: Sequence[int]) -> tuple[int, ...]:
    """Return what is added to an address when each loop advances, from the pitch of its indices.

    When a loop advances, those in it stand at their last index and begin again.

    Parameters
    ----------
    counts : sequence of int
        How often each loop runs; the last is the fastest.
    strides : sequence of int
        From the address of an index to that of the next, for each loop.
    """
    inner = [(count - 1) * stride for count, stride in zip(counts, strides, strict=True)]
    return tuple(stride - sum(inner[k + 1 :]) for k, stride in enumerate(strides))

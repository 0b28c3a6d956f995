"""MOVE jobs of the engine in numpy: which byte goes where, from the descriptor only."""

from collections.abc import Sequence

import numpy as np

from kiwicha.contract.engine import READ_BYTES
from kiwicha.contract.moves import (
    MOVE_LOOPS,
    TILE_COLUMNS,
    TILE_LOOPS,
    TILE_ROWS,
    EngineMove,
    MoveFlag,
)
from kiwicha.errors import ProgramError
from kiwicha.sim.reference.scratchpad import Ints, Range, Scratchpad

__all__ = ["check_move", "execute_move", "move_bytes", "move_read", "move_write"]


def move_bytes(move: EngineMove) -> tuple[Ints, Ints]:
    """Return the source and the target address of each byte, in the order of the loops.

    Parameters
    ----------
    move : EngineMove
        Descriptor.

    Returns
    -------
    int [pieces, bytes], int [pieces, bytes]
        Addresses; for TILE a piece has a byte of each row.
    """
    outer = move.last_indices[:TILE_LOOPS]
    octets = np.arange(move.piece_bytes)
    if not move.flags & MoveFlag.TILE:
        sources = _starts(move.source, move.last_indices, move.source_steps)[:, None]
        targets = _starts(move.target, move.last_indices, move.target_steps)[:, None] + octets
        return sources + (0 * octets if move.flags & MoveFlag.FILL else octets), targets
    columns = move.counts[TILE_LOOPS]
    rows = _starts(move.source, (*outer, move.last_byte), move.source_steps)
    rows = rows.reshape(-1, 1, move.piece_bytes) + np.arange(columns)[:, None]
    pieces = _starts(move.target, move.last_indices, move.target_steps)
    return rows.reshape(-1, move.piece_bytes), pieces[:, None] + octets


def _starts(first: int, last_indices: Sequence[int], steps: Sequence[int]) -> Ints:
    """Return the address at each index of nested loops, [indices]."""
    starts = np.array([first], np.int64)
    inner_last = 0
    for last, step in zip(reversed(last_indices), reversed(steps), strict=True):
        # From an index of this loop to the next the loops in it go to their ends.
        stride = step + inner_last
        starts = np.add.outer(stride * np.arange(last + 1), starts).reshape(-1)
        inner_last += last * stride
    return starts


def move_read(move: EngineMove) -> Range:
    """Return first byte and end of what a move reads; with FILL 16 bytes at each source."""
    sources, _ = move_bytes(move)
    return int(sources.min()), int(sources.max()) + (
        READ_BYTES if move.flags & MoveFlag.FILL else 1
    )


def move_write(move: EngineMove) -> Range:
    """Return first byte and end of what a move writes."""
    _, targets = move_bytes(move)
    return int(targets.min()), int(targets.max()) + 1


def check_move(move: EngineMove) -> None:
    """Check that the flags are known and a tile is not too large.

    Raises
    ------
    ProgramError
        If not.
    """
    if move.flags not in {0, MoveFlag.FILL, MoveFlag.TILE}:
        raise ProgramError(f"flags of a move must be FILL, TILE or none, not {move.flags:#x}")
    is_tile = bool(move.flags & MoveFlag.TILE)
    rows, columns = move.piece_bytes, move.counts[TILE_LOOPS]
    if is_tile and (rows > TILE_ROWS or columns > TILE_COLUMNS):
        raise ProgramError(
            f"a tile must have up to {TILE_ROWS} rows and {TILE_COLUMNS} columns,"
            f" not {rows} and {columns}"
        )
    assert len(move.last_indices) == MOVE_LOOPS


def execute_move(move: EngineMove, scratchpad: Scratchpad) -> None:
    """Execute a move.

    Raises
    ------
    ProgramError
        If it leaves the scratchpad, or writes a byte twice or one that it reads.
    """
    sources, targets = move_bytes(move)
    size = len(scratchpad.bytes)
    for addresses in (sources, targets):
        if addresses.min() < 0 or addresses.max() >= size:
            raise ProgramError(f"a move must stay in a scratchpad of {size} ({move})")
    is_read = np.zeros(size, np.bool_)
    is_read[sources] = True
    if is_read[targets].any():
        raise ProgramError(f"a move must not write what it reads ({move})")
    if move.flags & MoveFlag.FILL:
        first = sources[:, :1]
        octets = scratchpad.bytes[(first + np.arange(READ_BYTES)) % size]
        if (octets != octets[:, :1]).any():
            raise ProgramError(f"the source of a fill must be {READ_BYTES} equal bytes ({move})")
    scratchpad.bytes[targets] = scratchpad.bytes[sources]
    # Bytes that nothing has written stay so: pixels have them behind their channels.
    scratchpad.is_written[targets] = scratchpad.is_written[sources]
    scratchpad.touch(targets)

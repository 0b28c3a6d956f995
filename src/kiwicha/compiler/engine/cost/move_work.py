"""Cycles of MOVE jobs, from their descriptors."""

from functools import lru_cache

from kiwicha.contract.engine import LINE_BYTES
from kiwicha.contract.latencies import TILE_CYCLES
from kiwicha.contract.moves import MOVE_LOOPS, TILE_LOOPS, EngineMove, MoveFlag

__all__ = ["move_cycles", "move_lines"]


@lru_cache(maxsize=1024)
def move_lines(move: EngineMove) -> int:
    """Return the accesses of the scratchpad's lines that a move makes: those of each piece."""
    return sum(
        count * -(-(byte + move.piece_bytes) // LINE_BYTES)
        for byte, count in enumerate(_places(move))
    )


def move_cycles(move: EngineMove) -> int:
    """Return the cycles from the first read of a move to its last write.

    Tiles are read ahead while others are written: the slower of the two has no gaps.
    """
    lines = move_lines(move)
    if not move.flags & MoveFlag.TILE:
        return lines
    tiles = 1
    for count in move.counts[:TILE_LOOPS]:
        tiles *= count
    rows = move.piece_bytes
    return max(rows + lines, tiles * rows + -(-lines // tiles)) + TILE_CYCLES - 1


def _places(move: EngineMove) -> list[int]:
    """Return how many pieces begin at each byte of a line."""
    places = [int(byte == move.target % LINE_BYTES) for byte in range(LINE_BYTES)]
    inner = 0
    for loop in reversed(range(MOVE_LOOPS)):
        last = move.last_indices[loop]
        # From an index of this loop to the next the loops in it go to their ends.
        stride = move.target_steps[loop] + inner
        inner += last * stride
        # Places repeat after as many indices as a line has bytes.
        whole, rest = divmod(last + 1, LINE_BYTES)
        spread = [0] * LINE_BYTES
        for index in range(min(last + 1, LINE_BYTES)):
            times = whole + (index < rest)
            for byte, count in enumerate(places):
                spread[(byte + index * stride) % LINE_BYTES] += times * count
        places = spread
    return places

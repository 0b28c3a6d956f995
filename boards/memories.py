"""The memory of each board, for compiling and simulating without LiteX's description of it."""

import difflib
from collections.abc import Mapping

from kiwicha.contract.memories import (
    DDR3_HALF_RATE,
    DDR3_QUARTER_RATE,
    SDR_HALF_RATE,
    Memory,
)
from kiwicha.errors import UsageError

__all__ = ["BOARD_MEMORIES", "board_with", "memory_of", "require_board"]

BOARD_MEMORIES: Mapping[str, Memory] = {
    "arty_a7_35": DDR3_QUARTER_RATE,
    "arty_a7_100": DDR3_QUARTER_RATE,
    "ecpix5_85f": DDR3_HALF_RATE,
    "ulx3s_85f": SDR_HALF_RATE,
}
"""By the names of the boards."""


def memory_of(board: str | None) -> Memory:
    """Return the memory of a board; that of Arty A7 if none is named.

    Raises
    ------
    UsageError
        If there is no board of that name.
    """
    if board is None:
        return DDR3_QUARTER_RATE
    require_board(board)
    return BOARD_MEMORIES[board]


def board_with(memory: str) -> str | None:
    """Return a board with a memory, by the memory's name; None for what no board is named for."""
    if memory == DDR3_QUARTER_RATE.name:
        return None
    return next(board for board, its in BOARD_MEMORIES.items() if its.name == memory)


def require_board(name: str) -> None:
    """Refuse what is no board's name.

    Raises
    ------
    UsageError
        Names all boards, and the nearest.
    """
    if name in BOARD_MEMORIES:
        return
    near = difflib.get_close_matches(name, BOARD_MEMORIES, n=1, cutoff=0.4)
    hint = f"; the nearest is {near[0]}" if near else ""
    raise UsageError(f"board must be one of {', '.join(BOARD_MEMORIES)}, not {name!r}{hint}")

"""What the bring-up design needs of a board, from its description in amaranth-boards."""

import difflib
import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from amaranth import Module, Signal

from kiwicha.errors import UsageError

__all__ = ["NAMES", "BringUpBoard", "load_pins"]

NAMES = ("arty_a7_35", "ulx3s_85f")
"""Boards, each a module of this package."""


@dataclass(frozen=True)
class BringUpBoard:
    """Pins and clock of a board.

    Parameters
    ----------
    platform : callable
        Returns amaranth-boards' platform, new each time: a platform builds one design.
    make_clock : callable
        Takes the top module, the platform, the clock to drive and its frequency in hertz. Returns
        what holds the design in reset while it is high, asynchronously.
    idle_pins : callable or None
        Takes the top module and the platform, and drives pins that must not float.
    """

    platform: Callable[[], Any]
    make_clock: Callable[[Module, Any, Signal, int], Any]
    idle_pins: Callable[[Module, Any], None] | None = None


def load_pins(name: str) -> BringUpBoard:
    """Return a board by name.

    Raises
    ------
    UsageError
        If the bring-up design has none of that name.
    """
    if name not in NAMES:
        near = difflib.get_close_matches(name, NAMES, n=1, cutoff=0.4)
        hint = f"; the nearest is {near[0]}" if near else ""
        raise UsageError(f"board must be {' or '.join(NAMES)}, not {name!r}{hint}")
    board: BringUpBoard = importlib.import_module(f"kiwicha.boards.bringup.{name}").BOARD
    return board

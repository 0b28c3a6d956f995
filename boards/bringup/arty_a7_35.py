"""Digilent Arty A7-35T: clock of 100 MHz, and the button that resets."""

from typing import Any

from amaranth import Module, Signal
from amaranth.lib import io
from amaranth_boards.arty_a7 import ArtyA7_35Platform

from kiwicha.boards.bringup.board import BringUpBoard
from kiwicha.errors import BoardError

__all__ = ["BOARD"]

_INPUT_HZ = 100_000_000


def _make_clock(m: Module, platform: Any, clock: Signal, clock_hz: int) -> Any:
    """Use the board's oscillator as it is."""
    if clock_hz != _INPUT_HZ:
        raise BoardError(f"clock must be the board's of {_INPUT_HZ} Hz, not {clock_hz} Hz")
    m.submodules.clock = oscillator = io.Buffer("i", platform.request("clk100", dir="-"))
    m.submodules.button = button = io.Buffer("i", platform.request("rst", dir="-"))
    m.d.comb += clock.eq(oscillator.i)
    return button.i


BOARD = BringUpBoard(platform=ArtyA7_35Platform, make_clock=_make_clock)

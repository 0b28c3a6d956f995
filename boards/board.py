"""What the builds know of a board."""

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from kiwicha import tools
from kiwicha.boards.family import Family
from kiwicha.boards.memories import BOARD_MEMORIES, require_board
from kiwicha.contract.memories import Memory

__all__ = ["CLOCK_MARGIN", "NAMES", "Board", "Parts", "load"]

NAMES = tuple(BOARD_MEMORIES)
"""Boards, each a module of this package."""

CLOCK_MARGIN = 1e-4
"""How far the system's clocks may be from what was asked for, as a share. LiteX allows 0.01: times
on the board would be wrong by that, and nextpnr's report has no clock of the frequency."""


@dataclass(frozen=True)
class Parts:
    """What a board gives to the system on chip.

    Parameters
    ----------
    platform : GenericPlatform
        LiteX's description of the FPGA and its pins.
    crg : Module
        Clock and reset generator.
    sdram_phy : Module
        The interface to the memory chip.
    sdram_module : SDRAMModule
        The memory chip.
    """

    platform: Any
    crg: Any
    sdram_phy: Any
    sdram_module: Any


@dataclass(frozen=True)
class Board:
    """A board and its FPGA.

    Parameters
    ----------
    name : str
        Name on the command line and of its file.
    title : str
        Name in titles.
    family : Family
        Whose cells the design is made of.
    part : str
        The FPGA, as its vendor writes it.
    memory : Memory
        What compiler and simulation know of its memory. The system has its clock, unless the user
        asks for another, and its controller the settings.
    dram_bytes : int
        Memory behind the controller that the system can address.
    capacity : mapping
        What the FPGA has, by the names of the resource reports.
    toolchains : tuple of str
        What can make a bitstream; the first is the default.
    loader : str
        The board's name in openFPGALoader.
    parts : callable
        Takes the frequency of the system in hertz; returns the `Parts`.
    has_sdcard : bool
        It has a slot for SD cards, and its platform the resource of
        `kiwicha.boards.sdcard_pins.SdcardPins`.
    camera_pins : tuple of str
        For a camera module, as LiteX or the vendor names them: its eight data lines from bit 0 on,
        PCLK, HREF, VSYNC, XCLK, SCL, SDA, RESET and PWDN; none if it has no place for one.
    microphone_pins : tuple of str
        For a microphone, likewise: bit clock, word select and data. They are not the camera's.
    """

    name: str
    title: str
    family: Family
    part: str
    memory: Memory
    dram_bytes: int
    capacity: Mapping[str, float]
    toolchains: tuple[str, ...]
    loader: str
    parts: Callable[[int], Parts]
    has_sdcard: bool = False
    camera_pins: tuple[str, ...] = ()
    microphone_pins: tuple[str, ...] = ()

    @property
    def sys_clk_hz(self) -> int:
        """Frequency of the system, unless the user asks for another."""
        return self.memory.clock_hz


def load(name: str) -> Board:
    """Return a board by name.

    Raises
    ------
    UsageError
        If there is none of that name.
    ToolError
        If the Python package with the pins of boards is not installed.
    """
    require_board(name)
    tools.require_package("litex_boards", "litex-boards", "LiteX's board descriptions")
    board: Board = importlib.import_module(f"kiwicha.boards.{name}").BOARD
    return board

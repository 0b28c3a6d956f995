"""Timing of block RAMs.

The source is that of `kiwicha.boards.timing.slices`: Project X-Ray's ``BRAM_L.sdf``.
"""

from collections.abc import Callable, Mapping

from kiwicha.boards.timing.cell_timing import CellTiming, Launch, captures, pins_of
from kiwicha.boards.timing.netlist import Cell

__all__ = ["TIMINGS"]

_CLOCK_TO_OUTPUT = (2454, 882)
"""Without and with the output register."""
_OUTPUTS = {"A": ("DOADO", "DOPADOP"), "B": ("DOBDO", "DOPBDOP")}
_DATA = ("DIADI", "DIPADIP", "DIBDI", "DIPBDIP")
_READ_FIRST = "READ_FIRST"
_DATA_SETUP = 737
_DATA_SETUP_READ_FIRST = 241
_SETUP = {
    **dict.fromkeys(("ADDRARDADDR", "ADDRBWRADDR"), 566),
    **dict.fromkeys(("WEA", "WEBWE"), 532),
    **dict.fromkeys(("ENARDEN", "ENBWREN"), 443),
    **dict.fromkeys(("REGCEAREGCE", "REGCEB"), 360),
    **dict.fromkeys(("RSTRAMARSTRAM", "RSTRAMB"), 359),
    **dict.fromkeys(("RSTREGARSTREG", "RSTREGB"), 342),
}


def _block_ram(cell: Cell) -> CellTiming:
    modes = {cell.text(f"WRITE_MODE_{side}", "WRITE_FIRST") for side in _OUTPUTS}
    data = _DATA_SETUP_READ_FIRST if modes == {_READ_FIRST} else _DATA_SETUP
    launches = tuple(
        Launch(pins_of(cell.outputs, outputs), _CLOCK_TO_OUTPUT[cell.number(f"DO{side}_REG", 0)])
        for side, outputs in _OUTPUTS.items()
    )
    return CellTiming(
        launches=launches,
        captures=captures(cell, {**_SETUP, **dict.fromkeys(_DATA, data)}),
        clocks=pins_of(cell.inputs, ["CLKARDCLK", "CLKBWRCLK"]),
    )


TIMINGS: Mapping[str, Callable[[Cell], CellTiming]] = dict.fromkeys(
    ("RAMB18E1", "RAMB36E1"), _block_ram
)
"""By type of cell."""

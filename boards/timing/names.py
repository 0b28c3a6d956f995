"""What registers, memories and nets of a netlist are called in the source."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from kiwicha.boards.timing.netlist import Cell, Netlist, Pin, Signal
from kiwicha.boards.timing.places import Place
from kiwicha.boards.timing.slices import FLIP_FLOPS
from kiwicha.boards.timing.wires import is_lut

__all__ = ["Name", "Names"]

_TYPE = re.compile(r"_(?:LUT\d|INV|FD[RSCP]E|CARRY4|MUXF\d|DSP48E1|RAM\w+|SRL\w+?)(?:_.*)?$")
_PARTS_OF_MEMORY = re.compile(r"(?:\.\d+)+$")
_INDEX = re.compile(r"\[\d+\]$")
# Amaranth and Yosys number what has no name of its own.
_NUMBERED = re.compile(r"\$\d+")


@dataclass(frozen=True)
class Name:
    """A name for people.

    Parameters
    ----------
    path : str
        Modules and name, with dots between them; of all bits of a signal, or all cells of a memory.
    source : str
        File and line where it is declared, or of the innermost component around it that is not in
        a library; empty if neither is known.
    """

    path: str
    source: str = ""


class Names:
    """Names of a netlist.

    Parameters
    ----------
    netlist : Netlist
        A design.
    places : mapping
        Where signals and memories are declared, by path; see `kiwicha.boards.timing.places`.
    """

    def __init__(self, netlist: Netlist, places: Mapping[str, Place]) -> None:
        self._signals = netlist.signals
        self._places = places
        self._drivers = {net: cell for cell in netlist.cells for net in cell.outputs.values()}
        # The same cell is at the end of many paths.
        self._cells: dict[Cell, Name] = {}

    def port(self, pin: Pin) -> Name:
        """Return the name of a port of the design."""
        return self._named(pin[0])

    def net(self, net: int) -> Name:
        """Return the name of a net."""
        signal = self._signal(net)
        if signal is not None:
            return self._named(signal.path)
        driver = self._drivers.get(net)
        if driver is None:
            return Name(f"net {net}")
        name = self._short(driver)
        # Yosys names logic after a register before or behind it.
        return Name(f"logic at {name.path}", name.source) if is_lut(driver) else name

    def cell(self, cell: Cell) -> Name:
        """Return the name of what a cell is in the source: a register, or a memory."""
        if cell not in self._cells:
            self._cells[cell] = self._of_cell(cell)
        return self._cells[cell]

    def _of_cell(self, cell: Cell) -> Name:
        if cell.kind in FLIP_FLOPS or cell.kind.startswith("DSP"):
            for net in cell.outputs.values():
                signal = self._signal(net)
                if signal is not None and self._is_register(signal):
                    return self._named(signal.path)
        return self._short(cell)

    def _short(self, cell: Cell) -> Name:
        name = _INDEX.sub("", _TYPE.sub("", cell.name))
        return self._named(_PARTS_OF_MEMORY.sub("", name))

    def _named(self, path: str) -> Name:
        source, outer = "", path
        while outer and not source:
            source = self._places[outer].source if outer in self._places else ""
            outer = outer.rpartition(".")[0]
        return Name(path, source)

    def _is_register(self, signal: Signal) -> bool:
        place = self._places.get(signal.path)
        return place is not None and place.is_register

    def _signal(self, net: int) -> Signal | None:
        """Return the signal that a net is called after: the register, or the outermost one."""
        named = [one for one in self._signals.get(net, ()) if not _NUMBERED.search(one.path)]
        registers = filter(self._is_register, named)
        return next(registers, named[0] if named else None)

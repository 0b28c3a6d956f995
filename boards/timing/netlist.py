"""A flat netlist of vendor's cells, as Yosys writes it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kiwicha.errors import ToolError

__all__ = ["Cell", "Netlist", "Pin", "Signal", "read_netlist"]

Pin = tuple[str, int]
"""A port of a cell, and the bit of it."""

_NOTES = {"$scopeinfo"}
"""Cells that are no hardware."""


@dataclass(frozen=True, eq=False)
class Cell:
    """A cell; equal to itself only.

    Parameters
    ----------
    name : str
        After ``autoname``: begins with the path of the module that it came from.
    kind : str
        Its type, such as ``LUT6``.
    parameters : mapping
        As Yosys writes them: numbers are texts of binary digits.
    inputs, outputs : mapping
        The net of each connected bit, by pin. Constants are not there.
    """

    name: str
    kind: str
    parameters: Mapping[str, str]
    inputs: Mapping[Pin, int]
    outputs: Mapping[Pin, int]

    def number(self, parameter: str, default: int) -> int:
        """Return a parameter that is a number; Yosys omits those that nobody set."""
        text = self.parameters.get(parameter)
        return default if text is None else int(text, 2)

    def text(self, parameter: str, default: str) -> str:
        """Return a parameter that is a text."""
        return self.parameters.get(parameter, default).strip()


@dataclass(frozen=True)
class Signal:
    """A signal of the design that gave a net its name.

    Parameters
    ----------
    path : str
        Modules and name, with dots between them.
    index : int
        Bit of it.
    width : int
        How many bits it has.
    """

    path: str
    index: int
    width: int


@dataclass(frozen=True)
class Netlist:
    """A design as cells and nets.

    Parameters
    ----------
    cells : tuple of Cell
        All that are hardware.
    inputs, outputs : mapping
        The net of each bit of the design's ports.
    signals : mapping
        By net: the signals of the source that it carries, those of outer modules first.
    """

    cells: tuple[Cell, ...]
    inputs: Mapping[Pin, int]
    outputs: Mapping[Pin, int]
    signals: Mapping[int, tuple[Signal, ...]]


def read_netlist(netlist: Mapping[str, Any], top: str) -> Netlist:
    """Return the netlist of a module.

    Parameters
    ----------
    netlist : mapping
        What Yosys wrote with ``write_json``.
    top : str
        The module, which must be flat.

    Raises
    ------
    ToolError
        If there is no such module.
    """
    module = netlist["modules"].get(top)
    if module is None:
        known = ", ".join(netlist["modules"]) or "nothing"
        raise ToolError(f"netlist must have module {top}, not {known}")
    ports = module["ports"]
    signals: dict[int, list[Signal]] = {}
    for name, net in module["netnames"].items():
        # Names without this are of Yosys: of the cell that drives the net.
        path = net["attributes"].get("hdlname", "" if name in ports else None)
        if path is None:
            continue
        path = path.replace(" ", ".") or name
        for index, bit in enumerate(net["bits"]):
            if isinstance(bit, int):
                signals.setdefault(bit, []).append(Signal(path, index, len(net["bits"])))
    return Netlist(
        cells=tuple(
            _cell(name, cell)
            for name, cell in module["cells"].items()
            if cell["type"] not in _NOTES
        ),
        inputs=_nets(ports, "input"),
        outputs=_nets(ports, "output"),
        signals={
            net: tuple(sorted(found, key=lambda one: (one.path.count("."), one.path, one.index)))
            for net, found in signals.items()
        },
    )


def _cell(name: str, cell: Mapping[str, Any]) -> Cell:
    directions = cell["port_directions"]
    pins: dict[str, dict[Pin, int]] = {"input": {}, "output": {}, "inout": {}}
    for port, bits in cell["connections"].items():
        found = pins[directions[port]]
        for index, bit in enumerate(bits):
            if isinstance(bit, int):
                found[port, index] = bit
    return Cell(name, cell["type"], cell["parameters"], pins["input"], pins["output"])


def _nets(ports: Mapping[str, Any], direction: str) -> dict[Pin, int]:
    return {
        (name, index): bit
        for name, port in ports.items()
        if port["direction"] == direction
        for index, bit in enumerate(port["bits"])
        if isinstance(bit, int)
    }

"""Netlists for boards as Verilog, with models of the cells that they are made of."""

import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kiwicha import cache
from kiwicha.boards.family import Family
from kiwicha.boards.flow import yowasp
from kiwicha.boards.flow.synthesis import CORE_SOURCE, NETLIST, synthesise
from tests.support.gateware import vendor_cells

__all__ = ["GATE", "GateNetlist", "Port", "gate_netlist"]

GATE = "gate"
"""The top module of a netlist's Verilog."""

_OWN = "$"
"""Begins the types of cells that Yosys has of its own: notes for other tools, in a netlist."""
_VERILOG = "netlist.v"
_LUT = re.compile(r"LUT(?P<inputs>[1-6])$")
_LUT_INPUTS = ("I0", "I1", "I2", "I3", "I4", "I5"), ("A", "B", "C", "D")
"""Of Xilinx and of ECP5, the lowest bit first of what chooses a bit of INIT."""
_LUT_OUTPUTS = ("O", "Z")
_ELEMENT = re.compile(r"(?<=\\)(\S+)\[(\d+)\](?=\S* )")
"""Of a wire's name in Verilog: the number of an array's element."""


@dataclass(frozen=True)
class Port:
    """A port of a top module.

    Parameters
    ----------
    name : str
    is_input : bool
    bits : int
    """

    name: str
    is_input: bool
    bits: int


@dataclass(frozen=True)
class GateNetlist:
    """A netlist for a family of boards.

    Parameters
    ----------
    verilog : str
        Its top module is `GATE`; models of all cells are there.
    ports : tuple of Port
        Of the top module.
    cells : Counter of str
        How many cells there are of each type.
    """

    verilog: str
    ports: tuple[Port, ...]
    cells: Counter[str]


def gate_netlist(
    verilog: str,
    top: str,
    family: Family,
    *,
    change: Callable[[dict[str, Any]], None] | None = None,
) -> GateNetlist:
    """Return the netlist of a design, synthesized as for a board, at most once.

    Parameters
    ----------
    verilog : str
        The design.
    top : str
        Its top module.
    family : Family
        What it is made of.
    change : callable or None
        Changes cells of the netlist, which it gets by name as Yosys writes them: a fault.

    Raises
    ------
    ToolError
        If Yosys is not installed or fails.
    ValueError
        If there is no model of a cell.
    """
    # The mapper ends with an error where a wire has the name that it gives to a bit of another.
    folder = synthesise(
        {CORE_SOURCE: _ELEMENT.sub(r"\1_of_\2", verilog).encode()},
        top=top,
        family=family,
        has_pads=False,
        keeps_netlist=True,
    )
    netlist = json.loads((folder / NETLIST).read_text(encoding="utf-8"))
    module = netlist["modules"][top]
    if change is not None:
        change(module["cells"])
    ports = tuple(
        Port(name, port["direction"] == "input", len(port["bits"]))
        for name, port in module["ports"].items()
    )
    counts = Counter(
        cell["type"] for cell in module["cells"].values() if not cell["type"].startswith(_OWN)
    )
    for cell in module["cells"].values():
        if _LUT.match(cell["type"]):
            _make_expression(cell)
    # Models of cells are not needed to write it, and would only be written again.
    netlist["modules"] = {top: module}
    text = _as_verilog(json.dumps(netlist), top)
    modelled = [kind for kind in counts if not _LUT.match(kind)]
    return GateNetlist(f"{text}\n{vendor_cells.cells(family, modelled)}", ports, counts)


def _make_expression(cell: dict[str, Any]) -> None:
    """Make a cell of Yosys of a LUT, which is written as an expression: thousands compile so."""
    pins = cell["connections"]
    names = next(names for names in _LUT_INPUTS if names[0] in pins)
    inputs = [pins[name][0] for name in names if name in pins]
    (output,) = (pins[name] for name in _LUT_OUTPUTS if name in pins)
    cell["parameters"] = {
        "LUT": cell["parameters"]["INIT"][-(1 << len(inputs)) :].rjust(1 << len(inputs), "0"),
        "WIDTH": f"{len(inputs):032b}",
    }
    cell["type"] = "$lut"
    cell["connections"] = {"A": inputs, "Y": output}
    cell["port_directions"] = {"A": "input", "Y": "output"}


def _as_verilog(netlist: str, top: str) -> str:
    """Return a netlist as Verilog, with a wire for each bit: nothing seems to depend on itself."""
    script = "; ".join([
        f"read_json {NETLIST}",
        f"rename {top} {GATE}",
        "splitnets",
        # Names without a meaning are shorter, and most of what there is to compile.
        "rename -hide",
        f"write_verilog -noattr {_VERILOG}",
    ])
    key = cache.digest([script, *yowasp.require(yowasp.YOSYS).values(), netlist])

    def builder(folder: Path) -> None:
        (folder / NETLIST).write_text(netlist, encoding="utf-8")
        yowasp.yosys(folder, script)
        (folder / NETLIST).unlink()

    return (cache.build("gate_netlists", key, builder) / _VERILOG).read_text(encoding="utf-8")

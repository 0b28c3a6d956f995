"""The FPGA resources of a synthesised design, in total and by module."""

import collections
import re
from collections.abc import Iterable, Mapping
from typing import Any

from kiwicha.boards.family import Family
from kiwicha.errors import ToolError

__all__ = ["MODULE_LEVELS", "OTHER", "cells_by_module", "count", "module_names", "utilization"]

OTHER = "SoC"
"""Module of the cells that belong to none that is named: bus, DRAM controller, UART."""
MODULE_LEVELS = 5
"""Reports go so deep: ``Cfu.cfu.engine.datapath.array``."""

# LUTs that a distributed memory occupies, and halves of a 36 Kbit block memory.
_XC7_LUTS = {
    **{f"LUT{inputs}": 1 for inputs in range(1, 7)},
    # An inverter becomes a LUT unless placement moves it into its neighbour: count it.
    "INV": 1,
    **{"RAM32M": 4, "RAM64M": 4, "RAM32X1D": 2, "RAM64X1D": 2, "RAM128X1D": 4},
    **{"SRL16E": 1, "SRLC32E": 1},
}
# A carry cell takes both LUTs of its slice; a 16 x 4 memory takes four, and two for its writes.
_ECP5_LUTS = {"LUT4": 1, "CCU2C": 2, "TRELLIS_DPR16X4": 6}
_WEIGHTS: Mapping[Family, Mapping[str, Mapping[str, float]]] = {
    Family.XC7: {
        "LUT": _XC7_LUTS,
        "FF": dict.fromkeys(("FDCE", "FDPE", "FDRE", "FDSE"), 1),
        "DSP48E1": {"DSP48E1": 1},
        "BRAM36": {"RAMB18E1": 0.5, "RAMB36E1": 1},
        "CARRY4": {"CARRY4": 1},
    },
    Family.ECP5: {
        "LUT": _ECP5_LUTS,
        "FF": {"TRELLIS_FF": 1},
        "DSP": {"MULT18X18D": 1, "MULT9X9D": 0.5},
        "BRAM": {"DP16KD": 1},
    },
}
_MEMORIES = re.compile(r"RAM|SRL|TRELLIS_DPR|DP16K|PDPW16K")


def count(cells: Mapping[str, int], family: Family) -> dict[str, float]:
    """Count the resources of a report.

    Parameters
    ----------
    cells : mapping
        How many there are of each type.
    family : Family
        Whose cells they are.

    Returns
    -------
    dict of str to float
        XC7: ``LUT`` (logic, distributed memories and shift registers), ``FF``, ``DSP48E1``,
        ``BRAM36`` (an 18 Kbit memory is half of one), ``CARRY4``. ECP5: ``LUT`` (with carry chains
        and distributed memories), ``FF``, ``DSP`` (18 x 18 multipliers), ``BRAM`` (18 Kbit).

    Raises
    ------
    ToolError
        If there is a memory of unknown size.
    """
    weights = _WEIGHTS[family]
    known = {name for table in weights.values() for name in table}
    unknown = [name for name in cells if _MEMORIES.match(name) and name not in known]
    if unknown:
        raise ToolError(f"Yosys must use memories of known size, not {', '.join(unknown)}")
    return {
        resource: sum(weight * cells.get(name, 0) for name, weight in table.items())
        for resource, table in weights.items()
    }


def module_names(verilog: str) -> set[str]:
    """Return the modules of Verilog that Amaranth wrote, whose names are their paths."""
    return set(re.findall(r"^module \\?(Cfu(?:\.[\w.]+)?)", verilog, flags=re.MULTILINE))


def cells_by_module(
    netlist: Mapping[str, Any], modules: Iterable[str]
) -> dict[str, dict[str, int]]:
    """Count the cells of a flattened netlist by the module that they came from.

    Parameters
    ----------
    netlist : mapping
        What Yosys wrote with ``write_json``, after ``autoname``: one module, whose cells have names
        that begin with the path of the module that they came from.
    modules : iterable of str
        Paths of modules; those deeper than `MODULE_LEVELS` count for the one above.

    Returns
    -------
    dict
        Counts by type, by module; `OTHER` for cells of none.
    """
    kept = {".".join(name.split(".")[:MODULE_LEVELS]) for name in modules}
    (top,) = (module for module in netlist["modules"].values() if not _is_blackbox(module))
    found: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for name, cell in top["cells"].items():
        path = name.lstrip("\\").split(".")[:MODULE_LEVELS]
        while path and ".".join(path) not in kept:
            path.pop()
        found[".".join(path) or OTHER][cell["type"]] += 1
    return {name: dict(found[name]) for name in sorted(found)}


def _is_blackbox(module: Mapping[str, Any]) -> bool:
    attributes = module.get("attributes", {})
    return "blackbox" in attributes or "whitebox" in attributes


def utilization(
    cells: Mapping[str, Mapping[str, int]], family: Family
) -> tuple[dict[str, float], dict[str, dict[str, float]]]:
    """Return the resources of a design, in total and by module.

    Parameters
    ----------
    cells : mapping
        As `cells_by_module` returns them.
    family : Family
        Whose cells they are.
    """
    total: collections.Counter[str] = collections.Counter()
    for counts in cells.values():
        total.update(counts)
    return count(total, family), {name: count(counts, family) for name, counts in cells.items()}

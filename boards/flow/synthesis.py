"""From Verilog to cells of an FPGA, with Yosys."""

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from kiwicha import cache
from kiwicha.boards.family import Family
from kiwicha.boards.flow import yowasp
from kiwicha.boards.flow.stopwatch import seconds_of, timed
from kiwicha.boards.flow.utilization import OTHER, cells_by_module, module_names, utilization
from kiwicha.gateware.engine.array.mac_cell import Vendor

__all__ = [
    "CELLS",
    "CORE_SOURCE",
    "CPU_SOURCE",
    "NETLIST",
    "VENDORS",
    "core_resources",
    "core_utilization",
    "read_cells",
    "script",
    "synthesise",
    "synthesise_core",
]

NETLIST = "netlist.json"
CELLS = "cells.json"
"""In the folder of a synthesis: the flat netlist, and counts of cells by module and type."""

VENDORS = {Family.XC7: Vendor.XILINX7, Family.ECP5: Vendor.ECP5}
"""Whose multipliers the CFU has in a family."""

_COMMANDS = {
    Family.XC7: "synth_xilinx -family xc7 -flatten",
    Family.ECP5: "synth_ecp5 -abc9",
}
CORE_SOURCE = "design.v"
"""File of a design without pads."""
CPU_SOURCE = "cpu.v"
"""File of the CPU of a system."""
# Memories of systems whose reads that meet a write are not used, whatever they give. SpinalHDL's
# ``readSync`` promises nothing about them, and VexRiscv forwards what it needs: a test spoils such
# reads. The engine's sums are never read in the cycle that writes them, which is proven. Without
# this Yosys, which knows no order between the ports of ECP5's block RAM, compares each address that
# is read with the one that is written: in the CPU behind the address of the next instruction.
_UNCHECKED_MEMORIES = (
    *("VexRiscv/m:*", "InstructionCache/m:*", "DataCache/m:*"),
    "Cfu.cfu.engine.datapath.sums*/m:*",
)
# nextpnr-ecp5 makes the pads of ECP5 itself.
_WITHOUT_PADS = {Family.XC7: " -noiopad", Family.ECP5: ""}


def script(sources: Iterable[str], *, top: str, family: Family, has_pads: bool = True) -> str:
    """Return Yosys' commands for a synthesis; arguments as for `synthesise`."""
    command = f"{_COMMANDS[family]}{'' if has_pads else _WITHOUT_PADS[family]} -top {top}"
    names = tuple(sources)
    unchecked = f"setattr -set no_rw_check 1 {' '.join(_UNCHECKED_MEMORIES)}"
    return "; ".join([
        *(f"read_verilog {name}" for name in names),
        *([unchecked] if family is Family.ECP5 and CPU_SOURCE in names else []),
        # Migen writes its attributes as texts.
        'attrmap -tocase keep -imap keep="true" keep=1 -imap keep="false" keep=0 -remove keep=0',
        command,
        "autoname",
        f"write_json {NETLIST}",
    ])


def synthesise(
    files: Mapping[str, bytes],
    *,
    top: str,
    family: Family,
    has_pads: bool = True,
    keeps_netlist: bool = False,
    on_build: Callable[[], None] | None = None,
) -> Path:
    """Return the folder of a synthesis, which is done at most once.

    Parameters
    ----------
    files : mapping
        Contents by name: Verilog, and files that it reads.
    top : str
        The top module.
    family : Family
        What it is made of.
    has_pads : bool
        Its ports are pins of the FPGA.
    keeps_netlist : bool
        The folder has `NETLIST`; else only `CELLS`.
    on_build : callable or None
        Called before Yosys starts, and only if it does.

    Raises
    ------
    ToolError
        If Yosys is not installed or fails.
    """
    versions = yowasp.require(yowasp.YOSYS)
    sources = sorted(name for name in files if name.endswith(".v"))
    commands = script(sources, top=top, family=family, has_pads=has_pads)
    contents = [part for name in sorted(files) for part in (name, files[name])]
    found = {module for name in sources for module in module_names(files[name].decode("utf-8"))}
    # Cells are named from the top module down.
    modules = {module.removeprefix(f"{top}.") for module in found}
    kept = sorted(modules) if top in found else []
    key = cache.digest([commands, str(keeps_netlist), *versions.values(), *contents, *kept])

    def builder(folder: Path) -> None:
        for name, raw in files.items():
            (folder / name).write_bytes(raw)
        with timed(folder):
            yowasp.yosys(folder, commands)
        netlist = json.loads((folder / NETLIST).read_text(encoding="utf-8"))
        cells = cells_by_module(netlist, modules | {"VexRiscv", "onchip"})
        (folder / CELLS).write_text(json.dumps(cells, indent=1), encoding="utf-8")
        if not keeps_netlist:
            (folder / NETLIST).unlink()

    return cache.build("synthesis", key, builder, on_build=on_build)


def read_cells(folder: Path) -> dict[str, dict[str, int]]:
    """Return the counts of cells of a synthesis."""
    cells: dict[str, Any] = json.loads((folder / CELLS).read_text(encoding="utf-8"))
    return cells


def synthesise_core(
    verilog: str, top: str, family: Family, *, on_build: Callable[[], None] | None = None
) -> Path:
    """Return the folder of the synthesis of a design without pads, which is done at most once.

    Parameters
    ----------
    verilog : str
        The design.
    top : str
        Its top module.
    family : Family
        What it is made of; of Xilinx 7 series the folder has `NETLIST`, for its timing.
    on_build : callable or None
        Called before Yosys starts, and only if it does.

    Raises
    ------
    ToolError
        If Yosys is not installed or fails.
    """
    return synthesise(
        {CORE_SOURCE: verilog.encode()},
        top=top,
        family=family,
        has_pads=False,
        keeps_netlist=family is Family.XC7,
        on_build=on_build,
    )


def core_resources(verilog: str, top: str, family: Family) -> dict[str, float]:
    """Return what a design without pads occupies of an FPGA.

    Parameters
    ----------
    verilog : str
        The design.
    top : str
        Its top module.
    family : Family
        What it is made of; the names of resources are those of `utilization.count`.

    Raises
    ------
    ToolError
        If Yosys is not installed or fails.
    """
    return core_utilization(verilog, top, family)[0]


def core_utilization(
    verilog: str, top: str, family: Family
) -> tuple[dict[str, float], dict[str, dict[str, float]], float]:
    """Return the same, what each module occupies, and the seconds that Yosys took when it ran.

    Names of modules begin with that of the top.
    """
    folder = synthesise_core(verilog, top, family)
    total, modules = utilization(read_cells(folder), family)
    names = {name: top if name == OTHER else f"{top}.{name}" for name in modules}
    by_module = {names[name]: counts for name, counts in modules.items()}
    return total, by_module, seconds_of(folder)

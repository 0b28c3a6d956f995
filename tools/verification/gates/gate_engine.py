"""The engine as a netlist for a board, beside its source: a program that executes lists on both."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kiwicha.boards.family import Family
from kiwicha.boards.flow.synthesis import VENDORS
from kiwicha.contract.configs import Config
from kiwicha.gateware.engine.array.mac_cell import Vendor
from kiwicha.gateware.engine.engine import Engine
from kiwicha.sim.verilator.power_up import without_zeros
from tests.gateware.engine.campaign import compile_engine
from tests.support.gateware import bench, vendor_cells
from tools.verification.gates.beside import COMPARED_FILE, RTL, beside
from tools.verification.gates.gate_netlist import gate_netlist

__all__ = ["VERILATOR_FLAGS", "GateEngine", "any_start", "build", "compared_cycles"]

_TOP = "engine"
# What has no first value has a random one, if it is asked for.
VERILATOR_FLAGS = (
    *("--x-initial", "unique", "--x-assign", "unique"),
    # A C++ compiler takes the more memory the longer a function is.
    *("--output-split", "20000", "--output-split-cfuncs", "2000"),
)


@dataclass(frozen=True)
class GateEngine:
    """A program for `run_rounds`, and the cells of the netlist in it, by type.

    Where it runs, `compared_cycles` tells how many cycles were compared. An output that differs
    ends it, which `run_rounds` reports.
    """

    program: Path
    cells: Counter[str]


def any_start(seed: int) -> tuple[str, ...]:
    """Return plusargs that start registers and memories with random values.

    Parameters
    ----------
    seed : int
        Of the values, from 1 on.
    """
    return f"+{vendor_cells.ANY_START}", "+verilator+rand+reset+2", f"+verilator+seed+{seed}"


def build(
    config: Config, family: Family, *, change: Callable[[dict[str, Any]], None] | None = None
) -> GateEngine:
    """Return the engine of a configuration, synthesized and compiled at most once.

    Parameters
    ----------
    config : Config
        One with an engine that is not preemptible.
    family : Family
        What the netlist is made of, multipliers included; the source has plain ones.
    change : callable or None
        See `gate_netlist`.

    Raises
    ------
    ToolError
        If a tool is missing or fails.
    """
    netlist = gate_netlist(
        bench.component_verilog(_engine(config, VENDORS[family]), _TOP),
        _TOP,
        family,
        change=change,
    )
    # The source starts with zeros, as the netlist does, or with random values.
    source = without_zeros(bench.component_verilog(_engine(config, Vendor.GENERIC), RTL))
    both = beside(
        _TOP,
        netlist.ports,
        clock="clk",
        reset="rst",
        answer="responses__valid",
        any_start=vendor_cells.ANY_START,
    )
    return GateEngine(
        compile_engine("\n".join((both, source, netlist.verilog)), VERILATOR_FLAGS), netlist.cells
    )


def compared_cycles(folder: Path) -> int:
    """Return how many cycles were compared by a program that ran in a folder."""
    return int((folder / COMPARED_FILE).read_text(encoding="utf-8").split()[-1])


def _engine(config: Config, vendor: Vendor) -> Engine:
    return Engine(
        macs=config.engine_macs,
        scratchpad_bytes=config.scratchpad_bytes,
        lanes=config.requantizer_lanes or None,
        has_codec=config.has_codec,
        has_blocks=config.has_blocks,
        is_resident=bool(config.resident_words),
        has_softmax=config.has_softmax,
        has_depthwise=config.has_depthwise,
        has_int16=config.has_int16,
        has_recurrent=config.has_recurrent,
        vendor=vendor,
    )

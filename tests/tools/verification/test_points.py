"""Points of coverage, as Verilator writes them and as lists of jobs have them."""

from pathlib import Path

import numpy as np

from kiwicha.contract.engine import EngineError, JobKind
from tests.gateware.engine.random_lists import random_case
from tools.verification.coverage import summary
from tools.verification.job_points import points_of
from tools.verification.points import Point, component_of, points

VERILOG = r"""module \engine.controller.port$12 (clk);
  if (\$5 ) begin end
  if (\$6 ) begin end
  if (\$auto$verilog_backend.cc:2355:dump_module$1 ) begin end
"""


def line(kind: str, module: str, number: int, text: str, count: int) -> str:
    fields = {"f": "engine.v", "l": number, "t": kind, "page": f"v_{kind}/{module}", "o": text}
    body = "".join(f"\x01{key}\x02{value}" for key, value in fields.items())
    return f"C '{body}' {count}\n"


def test_points_have_one_name_in_both_simulations(tmp_path: Path) -> None:
    path = tmp_path / "coverage.dat"
    path.write_text(
        "# SystemC::Coverage-3\n"
        + line("branch", "engine.controller.port$12", 2, "if", 3)
        + line("branch", "engine.controller.port$12", 3, "if", 0)
        + line("branch", "engine.controller.port$12", 4, "if", 0)
        + line("toggle", "engine.controller.port$12", 1, "turn[0]", 1)
        + line("toggle", "engine.controller.port$12", 1, "$5", 1)
        + line("line", "Cfu.cfu.simd", 1, "block", 9)
    )
    expected = {
        Point("controller.port", "branch", r"if: if (\ ) begin end", 0): 3,
        Point("controller.port", "branch", r"if: if (\ ) begin end", 1): 0,
        Point("controller.port", "toggle", "turn[0]", 0): 1,
    }
    assert points(path, VERILOG) == expected
    path.write_text(
        path.read_text().replace("engine.controller.port$12", "Cfu.cfu.engine.controller.port$7")
    )
    assert points(path, VERILOG) == expected
    assert summary(expected) == [
        {"component": "controller.port", "line": [0, 0], "branch": [2, 1], "toggle": [1, 1]}
    ]


def test_components_have_two_names_at_most() -> None:
    assert [component_of(name) for name in ("", "controller", "controller.port.tags")] == [
        "engine",
        "controller",
        "controller.port",
    ]


def test_lists_cover_kinds_flags_and_errors() -> None:
    rng = np.random.default_rng(5)
    kinds = [JobKind.CONV, JobKind.MOVE]
    good = random_case(rng, 64, 4096, kinds, wanted=EngineError.NONE, has_floats=True)
    found = points_of(good, "fast")
    assert {
        "CONV before MOVE",
        "several jobs on fast DRAM",
        "list ends with NONE on fast DRAM",
    } <= found
    assert {"transfer: load of TABLE", "transfer: store of FLOAT", "CONV: fast DRAM"} <= found
    assert not any(point.startswith("ADD") for point in found)
    stuck = random_case(rng, 64, 4096, kinds, wanted=EngineError.WATCHDOG)
    assert points_of(stuck, "ddr3") == {"list ends with WATCHDOG on ddr3 DRAM"}

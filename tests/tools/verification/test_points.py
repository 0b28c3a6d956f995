"""Points of coverage, as Verilator writes them and as lists of jobs have them."""

from pathlib import Path

import numpy as np

from kiwicha.contract.engine import EngineError, JobKind
from kiwicha.gateware.engine.memory.memory_port import MemoryPort
from tests.gateware.engine.random_lists import random_case
from tools.verification.component_classes import class_names
from tools.verification.coverage import summary
from tools.verification.covered_points import moved
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


def test_points_of_a_bench_are_those_of_each_module_of_its_class() -> None:
    code, toggle = ("branch", "if: if (full) begin", 0), ("toggle", "level[0]", 0)
    bench = {Point("", *code): 2, Point("", *toggle): 1, Point("storage", *code): 1}
    design = dict.fromkeys(
        (
            Point(path, *point)
            for path in ("reader_0", "reader_1", "port")
            for point in (code, toggle)
        ),
        0,
    )
    classes = {"reader_0": "DmaReader", "reader_1": "DmaReader", "port": "MemoryPort"}
    assert moved(bench, {"": "DmaReader"}, design, classes) == {
        Point(path, *point): count
        for path in ("reader_0", "reader_1")
        for point, count in ((code, 2), (toggle, 1))
    }
    assert not moved(bench, {"": "DmaWriter"}, design, classes)


def test_lines_of_modules_with_other_code_do_not_count_for_each_other() -> None:
    code, more = ("branch", "if: if (full) begin", 0), ("branch", "if: if (full) begin", 1)
    toggle = ("toggle", "level[0]", 0)
    bench = {Point("", *code): 1, Point("", *toggle): 1}
    design = {Point("reader", *point): 0 for point in (code, more, toggle)}
    found = moved(bench, {"": "DmaReader"}, design, {"reader": "DmaReader"})
    assert found == {Point("reader", *toggle): 1}
    # What resets a module does not make it another.
    reset = Point("reader", "branch", "if: if (reset) begin", 0)
    design = {Point("reader", *point): 0 for point in (code, toggle)} | {reset: 0}
    found = moved(bench, {"": "DmaReader"}, design, {"reader": "DmaReader"})
    assert found == {Point("reader", *point): 1 for point in (code, toggle)}


def test_components_have_classes_by_their_path() -> None:
    names = class_names(MemoryPort(readers=2))
    assert names == {"": "MemoryPort", "tags": "SyncFIFO", "tags.storage": "Memory"}

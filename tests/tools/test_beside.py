"""Two models beside each other on the simulated system."""

from collections.abc import Callable
from pathlib import Path

import pytest

from kiwicha.compiler import compile_stages
from kiwicha.program.image import Program
from kiwicha.zoo import models
from tests.support.models import random_networks
from tools.beside.report import BESIDES_JOB_CYCLES
from tools.beside.run import Mode, histogram, longest_job, run_beside

CONFIG = "64-preempt"
LEAST_ASLEEP = 0.9
MOST_PERIOD = 1.01


@pytest.fixture(scope="module")
def programs() -> tuple[Program, Program]:
    path, _ = models.demo_model()
    slow = compile_stages(path.read_bytes(), CONFIG).program
    return slow, compile_stages(random_networks.engine_network(5).model, CONFIG).program


def check(programs: tuple[Program, Program], count: int, spread_cycles: int) -> None:
    """Check all that must hold of two models."""
    invoke = run_beside(*programs, Mode.INVOKE, count=8)
    sleep = run_beside(*programs, Mode.SLEEP, count=8)
    noise = run_beside(*programs, Mode.SLEEP, count=8, noise_bytes=64 * 1024)
    urgent = run_beside(*programs, Mode.URGENT, count=count, spread_cycles=spread_cycles)
    for outcome in (invoke, sleep, noise, urgent):
        assert (outcome.wrong, outcome.noise_wrong) == (0, 0)
    assert invoke.slow_inferences == sleep.slow_inferences == noise.slow_inferences == 8
    assert urgent.slow_inferences > 0
    assert urgent.suspensions > count // 2
    assert max(urgent.waits) <= longest_job(programs[0]) + BESIDES_JOB_CYCLES
    assert sleep.asleep_cycles >= LEAST_ASLEEP * sleep.total_cycles
    assert sleep.total_cycles <= MOST_PERIOD * invoke.total_cycles


@pytest.mark.nightly
@pytest.mark.verilator
def test_two_models_and_a_timer(programs: tuple[Program, Program]) -> None:
    slow, urgent = programs
    outcome = run_beside(slow, urgent, Mode.URGENT, count=24, spread_cycles=20_000)
    assert (outcome.wrong, outcome.noise_wrong) == (0, 0)
    assert outcome.suspensions > 12
    assert max(outcome.waits) <= longest_job(slow) + BESIDES_JOB_CYCLES


@pytest.mark.nightly
@pytest.mark.verilator
def test_what_is_not_saved_is_not_touched(programs: tuple[Program, Program]) -> None:
    """A model that uses more of the scratchpad than has been saved is refused."""
    slow, urgent = programs
    with pytest.raises(AssertionError, match=r"^the demo must end with 0, not 14 \(\)$"):
        run_beside(slow, urgent, Mode.URGENT, count=2, spread_cycles=20_000, place_bytes=48)


@pytest.mark.nightly
@pytest.mark.verilator
def test_person_detection_and_a_wake_word(zoo_model: Callable[[str], Path]) -> None:
    slow, urgent = (
        compile_stages(zoo_model(name).read_bytes(), CONFIG).program
        for name in ("person_detect", "mlperf_kws_ref_model")
    )
    check((slow, urgent), 1000, 20_000)


def test_a_histogram_has_no_gaps() -> None:
    assert histogram([500, 999, 2100]) == [(500, 2), (1000, 0), (1500, 0), (2000, 1)]

"""What two models take beside each other, and what that depends on."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

from kiwicha import cache
from kiwicha.compiler import compile_stages
from kiwicha.contract import cfu
from kiwicha.program.image import Program
from kiwicha.sim.verilator.fingerprint import run_fingerprint
from kiwicha.sim.verilator.simulator import soc_header_text
from kiwicha.zoo import models
from tools.beside.run import Mode, demo_firmware, histogram, longest_job, run_beside

__all__ = ["BESIDES_JOB_CYCLES", "beside_report", "fingerprint"]

BESIDES_JOB_CYCLES = 2000
"""How long an urgent model may wait besides the longest job."""
_PERIODS = 8
_RANDOM_PER_MS = 10
"""Requests at random for one that comes a millisecond after the urgent inference before."""
_NOISE_BYTES = 64 * 1024
_SPREAD_CYCLES = 20_000
_CYCLE_MODES = ("invoke", "sleep", "noise")
_WAIT_MODES = ("random", "millisecond")


def beside_report(slow: str, urgent: str, config: str, *, count: int, seed: int) -> dict[str, Any]:
    """Return what the demo gives for two models, as JSON has it.

    Parameters
    ----------
    slow, urgent : str
        Models; the first runs all the time.
    config : str
        One that is preemptible.
    count : int
        Urgent inferences.
    seed : int
        Of inputs and requests.
    """
    begin = time.monotonic()
    programs = _programs(slow, urgent, config)
    runs = {
        "invoke": run_beside(*programs, Mode.INVOKE, count=_PERIODS, seed=seed),
        "sleep": run_beside(*programs, Mode.SLEEP, count=_PERIODS, seed=seed),
        "noise": run_beside(
            *programs, Mode.SLEEP, count=_PERIODS, noise_bytes=_NOISE_BYTES, seed=seed
        ),
        "random": run_beside(
            *programs, Mode.URGENT, count=count, spread_cycles=_SPREAD_CYCLES, seed=seed
        ),
        "millisecond": run_beside(
            *programs,
            Mode.URGENT,
            count=-(-count // _RANDOM_PER_MS),
            least_cycles=cfu.CLOCK_HZ // 1000,
            seed=seed,
        ),
    }
    job = longest_job(programs[0])
    return {
        "slow": slow,
        "urgent": urgent,
        "config": config,
        "count": count,
        "seed": seed,
        "longest_job": job,
        "bound": job + BESIDES_JOB_CYCLES,
        "period": {name: runs[name].total_cycles / _PERIODS for name in _CYCLE_MODES},
        "asleep": runs["sleep"].asleep_cycles / runs["sleep"].total_cycles,
        "requests": {name: len(runs[name].waits) for name in _WAIT_MODES},
        "longest_wait": {name: max(runs[name].waits) for name in _WAIT_MODES},
        "histogram": {name: histogram(runs[name].waits) for name in _WAIT_MODES},
        "slow_inferences": {name: run.slow_inferences for name, run in runs.items()},
        "suspensions": {name: run.suspensions for name, run in runs.items()},
        "wrong": {name: run.wrong + run.noise_wrong for name, run in runs.items()},
        "inputs": _fingerprint(programs),
        "seconds": round(time.monotonic() - begin),
    }


def fingerprint(report: Mapping[str, Any]) -> dict[str, str]:
    """Return hashes of what a report would depend on now.

    Parameters
    ----------
    report : mapping
        As `beside_report` has made it.
    """
    return _fingerprint(_programs(report["slow"], report["urgent"], report["config"]))


def _programs(slow: str, urgent: str, config: str) -> tuple[Program, Program]:
    first, second = (
        compile_stages(models.resolve(name)[1].read_bytes(), config).program
        for name in (slow, urgent)
    )
    return first, second


def _fingerprint(programs: Sequence[Program]) -> dict[str, str]:
    header = soc_header_text(programs[0].config)
    return {
        **run_fingerprint(programs[0]),
        "firmware": cache.digest([demo_firmware(programs, header).raw]),
        "program": cache.digest([program.to_bytes() for program in programs]),
    }

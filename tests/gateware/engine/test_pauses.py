"""Lists of random jobs that stop between jobs and go on."""

import dataclasses

import numpy as np
import pytest

from kiwicha.contract.engine import (
    PAUSED_FLAG,
    EngineError,
    EngineJob,
    JobKind,
    SumFlag,
    job_kinds,
)
from kiwicha.gateware.engine.engine import Engine
from tests.gateware.engine.campaign import SCRATCHPAD_BYTES, Outcome, build_engine, run_rounds
from tests.gateware.engine.random_lists import Case, random_case
from tests.support.choices import by_day
from tests.support.gateware.dram_port import DramTiming

SIZE = 4096
ROUNDS = 48
REFUSAL = "an engine that is preemptible must keep no weights and have no depthwise unit"
DDR3 = DramTiming(latency_cycles=16, refresh_every_cycles=780, refresh_cycles=40)
STUBBORN = DramTiming(latency_cycles=20, jitter_cycles=30, stall=0.3)


def kept_between(case: Case) -> set[int]:
    """Return jobs before which sums are kept."""
    found, keeps = set(), False
    for number, job in enumerate(case.made.jobs):
        if keeps:
            found.add(number)
        if isinstance(job, EngineJob) and job.sums:
            keeps = bool(job.sums & SumFlag.KEEP)
    return found


def check_stops(case: Case, outcome: Outcome) -> int:
    """Check where a list has stopped; return how often."""
    before = 0
    stopped = 0
    for status, progress in outcome.stops:
        jobs = progress & 0xFFFF
        assert before <= jobs <= len(case.made.jobs)
        assert progress >> 16 <= len(case.made.transfers)
        if status:
            assert status == PAUSED_FLAG | jobs
            assert jobs not in kept_between(case)
            stopped += 1
        else:
            assert progress == case.made.counts
        before = jobs
    return stopped


@pytest.mark.nightly
@pytest.mark.verilator
@pytest.mark.parametrize("macs", by_day(64, 128, 256, 32))
@pytest.mark.parametrize("timing", by_day(STUBBORN, DDR3), ids=["stubborn", "ddr3"])
def test_lists_go_on_where_they_have_stopped(macs: int, timing: DramTiming) -> None:
    has_softmax = macs > 64
    program = build_engine(macs, SCRATCHPAD_BYTES, has_softmax=has_softmax, is_preemptible=True)
    kinds = job_kinds(has_softmax=has_softmax)
    rng = np.random.default_rng(macs)
    cases = []
    for _ in range(ROUNDS):
        chosen = [JobKind(int(rng.choice(kinds))) for _ in range(int(rng.integers(2, 6)))]
        case = random_case(
            rng, macs, SIZE, chosen, wanted=EngineError.NONE, has_fused=bool(rng.integers(2))
        )
        pauses = tuple(int(delay) for delay in rng.integers(0, 150, rng.integers(0, 4)))
        cases.append(
            dataclasses.replace(case, given=dataclasses.replace(case.given, pauses=pauses))
        )
    outcomes = run_rounds(
        program, [case.given for case in cases], timing, seed=macs, host_stall=0.1
    )
    stopped = 0
    for number, (case, outcome) in enumerate(zip(cases, outcomes, strict=True)):
        case.check(outcome, f"list {number}")
        stopped += check_stops(case, outcome)
    assert stopped > ROUNDS // 2


def test_what_cannot_pause_is_refused() -> None:
    for is_resident in (True, False):
        with pytest.raises(ValueError, match=f"^{REFUSAL}$"):
            Engine(
                macs=64,
                scratchpad_bytes=4096,
                is_preemptible=True,
                is_resident=is_resident,
                has_depthwise=not is_resident,
            )

"""The whole engine: lists of random jobs, from DRAM to DRAM."""

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kiwicha.contract.engine import (
    TRANSFER_ERROR,
    TRANSFER_FLAG,
    EngineError,
    EngineTransfer,
    JobKind,
    job_kinds,
)
from kiwicha.errors import SimulationError
from tests.gateware.engine.campaign import SCRATCHPAD_BYTES, Round, build_engine, run_rounds
from tests.gateware.engine.questions import asked
from tests.gateware.engine.random_jobs import softmax_work
from tests.gateware.engine.random_lists import check_random_lists, random_case, random_cases
from tests.gateware.engine.softmax_jobs import Softmax, exponentials
from tests.gateware.engine.work_list import work_list
from tests.support.choices import by_day
from tests.support.gateware.dram_port import DramTiming

MACS = (32, 64, 128, 256)
SMALL, USUAL, UNEVEN = 4096, 65536, 56 * 1024
DDR3 = DramTiming(latency_cycles=16, refresh_every_cycles=780, refresh_cycles=40)
TIMINGS = {
    "fast": DramTiming(latency_cycles=1),
    "ddr3": DDR3,
    "jitter": DramTiming(latency_cycles=20, jitter_cycles=30, stall=0.1),
    "stubborn": DramTiming(latency_cycles=20, jitter_cycles=30, stall=0.3),
    "refreshing": DramTiming(
        latency_cycles=16, stall=0.6, refresh_every_cycles=300, refresh_cycles=300
    ),
}


@pytest.fixture(scope="module")
def engine() -> Path:
    return build_engine(64, SCRATCHPAD_BYTES)


@pytest.mark.verilator
@pytest.mark.parametrize(
    ("macs", "has_softmax", "option"),
    by_day(
        (64, True, ""),
        (64, False, ""),
        (32, False, ""),
        (128, True, ""),
        (256, True, ""),
        (64, False, "blocks"),
        (128, True, "blocks"),
        (256, True, "blocks"),
        (64, True, "resident"),
        (256, True, "resident"),
        (64, True, "depthwise"),
        (128, True, "depthwise"),
        (256, True, "depthwise"),
    ),
)
def test_executes_random_jobs(macs: int, has_softmax: bool, option: str) -> None:
    is_resident, has_depthwise = option == "resident", option == "depthwise"
    has_blocks = is_resident or option == "blocks"
    program = build_engine(
        macs,
        SCRATCHPAD_BYTES,
        has_softmax=has_softmax,
        has_blocks=has_blocks,
        is_resident=is_resident,
        has_depthwise=has_depthwise,
    )
    kinds = job_kinds(has_softmax=has_softmax, has_depthwise=has_depthwise)
    # Half of the jobs are the unit's, so that both work at the same time.
    kinds += len(kinds) * [JobKind.DEPTHWISE_UNIT] if has_depthwise else []
    for timing in (TIMINGS["ddr3"], TIMINGS["stubborn"]):
        done = check_random_lists(
            program,
            macs,
            SMALL,
            timing,
            seed=macs,
            rounds=50 if has_depthwise else 24,
            longest=4,
            kinds=kinds,
            has_blocks=has_blocks,
            is_resident=is_resident,
        )
        assert set(done) == set(kinds)


@pytest.mark.nightly
@pytest.mark.verilator
@pytest.mark.parametrize("macs", MACS)
def test_executes_jobs_of_int16(macs: int) -> None:
    has_softmax = macs > 64
    program = build_engine(macs, SCRATCHPAD_BYTES, has_softmax=has_softmax, has_int16=True)
    windows = [JobKind.CONV, JobKind.DEPTHWISE]
    for timing in (TIMINGS["ddr3"], TIMINGS["stubborn"]):
        numbers = [JobKind.SHORT_ELEMENTS] if macs >= 64 else [JobKind.MOVE]
        kinds_of_all = job_kinds(has_softmax=has_softmax, has_elements=macs >= 64)
        for kinds in (windows, numbers, kinds_of_all):
            done = check_random_lists(
                program,
                macs,
                SCRATCHPAD_BYTES,
                timing,
                seed=macs,
                rounds=48,
                longest=4,
                kinds=kinds,
                has_int16=True,
            )
            assert set(done) == set(kinds)


@pytest.mark.nightly
@pytest.mark.verilator
@pytest.mark.parametrize("macs", MACS)
def test_executes_steps_of_lstms(macs: int) -> None:
    has_softmax = macs > 64
    program = build_engine(
        macs, SCRATCHPAD_BYTES, has_softmax=has_softmax, has_int16=True, has_recurrent=True
    )
    kinds = job_kinds(has_softmax=has_softmax, has_recurrent=True, has_elements=macs >= 64)
    for timing in (TIMINGS["ddr3"], TIMINGS["stubborn"]):
        # Steps behind each other as well, and in front of any other job.
        for chosen in ([JobKind.RECURRENT], [*kinds, *len(kinds) * [JobKind.RECURRENT]]):
            done = check_random_lists(
                program,
                macs,
                SCRATCHPAD_BYTES,
                timing,
                seed=macs,
                rounds=48,
                longest=4,
                kinds=chosen,
                has_int16=True,
            )
            assert set(done) == set(chosen)


@pytest.mark.nightly
@pytest.mark.verilator
def test_what_differs_is_seen(engine: Path) -> None:
    rng = np.random.default_rng(3)
    case = random_case(rng, 64, SMALL, [JobKind.CONV, JobKind.ADD], wanted=EngineError.NONE)
    (good,) = run_rounds(engine, [case.given], DDR3, seed=1, host_stall=0)
    case.check(good, "list")
    turned = (
        bytes([good.arena[0] ^ 1]) + good.arena[1:],
        good.arena[:-1] + bytes([good.arena[-1] ^ 1]),
    )
    for arena in turned:
        changed = dataclasses.replace(good, arena=arena)
        with pytest.raises(SimulationError, match=r"^list \(CONV, .*\): 1 bytes from \d+ differ$"):
            case.check(changed, "list")
    with pytest.raises(SimulationError, match=r"^list \(CONV, .*\): 0x10000, not 0x0$"):
        case.check(dataclasses.replace(good, status=1 << 16), "list")


@pytest.mark.verilator
def test_answers_what_the_cpu_asks_beside_lists(engine: Path) -> None:
    cases = random_cases(64, SMALL, seed=8, rounds=24, longest=4, kinds=job_kinds(has_softmax=True))
    rng = np.random.default_rng(8)
    good = [asked(case, rng) for case in cases if case.error == EngineError.NONE]
    outcomes = run_rounds(engine, [case.given for case in good], DDR3, seed=1, host_stall=0.1)
    for number, (case, outcome) in enumerate(zip(good, outcomes, strict=True)):
        case.check(outcome, f"list {number}")
    # What differs is seen.
    case, outcome = good[0], outcomes[0]
    for name in ("during", "after"):
        for place, answer in enumerate(getattr(outcome, name)):
            answers = [*getattr(outcome, name)]
            answers[place] = answer ^ 1 << 31
            changed: dict[str, Any] = {name: tuple(answers)}
            with pytest.raises(SimulationError):
                case.check(dataclasses.replace(outcome, **changed), "list")


@pytest.mark.verilator
def test_softmax_between_jobs_and_transfers(engine: Path) -> None:
    """It waits for what it reads, is waited for, and the watchdog can stop it in the middle."""
    rng = np.random.default_rng(6)
    kinds = [JobKind.MOVE, JobKind.SOFTMAX, JobKind.TABLE, JobKind.SOFTMAX, JobKind.CONV]
    cases = [random_case(rng, 64, SMALL, kinds, wanted=EngineError.NONE) for _ in range(6)]
    outcomes = run_rounds(engine, [case.given for case in cases], DDR3, seed=1, host_stall=0)
    for case, outcome in zip(cases, outcomes, strict=True):
        case.check(outcome, "list")
    # One row after the other, for longer than the watchdog allows; then a good list.
    softmax = Softmax(40, 20, (20, 20), exponentials(0.1))
    work = softmax_work(rng, softmax, 64, SMALL)
    made = work_list([work], 64, SMALL, [False])
    stopped = Round(made.image, rng.bytes(2 * SMALL), made.counts, 1500)
    rounds = [stopped, cases[0].given, stopped, cases[1].given]
    outcomes = run_rounds(engine, rounds, DDR3, seed=2, host_stall=0)
    for number, case in ((1, cases[0]), (3, cases[1])):
        assert outcomes[number - 1].status == EngineError.WATCHDOG << 16
        assert outcomes[number - 1].arena == stopped.arena
        case.check(outcomes[number], "list behind a stopped one")


@pytest.mark.verilator
def test_an_image_that_ends_early_stops_the_list(engine: Path) -> None:
    """The last word of its weights is outside the Program's range."""
    rng = np.random.default_rng(4)
    case = random_case(rng, 64, SMALL, [JobKind.TABLE], wanted=EngineError.NONE, has_floats=False)
    shorter = dataclasses.replace(case.given, image=case.given.image[:-16])
    (outcome,) = run_rounds(engine, [shorter], DDR3, seed=1, host_stall=0)
    assert outcome.status == EngineError.OUTSIDE_RANGE << 16
    assert outcome.arena[SMALL:] == case.given.arena[SMALL:]


@pytest.mark.nightly
@pytest.mark.verilator
@pytest.mark.parametrize("timing", TIMINGS)
@pytest.mark.parametrize("size", [SMALL, USUAL, UNEVEN])
@pytest.mark.parametrize("macs", MACS)
def test_executes_thousands_of_random_jobs(macs: int, size: int, timing: str) -> None:
    done = check_random_lists(
        build_engine(macs, size),
        macs,
        size,
        TIMINGS[timing],
        seed=size,
        rounds=200,
        longest=6,
        kinds=job_kinds(has_softmax=True),
    )
    assert sum(done.values()) > 300


@pytest.mark.nightly
@pytest.mark.verilator
def test_uneven_scratchpad_ends_where_it_says() -> None:
    """Bytes up to the last one are loaded and stored; one more is refused."""
    last = EngineTransfer(0, UNEVEN - 16, 16, 0, 0)
    back = EngineTransfer(16, UNEVEN - 16, 16 | TRANSFER_FLAG, 0, 0)
    behind = EngineTransfer(16, UNEVEN, 16 | TRANSFER_FLAG, 0, 0)
    arena = bytes(range(16)) + bytes(16)
    rounds = [
        Round(b"".join(step.pack() for step in steps), arena, len(steps) << 16, 10**6)
        for steps in ((last, back), (last, behind))
    ]
    good, bad = run_rounds(build_engine(64, UNEVEN), rounds, DDR3, seed=1, host_stall=0)
    assert (good.status, good.arena) == (0, arena[:16] * 2)
    assert bad.status == EngineError.OUTSIDE_SCRATCHPAD << 16 | TRANSFER_ERROR | 1
    assert bad.arena == arena

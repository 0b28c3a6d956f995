"""Lists of random jobs from DRAM to DRAM, against what they are defined to do."""

import dataclasses
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kiwicha.contract.configs import RESIDENT_WORDS
from kiwicha.contract.engine import (
    BLOCK_KINDS,
    LINE_BYTES,
    EngineError,
    EngineJob,
    JobFlag,
    JobKind,
)
from kiwicha.errors import SimulationError
from tests.gateware.engine.campaign import ANSWER_CYCLES, Outcome, Round, run_rounds
from tests.gateware.engine.float_numbers import Floats, random_floats
from tests.gateware.engine.sum_jobs import random_works
from tests.gateware.engine.work_list import WorkList, work_list
from tests.gateware.engine.works import Work
from tests.support.gateware.dram_port import DramTiming

__all__ = ["Case", "check_cases", "check_random_lists", "random_case", "random_cases"]

_UNLIMITED_CYCLES = 10_000_000


@dataclass(frozen=True)
class Case:
    """A list, and how it must end.

    Parameters
    ----------
    made : WorkList
        The list.
    given : Round
        What the engine gets.
    size : int
        Bytes of the scratchpad that are loaded and stored.
    error : EngineError
        What must stop it.
    number : int or None
        The job that must stop it, if that is known.
    """

    made: WorkList
    given: Round
    size: int
    error: EngineError = EngineError.NONE
    number: int | None = None

    def check(self, outcome: Outcome, name: str) -> None:
        """Compare what the list left: of one that was stopped, only what it could not reach.

        Raises
        ------
        SimulationError
            If something differs.
        """
        kinds = ", ".join(_name_of(job.kind) for job in self.made.jobs)
        error, number = outcome.status >> 16, outcome.status & 0xFFFF
        if error != self.error or self.number not in {None, number}:
            wanted = self.error << 16 | (self.number or 0)
            raise SimulationError(f"{name} ({kinds}): {outcome.status:#x}, not {wanted:#x}")
        size, floats = self.size, self.made.floats
        expected = np.frombuffer(self.given.arena, np.uint8).copy()
        if self.error == EngineError.NONE:
            memory = expected[:size].copy()
            self.made.apply(memory)
            expected[size : 2 * size] = memory
            if floats is not None:
                expected[2 * size + floats.bits.nbytes :] = floats.stored(memory)
            known = np.ones(len(expected), bool)
        else:
            known = np.arange(len(expected)) < size
        got = np.frombuffer(outcome.arena, np.uint8)
        wrong = np.flatnonzero((got != expected) & known)
        if len(wrong):
            raise SimulationError(f"{name} ({kinds}): {len(wrong)} bytes from {wrong[0]} differ")


def _name_of(kind: int) -> str:
    return JobKind(kind).name if kind in set(JobKind) else f"kind {kind}"


def random_case(
    rng: np.random.Generator,
    macs: int,
    size: int,
    kinds: list[JobKind],
    *,
    wanted: EngineError,
    has_floats: bool | None = None,
    has_fused: bool = True,
    has_blocks: bool = False,
    is_resident: bool = False,
    has_int16: bool = False,
) -> Case:
    """Return a list of random jobs; half of them have coded weights.

    Half of the lists load some bytes beside the last job, so that a load waits beside the others.

    Parameters
    ----------
    rng : numpy.random.Generator
    macs, size : int
        Products per cycle, and bytes of the scratchpad.
    kinds : list of JobKind
        Of its jobs.
    wanted : EngineError
        ``WATCHDOG``: the list waits for itself. ``BAD_STREAM``: a bit of a coded stream is flipped,
        if there is one. ``NONE``: it is good.
    has_floats : bool or None
        Whether it converts numbers of float32, before and behind its jobs; by chance if None. A
        list that is to be stuck never does.
    has_fused : bool
        Whether the engine adds behind convolutions.
    has_blocks : bool
        The engine decodes blocks.
    is_resident : bool
        It keeps weights: jobs load some, and come again without them.
    has_int16 : bool
        It has jobs of int16.
    """
    options = {"has_fused": has_fused, "has_int16": has_int16}
    works = [work for kind in kinds for work in random_works(rng, macs, kind, size, **options)]
    if is_resident:
        works = _held(rng, works)
    is_stuck = wanted == EngineError.WATCHDOG
    if has_floats is None:
        has_floats = bool(rng.integers(2))
    floats = random_floats(rng, size) if has_floats and not is_stuck else None
    made = work_list(
        works,
        macs,
        size,
        rng.random(len(works)) < 0.5,
        is_stuck=is_stuck,
        floats=floats,
        reloaded=_untouched(works, floats, size) if rng.integers(2) else None,
        has_blocks=has_blocks,
    )
    spoilt = made.spoilt(rng) if wanted == EngineError.BAD_STREAM else None
    image, number = spoilt or (made.image, None)
    # The Program's range ends with the list.
    assert len(image) % LINE_BYTES == 0
    limit = int(rng.integers(300, 3000)) if is_stuck else _UNLIMITED_CYCLES
    numbers = b"" if floats is None else floats.bits.tobytes()
    arena = rng.bytes(2 * size) + numbers + bytes(len(numbers))
    given = Round(image, arena, made.counts, limit)
    if spoilt:
        return Case(made, given, size, EngineError.BAD_STREAM, number)
    return Case(made, given, size, EngineError.WATCHDOG if is_stuck else EngineError.NONE)


def _untouched(works: list[Work], floats: Floats | None, size: int) -> range | None:
    """Return the longest part of the scratchpad that nothing reads or writes, if there is one."""
    is_free = np.ones(size + 1, np.bool_)
    is_free[-1] = False
    for work in works:
        for span in (*work.inputs, work.output):
            is_free[span.start : span.stop] = False
    if floats is not None:
        is_free[floats.bytes] = False
    starts = np.flatnonzero(np.diff(is_free, prepend=False) & is_free)
    ends = np.flatnonzero(np.diff(is_free, prepend=False) & ~is_free)
    if not len(starts):
        return None
    longest = int(np.argmax(ends - starts))
    return range(int(starts[longest]), int(ends[longest]))


def _held(rng: np.random.Generator, works: list[Work]) -> list[Work]:
    """Return jobs of which some keep their weights, and come again when these are there."""
    found = []
    first = int(rng.integers(RESIDENT_WORDS))
    left = RESIDENT_WORDS
    for work in works:
        job = work.job
        if not isinstance(job, EngineJob) or job.kind not in BLOCK_KINDS or job.sums:
            found.append(work)
            continue
        words = job.groups * job.group_words
        if words > left or rng.random() < 0.3:
            found.append(work)
            continue
        held = dataclasses.replace(
            job, flags=job.flags | JobFlag.HELD, resident_word=first % RESIDENT_WORDS
        )
        loads = dataclasses.replace(held, flags=held.flags | JobFlag.LOADS)
        found += [dataclasses.replace(work, job=loads), dataclasses.replace(work, job=held)]
        first, left = first + words, left - words
    return found


def check_random_lists(
    program: Path,
    macs: int,
    size: int,
    timing: DramTiming,
    *,
    seed: int,
    rounds: int,
    longest: int,
    kinds: list[JobKind],
    has_blocks: bool = False,
    is_resident: bool = False,
    has_int16: bool = False,
) -> Counter[JobKind]:
    """Execute lists of random jobs; one of eight is stuck, one of eight has a spoilt stream.

    Parameters
    ----------
    program : Path
        From `build_engine`.
    macs, size : int
        Products per cycle, and bytes of the scratchpad.
    timing : DramTiming
        How DRAM behaves.
    seed : int
        Of all that is random.
    rounds, longest : int
        Number of lists, and jobs of a list at most.
    kinds : list of JobKind
        What jobs can be.
    has_blocks : bool
        The engine decodes blocks.
    is_resident : bool
        It keeps weights.
    has_int16 : bool
        It has jobs of int16.

    Returns
    -------
    Counter
        Jobs that were executed to their end, by kind.

    Raises
    ------
    SimulationError
        If a list does not do what its jobs are defined to do.
    """
    cases = random_cases(
        macs,
        size,
        seed=seed,
        rounds=rounds,
        longest=longest,
        kinds=kinds,
        has_blocks=has_blocks,
        is_resident=is_resident,
        has_int16=has_int16,
    )
    return check_cases(program, cases, timing, seed=seed)


def random_cases(
    macs: int,
    size: int,
    *,
    seed: int,
    rounds: int,
    longest: int,
    kinds: list[JobKind],
    has_blocks: bool = False,
    is_resident: bool = False,
    has_int16: bool = False,
) -> list[Case]:
    """Return the lists of `check_random_lists`."""
    rng = np.random.default_rng(seed)
    has_fused = JobKind.DEPTHWISE_UNIT not in kinds
    errors = {2: EngineError.WATCHDOG, 5: EngineError.BAD_STREAM}
    cases = []
    for number in range(rounds):
        count = int(rng.integers(1, longest + 1))
        chosen = [JobKind(int(rng.choice(kinds))) for _ in range(count)]
        wanted = errors.get(number % 8, EngineError.NONE)
        flags = {
            "has_fused": has_fused,
            "has_blocks": has_blocks,
            "is_resident": is_resident,
            "has_int16": has_int16,
        }
        cases.append(random_case(rng, macs, size, chosen, wanted=wanted, **flags))
    return cases


def check_cases(
    program: Path,
    cases: list[Case],
    timing: DramTiming,
    *,
    seed: int,
    folder: Path | None = None,
    answer_cycles: int = ANSWER_CYCLES,
    plusargs: Sequence[str] = (),
) -> Counter[JobKind]:
    """Execute lists and check them; see `check_random_lists` and `run_rounds`."""
    outcomes = run_rounds(
        program,
        [case.given for case in cases],
        timing,
        seed=seed,
        host_stall=0.1,
        folder=folder,
        answer_cycles=answer_cycles,
        plusargs=plusargs,
    )
    done: Counter[JobKind] = Counter()
    for number, (case, outcome) in enumerate(zip(cases, outcomes, strict=True)):
        case.check(outcome, f"list {number}")
        if case.error == EngineError.NONE:
            done.update(JobKind(job.kind) for job in case.made.jobs)
    return done

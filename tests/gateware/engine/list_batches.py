"""Lists of all sorts for the engine of `64-softmax`, in batches that run in one simulation.

``python -m tests.gateware.engine.list_batches`` records their `paces` anew.
"""

import functools
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from kiwicha.contract.configs import find_config
from kiwicha.contract.engine import EngineError, JobKind, job_kinds
from tests.gateware.engine.bad_lists import bad_lists
from tests.gateware.engine.campaign import Outcome, Round, build_engine, run_rounds
from tests.gateware.engine.exact_lists import exact_lists
from tests.gateware.engine.many_lists import (
    list_of_groups,
    list_of_loops,
    list_of_moves,
    list_of_sums,
)
from tests.gateware.engine.paces import Pace, check_paces, pace_of, with_questions, write_paces
from tests.gateware.engine.placed_lists import outside_lists, placed
from tests.gateware.engine.questions import asked
from tests.gateware.engine.random_lists import Case, random_cases
from tests.gateware.engine.reset_lists import reset_lists
from tests.gateware.engine.test_engine import TIMINGS
from tests.gateware.engine.transfer_lists import (
    dequantizing_lists,
    moving_lists,
    quantizing_lists,
    whole_lists,
)
from tests.gateware.engine.watchdog_lists import watchdog_lists

__all__ = ["BATCHES", "CONFIG", "Batch", "Checked", "check_batch", "run_batch"]

CONFIG = find_config("64-softmax")
_SMALL = 4096
_SIZE = CONFIG.scratchpad_bytes
_KINDS = job_kinds(has_softmax=True)
_HOST_STALL = 0.1


class Checked(Protocol):
    """A list that knows what it must leave."""

    @property
    def given(self) -> Round:
        """What the engine gets."""

    def check(self, outcome: Outcome, name: str) -> None:
        """Raise SimulationError if it has left something else."""


@dataclass(frozen=True)
class Batch:
    """Lists that run in one simulation.

    Parameters
    ----------
    name : str
        What they are.
    timing : str
        How DRAM behaves, a key of `TIMINGS`. Where nothing of that is random, the CPU does not
        stall, and the pace of lists is that which is recorded.
    make : callable
        Gives the lists.
    is_small : bool
        They take no more than the first `SCRATCHPAD_BYTES` of a scratchpad.
    most_cycles : int
        What an instruction may take: more than the longest list.
    """

    name: str
    timing: str
    make: Callable[[], Sequence[Checked]]
    is_small: bool = False
    most_cycles: int = 200_000

    @property
    def has_pace(self) -> bool:
        """Whether its lists always take the same cycles."""
        timing = TIMINGS[self.timing]
        return not timing.stall and not timing.jitter_cycles

    @functools.cached_property
    def lists(self) -> Sequence[Checked]:
        """The lists."""
        return self.make()


def _random(seed: int, rounds: int, size: int, kinds: list[JobKind] | None = None) -> list[Case]:
    return random_cases(
        CONFIG.engine_macs, size, seed=seed, rounds=rounds, longest=4, kinds=kinds or _KINDS
    )


def _asked(cases: list[Case], seed: int) -> list[Case]:
    """Return lists, beside the good ones of which the engine is asked."""
    rng = np.random.default_rng(seed)
    return [asked(case, rng) if case.error == EngineError.NONE else case for case in cases]


def _placed(seed: int, rounds: int) -> list[Case]:
    rng = np.random.default_rng(seed)
    cases = _random(seed, rounds, _SMALL)
    return [placed(case, rng) for case in cases if case.error == EngineError.NONE]


def _groups() -> list[Case]:
    macs = CONFIG.engine_macs
    return [
        list_of_groups(4095, macs, _SIZE, is_kept=True, seed=14),
        list_of_groups(33_000, macs, _SIZE, is_kept=False, seed=15),
    ]


def _moves() -> list[Case]:
    return [
        list_of_moves(1500, 4096, seed=17),
        list_of_moves(7001, 4096, seed=18, is_good=False),
    ]


def _sums() -> list[Case]:
    kinds = (JobKind.CONV, JobKind.DEPTHWISE)
    return [list_of_sums(CONFIG.engine_macs, _SIZE, kind, seed=22) for kind in kinds]


def _kind_batch(kind: JobKind) -> Batch:
    return Batch(
        f"lists of {kind.name}", "ddr3", lambda: _random(100 + kind, 32, 2 * _SMALL, [kind])
    )


def _slow_kind_batch(kind: JobKind) -> Batch:
    return Batch(
        f"lists of {kind.name}, DRAM jitter",
        "jitter",
        lambda: _random(100_000 + kind, 32, 2 * _SMALL, [kind]),
    )


BATCHES = (
    Batch("a few lists", "ddr3", lambda: _asked(_random(1, 6, _SMALL), 1), is_small=True),
    Batch("lists", "ddr3", lambda: _asked(_random(2, 24, _SMALL), 2)),
    Batch(
        "bad descriptors",
        "ddr3",
        lambda: bad_lists(CONFIG.engine_macs, _SIZE, has_softmax=CONFIG.has_softmax),
    ),
    Batch("lists outside ranges", "ddr3", lambda: outside_lists(CONFIG.engine_macs, _SMALL)),
    Batch("lists anywhere", "ddr3", lambda: _placed(9, 24)),
    Batch(
        "exact lists",
        "ddr3",
        lambda: exact_lists(CONFIG.engine_macs, count=8, seed=10),
        is_small=True,
    ),
    Batch("bytes in and out", "ddr3", moving_lists, is_small=True),
    Batch("floats in", "ddr3", quantizing_lists),
    Batch("floats out", "ddr3", dequantizing_lists),
    Batch("watchdogs", "ddr3", lambda: watchdog_lists(CONFIG.engine_macs, _SMALL)),
    Batch("lists, DRAM fast", "fast", lambda: _asked(_random(8, 24, _SMALL), 8)),
    *(_kind_batch(kind) for kind in _KINDS),
    Batch("many jobs", "fast", _moves),
    Batch(
        "long moves",
        "ddr3",
        lambda: [list_of_loops(CONFIG.engine_macs, _SIZE, seed=21)],
    ),
    Batch(
        "lists and resets",
        "stubborn",
        lambda: reset_lists(CONFIG.engine_macs, _SMALL, _KINDS, count=40, seed=11),
    ),
    Batch("lists, DRAM stubborn", "stubborn", lambda: _asked(_random(3, 24, _SMALL), 3)),
    Batch("lists, DRAM refreshing", "refreshing", lambda: _random(6, 24, _SMALL)),
    Batch("lists, all of the scratchpad", "ddr3", lambda: _asked(_random(5, 24, _SIZE), 5)),
    Batch("large lists, DRAM jitter", "jitter", lambda: _random(4, 24, _SIZE)),
    Batch("questions, DRAM jitter", "jitter", lambda: _asked(_random(100_050, 24, _SIZE), 100)),
    *(_slow_kind_batch(kind) for kind in _KINDS),
    Batch("as many floats as there can be", "ddr3", lambda: whole_lists(_SIZE)),
    Batch("many sums", "jitter", _sums),
    Batch("many groups", "ddr3", _groups, most_cycles=1_000_000),
    Batch(
        "as many jobs as there can be",
        "ddr3",
        lambda: [list_of_moves(65534, 4096, seed=19)],
        most_cycles=3_000_000,
    ),
)
"""Those that find most first."""


def run_batch(program: Path, batch: Batch) -> list[Pace] | None:
    """Execute lists, check what they leave, and return their pace if there is one.

    Parameters
    ----------
    program : Path
        From `build_engine`.
    batch : Batch
        The lists.

    Raises
    ------
    SimulationError
        If a list does not do what it is defined to do.
    """
    lists = batch.lists
    rounds = [item.given for item in lists]
    outcomes = run_rounds(
        program,
        [with_questions(given) for given in rounds] if batch.has_pace else rounds,
        TIMINGS[batch.timing],
        seed=1,
        host_stall=0 if batch.has_pace else _HOST_STALL,
        answer_cycles=batch.most_cycles,
    )
    paces: list[Pace] = []
    for number, (item, outcome) in enumerate(zip(lists, outcomes, strict=True)):
        own, pace = pace_of(item.given, outcome)
        item.check(own, f"list {number}")
        paces.append(pace)
    return paces if batch.has_pace else None


def check_batch(program: Path, batch: Batch, paces: dict[str, list[Pace]]) -> None:
    """Execute lists, and compare what they leave and take with what they must; see `run_batch`."""
    got = run_batch(program, batch)
    if got is not None:
        check_paces(got, paces[batch.name])


def main() -> int:
    """Record the pace of all batches; return the exit code."""
    program = build_engine(CONFIG.engine_macs, _SIZE, has_softmax=CONFIG.has_softmax)
    found = {batch.name: run_batch(program, batch) for batch in BATCHES}
    write_paces({name: paces for name, paces in found.items() if paces is not None})
    return 0


if __name__ == "__main__":
    sys.exit(main())

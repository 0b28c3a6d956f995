"""Counts what lists of jobs meet of the engine alone, and of the plan of functional coverage."""

import itertools
import tempfile
import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from kiwicha.contract.configs import Config
from kiwicha.contract.engine import JobKind, job_kinds
from kiwicha.gateware.engine.engine import Engine
from tests.gateware.engine.bad_lists import bad_lists
from tests.gateware.engine.campaign import compile_engine, engine_verilog
from tests.gateware.engine.questions import asked
from tests.gateware.engine.random_lists import Case, check_cases, random_cases
from tests.gateware.engine.test_engine import TIMINGS
from tools.verification import record
from tools.verification.choice import chosen
from tools.verification.covered_points import COVERAGE_FILE, COVERAGE_FLAGS
from tools.verification.job_points import points_of
from tools.verification.points import Point, points

__all__ = ["Lists", "covered_engine", "points_of_lists"]

_SMALL_BYTES = 4096
"""Of scratchpad and arena that lists of short jobs use."""


@dataclass
class Lists:
    """What ran, and what of the functional plan it met.

    Parameters
    ----------
    lists, jobs : int
        How many.
    timings : list of str
        Behaviours of DRAM.
    covered, planned : set of str
        Points of the functional plan.
    """

    lists: int = 0
    jobs: int = 0
    timings: list[str] = field(default_factory=list)
    covered: set[str] = field(default_factory=set)
    planned: set[str] = field(default_factory=set)

    def values(self) -> dict[str, Any]:
        """Return it for a record."""
        planned = self.planned | self.covered
        functional = {
            "planned": len(planned),
            "covered": len(self.covered),
            "missing": sorted(planned - self.covered),
        }
        names = ("lists", "jobs", "timings")
        return {name: asdict(self)[name] for name in names} | {"functional": functional}


def covered_engine(config: Config) -> Engine:
    """Return the engine that is simulated alone."""
    return Engine(
        macs=config.engine_macs,
        scratchpad_bytes=config.scratchpad_bytes,
        has_softmax=config.has_softmax,
    )


def _cases(
    config: Config, seed: int, rounds: int, size: int, chosen: list[JobKind] | None = None
) -> list[Case]:
    kinds = chosen or [JobKind(kind) for kind in job_kinds(has_softmax=config.has_softmax)]
    return random_cases(config.engine_macs, size, seed=seed, rounds=rounds, longest=6, kinds=kinds)


def points_of_lists(
    config: Config, *, seeds: int, rounds: int, drawn: int, deadline: float
) -> tuple[Counter[Point], Lists]:
    """Run lists, and return what they meet.

    They are those that together meet the plan of functional coverage, then bad ones, some beside
    which the engine is asked for its state, and others, with every behaviour of DRAM that the
    engine's tests know. What the plan asks for is every point that a drawn list meets with any
    behaviour of DRAM.

    Parameters
    ----------
    config : Config
        A configuration with an engine without options.
    seeds, rounds : int
        Of random lists: for each behaviour of DRAM, and lists of each seed.
    drawn : int
        Lists that the plan's are chosen from.
    deadline : float
        No more lists begin after it, in seconds of `time.monotonic`.
    """
    size = config.scratchpad_bytes
    text = engine_verilog(covered_engine(config))
    program = compile_engine(text, COVERAGE_FLAGS)
    met, ran = Counter[Point](), Lists()
    # Those with words of two kernel rows are rare among all.
    candidates = _cases(config, seeds, drawn, _SMALL_BYTES)
    candidates += _cases(config, seeds, drawn, _SMALL_BYTES, [JobKind.CONV])
    draws = list(itertools.product(candidates, TIMINGS))
    ran.planned = set().union(*(points_of(*draw) for draw in draws))
    by_timing: dict[str, list[Case]] = {timing: [] for timing in TIMINGS}
    for case, timing in chosen(draws, lambda draw: points_of(*draw), ran.covered):
        by_timing[timing].append(case)
    turns = [*by_timing.items()]
    turns.append(("ddr3", bad_lists(config.engine_macs, size, has_softmax=config.has_softmax)))
    rng = np.random.default_rng(seeds)
    short = _cases(config, seeds + 1, drawn // 4, _SMALL_BYTES)
    turns.append(("stubborn", [asked(case, rng) for case in short if not case.error]))
    for seed, timing in itertools.product(range(seeds), TIMINGS):
        # Small regions fill the list with short jobs, large ones reach all of the memory.
        bound = size if seed % 2 else _SMALL_BYTES
        turns.append((timing, _cases(config, 1000 * seed + len(timing), rounds, bound)))
    for number, (timing, cases) in enumerate(turns):
        if time.monotonic() > deadline:
            break
        with tempfile.TemporaryDirectory(prefix="kiwicha-coverage-") as name:
            done = check_cases(program, cases, TIMINGS[timing], seed=number, folder=Path(name))
            met.update(points(Path(name) / COVERAGE_FILE, text))
        ran.lists, ran.jobs = ran.lists + len(cases), ran.jobs + done.total()
        ran.timings = list(dict.fromkeys([*ran.timings, timing]))
        for case in cases:
            ran.covered |= points_of(case, timing)
        record.say(f"{timing}: {ran.lists} lists, {len(ran.covered)} points of the plan")
    return met, ran

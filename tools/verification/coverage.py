"""Coverage of the engine: ``python -m tools.verification.coverage``.

Lists of random jobs run on the engine alone, with every behaviour of DRAM that its tests know:
first those that together meet the plan of functional coverage, then bad ones, some beside which
the engine is asked for its state, and others.
"""

import argparse
import itertools
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from kiwicha.contract.configs import find_config
from kiwicha.contract.engine import JobKind, job_kinds
from kiwicha.gateware.engine.engine import Engine
from tests.gateware.engine.bad_lists import bad_lists
from tests.gateware.engine.campaign import compile_engine, engine_verilog
from tests.gateware.engine.questions import asked
from tests.gateware.engine.random_lists import Case, check_cases, random_cases
from tests.gateware.engine.test_engine import TIMINGS
from tools.verification import record
from tools.verification.choice import chosen
from tools.verification.job_points import points_of
from tools.verification.points import Point, component_of, points

__all__ = ["KINDS", "RECORD", "main", "summary"]

RECORD = "coverage"
CONFIG = "64"
COVERAGE_FLAGS = ("--coverage-line", "--coverage-toggle")
"""Options of Verilator."""
COVERAGE_FILE = "coverage.dat"
"""What a simulation writes where it runs."""
_SMALL_BYTES = 4096
"""Of scratchpad and arena that lists of short jobs use."""
KINDS = ("line", "branch", "toggle")


def _cases(seed: int, rounds: int, size: int) -> list[Case]:
    kinds = [JobKind(kind) for kind in job_kinds(has_softmax=False)]
    return random_cases(64, size, seed=seed, rounds=rounds, longest=6, kinds=kinds)


@dataclass
class _Met:
    """What lists have met so far."""

    points: Counter[Point] = field(default_factory=Counter)
    covered: set[str] = field(default_factory=set)
    planned: set[str] = field(default_factory=set)
    lists: int = 0
    jobs: int = 0
    timings: dict[str, None] = field(default_factory=dict)


def _run_lists(met: _Met, seeds: int, rounds: int, drawn: int, deadline: float) -> None:
    """Run lists that meet the plan, then random ones, and record what they meet.

    Each behaviour of DRAM has its turn; what the plan asks for is every point that a drawn list
    meets with any of them.
    """
    size = find_config(CONFIG).scratchpad_bytes
    text = engine_verilog(Engine(macs=64, scratchpad_bytes=size, has_softmax=False))
    program = compile_engine(text, COVERAGE_FLAGS)
    draws = list(itertools.product(_cases(seeds, drawn, _SMALL_BYTES), TIMINGS))
    met.planned = set().union(*(points_of(*draw) for draw in draws))
    by_timing: dict[str, list[Case]] = {timing: [] for timing in TIMINGS}
    for case, timing in chosen(draws, lambda draw: points_of(*draw), met.covered):
        by_timing[timing].append(case)
    turns = [*by_timing.items()]
    turns.append(("ddr3", bad_lists(64, size, has_softmax=False)))
    rng = np.random.default_rng(seeds)
    good = [case for case in _cases(seeds + 1, drawn // 4, _SMALL_BYTES) if not case.error]
    turns.append(("stubborn", [asked(case, rng) for case in good]))
    for seed, timing in itertools.product(range(seeds), TIMINGS):
        # Small regions fill the list with short jobs, large ones reach all of the memory.
        bound = size if seed % 2 else _SMALL_BYTES
        turns.append((timing, _cases(1000 * seed + len(timing), rounds, bound)))
    for number, (timing, cases) in enumerate(turns):
        if time.monotonic() > deadline:
            return
        with tempfile.TemporaryDirectory(prefix="kiwicha-coverage-") as name:
            done = check_cases(program, cases, TIMINGS[timing], seed=number, folder=Path(name))
            met.points.update(points(Path(name) / COVERAGE_FILE, text))
        met.lists, met.jobs = met.lists + len(cases), met.jobs + done.total()
        met.timings[timing] = None
        for case in cases:
            met.covered |= points_of(case, timing)
        record.say(f"{timing}: {met.lists} lists, {len(met.covered)} points of the plan")
        _record(met)


def summary(met: Mapping[Point, int]) -> list[dict[str, Any]]:
    """Return how many points of each component there are, and how many were met, by kind."""
    rows: dict[str, dict[str, list[int]]] = defaultdict(lambda: {kind: [0, 0] for kind in KINDS})
    for point, count in met.items():
        if point.kind in KINDS:
            numbers = rows[component_of(point.module)][point.kind]
            numbers[0] += 1
            numbers[1] += count > 0
    return [{"component": name, **row} for name, row in sorted(rows.items())]


def _holes(met: Mapping[Point, int]) -> Counter[str]:
    """Return lines and branches that were not met, and how many of each text there are."""
    return Counter(
        f"{point.module}: {point.text}"
        for point, count in met.items()
        if not count and point.kind in {"line", "branch"}
    )


def _record(met: _Met) -> None:
    holes = _holes(met.points)
    planned = met.planned | met.covered
    record.write(
        RECORD,
        {
            "command": record.command(),
            "config": CONFIG,
            "timings": list(met.timings),
            "lists": met.lists,
            "jobs": met.jobs,
            "components": summary(met.points),
            "holes": dict(sorted(holes.items())),
            "functional": {
                "planned": len(planned),
                "covered": len(met.covered),
                "missing": sorted(planned - met.covered),
            },
        },
    )
    record.say(f"{len(met.points)} points, {holes.total()} lines and branches not met")


def main(arguments: list[str] | None = None) -> int:
    """Measure coverage; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=1, help="for each behaviour of DRAM")
    parser.add_argument("--rounds", type=int, default=10, help="lists of each seed")
    parser.add_argument("--drawn", type=int, default=200, help="lists of the functional plan")
    parser.add_argument("--minutes", type=float, default=60.0, help="for lists, about")
    options = parser.parse_args(arguments)
    met = _Met()
    deadline = time.monotonic() + 60 * options.minutes
    _run_lists(met, options.seeds, options.rounds, options.drawn, deadline)
    return 0


if __name__ == "__main__":
    sys.exit(main())

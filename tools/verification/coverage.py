"""Coverage of the engine: ``python -m tools.verification.coverage``.

Lists of random jobs run on the engine alone, with every behaviour of DRAM that its tests know, and
models on the simulated system. What both have met is merged.
"""

import argparse
import os
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from kiwicha.compiler import compile_model
from kiwicha.contract.configs import find_config
from kiwicha.contract.engine import JobKind, job_kinds
from kiwicha.gateware.engine.engine import Engine
from kiwicha.program.image import Program
from kiwicha.sim.verilator.program_run import run_program
from kiwicha.zoo import models as zoo
from tests.gateware.engine.campaign import compile_engine, engine_verilog
from tests.gateware.engine.random_lists import Case, check_cases, random_cases
from tests.gateware.engine.test_engine import TIMINGS
from tests.support.models.two_heads import two_heads
from tools.verification import record
from tools.verification.covered import COVERAGE_FILE, COVERAGE_FLAGS, COVERAGE_PATH, covered_system
from tools.verification.job_points import points_of
from tools.verification.points import Point, component_of, points

__all__ = ["KINDS", "RECORD", "main", "summary"]

RECORD = "coverage"
CONFIG = "64"
KINDS = ("line", "branch", "toggle")
_MODELS = (zoo.DEMO, "kws")
_HOLES = 400
"""Lines and branches that are recorded by name, at most."""


def _cases(seed: int, rounds: int, size: int) -> list[Case]:
    kinds = [JobKind(kind) for kind in job_kinds(has_softmax=False)]
    return random_cases(64, size, seed=seed, rounds=rounds, longest=6, kinds=kinds)


def _run_lists(
    seeds: int, rounds: int, drawn: int
) -> tuple[Counter[Point], dict[str, Any], dict[str, int]]:
    """Return points and functional points that random lists meet, and what was run."""
    config = find_config(CONFIG)
    size = config.scratchpad_bytes
    text = engine_verilog(Engine(macs=64, scratchpad_bytes=size, has_softmax=False))
    program = compile_engine(text, COVERAGE_FLAGS)
    met: Counter[Point] = Counter()
    covered: set[str] = set()
    planned: set[str] = set()
    lists = jobs = 0
    for timing, behaviour in TIMINGS.items():
        for seed in range(seeds):
            # Small regions fill the list with short jobs, large ones reach all of the memory.
            cases = _cases(seed, rounds, size if seed % 2 else 4096)
            with tempfile.TemporaryDirectory(prefix="kiwicha-coverage-") as name:
                done = check_cases(program, cases, behaviour, seed=seed, folder=Path(name))
                met.update(points(Path(name) / COVERAGE_FILE, text))
            lists, jobs = lists + len(cases), jobs + done.total()
            for case in cases:
                covered |= points_of(case, timing)
        for case in _cases(seeds + 1, drawn, 4096):
            planned |= points_of(case, timing)
        record.say(f"{timing}: {lists} lists, {len(covered)} points of the plan")
    planned |= covered
    functional = {"planned": len(planned), "covered": len(covered)}
    missing = sorted(planned - covered)
    return met, {**functional, "missing": missing}, {"lists": lists, "jobs": jobs}


def _run_systems() -> dict[Point, int]:
    """Return the points that models on the simulated system meet."""
    config = find_config(CONFIG)
    met: Counter[Point] = Counter()
    with tempfile.TemporaryDirectory(prefix="kiwicha-coverage-") as name:
        path = Path(name) / COVERAGE_FILE
        simulator, cfu = covered_system(config)
        os.environ[COVERAGE_PATH] = str(path)
        for program in _programs():
            size = [tensor.ref.bytes for tensor in program.inputs]
            inputs = [np.random.default_rng(1).bytes(count) for count in size]
            run_program(program, inputs, inferences=2, simulator=simulator)
            met.update(points(path, cfu))
    return met


def _programs() -> list[Program]:
    files = [zoo.resolve(model)[1] for model in _MODELS]
    models: list[Path | bytes] = [*files, two_heads()]
    return [compile_model(model, CONFIG) for model in models]


def summary(met: Mapping[Point, int]) -> list[dict[str, Any]]:
    """Return how many points of each component there are, and how many were met, by kind."""
    rows: dict[str, dict[str, list[int]]] = defaultdict(lambda: {kind: [0, 0] for kind in KINDS})
    for point, count in met.items():
        if point.kind in KINDS:
            numbers = rows[component_of(point.module)][point.kind]
            numbers[0] += 1
            numbers[1] += count > 0
    return [{"component": name, **row} for name, row in sorted(rows.items())]


def _holes(met: Mapping[Point, int]) -> list[str]:
    """Return lines and branches that were not met."""
    return sorted(
        f"{point.module}: {point.text}"
        for point, count in met.items()
        if not count and point.kind in {"line", "branch"}
    )


def main(arguments: list[str] | None = None) -> int:
    """Measure coverage; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=4, help="for each behaviour of DRAM")
    parser.add_argument("--rounds", type=int, default=96, help="lists of each seed")
    parser.add_argument("--drawn", type=int, default=1000, help="lists of the functional plan")
    parser.add_argument("--no-system", action="store_true", help="the engine alone")
    options = parser.parse_args(arguments)
    start = time.monotonic()
    met, functional, run = _run_lists(options.seeds, options.rounds, options.drawn)
    system: Mapping[Point, int] = {} if options.no_system else _run_systems()
    only = sum(1 for point, count in system.items() if count and met.get(point) == 0)
    # Names that differ between both are of no use: the engine alone says what there is.
    known = {point: count + system.get(point, 0) for point, count in met.items()}
    holes = _holes(known)
    record.write(
        RECORD,
        {
            "config": CONFIG,
            "seeds": options.seeds,
            **run,
            "models": [] if options.no_system else [*_MODELS, "two heads"],
            "met_by_models_alone": only,
            "components": summary(known),
            "holes": holes[:_HOLES],
            "more_holes": max(len(holes) - _HOLES, 0),
            "functional": functional,
            "seconds": round(time.monotonic() - start),
        },
    )
    record.say(f"{len(known)} points, {len(holes)} lines and branches not met")
    return 0


if __name__ == "__main__":
    sys.exit(main())

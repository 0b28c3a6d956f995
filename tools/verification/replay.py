"""Lists on netlists for boards: ``python -m tools.verification.replay``.

The engine of a configuration is synthesized for each family of boards and simulated beside its
source, with random lists and with the lists of a model. All outputs are compared in every cycle.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kiwicha.boards.family import Family
from kiwicha.compiler import compile_model
from kiwicha.contract.configs import Config, find_config
from kiwicha.contract.engine import EngineCall, JobKind, job_kinds
from kiwicha.contract.program import Kernel
from kiwicha.errors import SimulationError
from kiwicha.program.image import Program
from kiwicha.zoo import models as zoo
from tests.gateware.engine.campaign import Round, run_rounds
from tests.gateware.engine.random_lists import Case, random_cases
from tests.gateware.engine.test_engine import TIMINGS
from tools.verification import record
from tools.verification.gates import gate_engine
from tools.verification.gates.gate_engine import GateEngine

__all__ = ["RECORD", "main", "model_rounds", "random_lists", "replay"]

RECORD = "replay"
FAMILIES = ("xc7", "ecp5")
"""Values of `Family`."""
_WATCHDOG_CYCLES = 100_000_000
_SMALL_BYTES = 4096
"""Of scratchpad and arena that lists of short jobs use."""
_LONGEST = 4


@dataclass(frozen=True)
class Replayed:
    """What a run came to.

    Parameters
    ----------
    lists, jobs : int
        That were executed.
    cycles : int
        In which outputs were compared.
    difference : str or None
        The first one.
    """

    lists: int
    jobs: int
    cycles: int
    difference: str | None


def replay(
    engine: GateEngine,
    rounds: Sequence[Round],
    timing: str,
    *,
    seed: int,
    cases: Sequence[Case] = (),
    start: int = 0,
) -> Replayed:
    """Execute lists on a netlist and its source.

    Parameters
    ----------
    engine : GateEngine
        Both.
    rounds : sequence of Round
        The lists.
    timing : str
        One of `TIMINGS`.
    seed : int
        Of stalls and data that are not valid.
    cases : sequence of Case
        What the lists are, if they are random ones: what they leave is checked.
    start : int
        Seed of what registers and memories start with; 0: as the board starts them.
    """
    plusargs = gate_engine.any_start(start) if start else ()
    jobs = sum(entry.counts & 0xFFFF for entry in rounds)
    with tempfile.TemporaryDirectory(prefix="kiwicha-replay-") as name:
        folder = Path(name)
        try:
            outcomes = run_rounds(
                engine.program,
                rounds,
                TIMINGS[timing],
                seed=seed,
                host_stall=0.1,
                folder=folder,
                answer_cycles=_WATCHDOG_CYCLES,
                plusargs=plusargs,
            )
            for case, outcome in zip(cases, outcomes, strict=False):
                case.check(outcome, "list")
        except SimulationError as error:
            return Replayed(len(rounds), jobs, 0, str(error))
        return Replayed(len(rounds), jobs, gate_engine.compared_cycles(folder), None)


def model_rounds(program: Program, seed: int) -> Iterator[Round]:
    """Give the lists of a Program, each on an arena of random bytes.

    Parameters
    ----------
    program : Program
        For a configuration with an engine.
    seed : int
        Of the bytes.
    """
    rng = np.random.default_rng(seed)
    for step in program.steps:
        if step.kernel is Kernel.ENGINE:
            call = step.params
            assert isinstance(call, EngineCall)
            image = program.constants[call.image.offset : call.image.offset + call.image.bytes]
            arena = rng.bytes(-(-program.arena_bytes // 16) * 16)
            counts = call.job_count | call.transfer_count << 16
            yield Round(image, arena, counts, _WATCHDOG_CYCLES)


def random_lists(config: Config, rounds: int, seed: int) -> list[Case]:
    """Return lists of random jobs of int8, of each kind that an engine has.

    Parameters
    ----------
    config : Config
        With an engine.
    rounds : int
        How many lists.
    seed : int
        Of them.
    """
    kinds = job_kinds(has_softmax=config.has_softmax, has_depthwise=config.has_depthwise)
    # Half of the jobs are the unit's, so that both work at the same time.
    kinds += len(kinds) * [JobKind.DEPTHWISE_UNIT] if config.has_depthwise else []
    return random_cases(
        config.engine_macs,
        _SMALL_BYTES,
        seed=seed,
        rounds=rounds,
        longest=_LONGEST,
        kinds=kinds,
        has_blocks=config.has_blocks,
        is_resident=bool(config.resident_words),
    )


def _random(engine: GateEngine, config: Config, options: argparse.Namespace) -> Iterator[Replayed]:
    """Execute random lists with each behaviour of DRAM, from each start."""
    for number, timing in enumerate(TIMINGS):
        cases = random_lists(config, options.rounds, 1000 * options.seed + number)
        rounds = [case.given for case in cases]
        for start in range(options.starts + 1):
            yield replay(engine, rounds, timing, seed=number, cases=cases, start=start)


def _model(
    engine: GateEngine, config: Config, name: str, options: argparse.Namespace
) -> Iterator[Replayed]:
    """Execute the lists of a model, from each start."""
    rounds = list(model_rounds(compile_model(zoo.resolve(name)[1], config.name), options.seed))
    for start in range(options.starts + 1):
        yield replay(engine, rounds, "ddr3", seed=1, start=start)


def _row(found: Iterator[Replayed], row: dict[str, Any]) -> dict[str, Any]:
    """Return a row of the record with what came of some runs."""
    runs, begin = [], time.monotonic()
    for run in found:
        runs.append(run)
        record.say(f"{row['config']} on {row['family']}, {row['what']}: {run}")
    return row | {
        "lists": sum(run.lists for run in runs),
        "jobs": sum(run.jobs for run in runs),
        "cycles": sum(run.cycles for run in runs),
        "difference": next((run.difference for run in runs if run.difference), None),
        "seconds": round(time.monotonic() - begin),
    }


def main(arguments: list[str] | None = None) -> int:
    """Execute lists; return the exit code, 1 if an output differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--config", default="64", help="of its options: those of lists of int8")
    parser.add_argument("--family", choices=FAMILIES, action="append", help="by default all")
    parser.add_argument("--model", action="append", help="of the zoo, whose lists are executed")
    parser.add_argument("--rounds", type=int, default=16, help="random lists for each DRAM, or 0")
    parser.add_argument("--starts", type=int, default=3, help="random first values of all bits")
    parser.add_argument("--seed", type=int, default=0, help="of the lists")
    options = parser.parse_args(arguments)
    rows: list[dict[str, Any]] = record.read(Path(), RECORD) or []
    config = find_config(options.config)
    failed = False
    for family in options.family or FAMILIES:
        engine = gate_engine.build(config, Family(family))
        record.say(f"{config.name} on {family}: {engine.cells.total()} cells")
        for what in (*(["random"] if options.rounds else ()), *(options.model or ())):
            key = {"config": config.name, "family": family, "what": what}
            is_random = what == "random"
            found = (
                _random(engine, config, options)
                if is_random
                else _model(engine, config, what, options)
            )
            row = _row(
                found,
                key
                | {
                    "timings": list(TIMINGS) if is_random else ["ddr3"],
                    "starts": options.starts,
                    "command": record.command(),
                    "cells": engine.cells.total(),
                },
            )
            failed |= row["difference"] is not None
            rows = [old for old in rows if any(old[name] != key[name] for name in key)]
            rows.append(row)
            record.write(RECORD, rows)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())

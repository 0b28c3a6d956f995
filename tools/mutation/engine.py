"""Faults in the engine's netlist: ``python -m tools.mutation.engine`` lets lists find them.

Yosys' ``mutate`` puts faults into each component of one netlist. Lists of random jobs run with one
fault after the other, until what they leave is wrong; a fault that none of them shows has survived.
"""

import argparse
import functools
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kiwicha.contract.engine import EngineError, JobKind, job_kinds
from kiwicha.errors import SimulationError
from kiwicha.gateware.engine.engine import Engine
from kiwicha.sim.verilator.power_up import without_zeros
from tests.gateware.engine.bad_lists import bad_lists
from tests.gateware.engine.campaign import SCRATCHPAD_BYTES, compile_engine
from tests.gateware.engine.questions import asked
from tests.gateware.engine.random_lists import Case, check_cases, random_cases
from tests.gateware.engine.test_engine import TIMINGS
from tools.mutation.netlist_faults import SELECTED, Fault, FaultyNetlist, faulty_netlist
from tools.mutation.netlist_rows import Mode, try_faults
from tools.mutation.trial import Result
from tools.verification.choice import chosen
from tools.verification.job_points import points_of
from tools.verification.points import component_of
from tools.yosys import component_rtlil

__all__ = ["RECORD", "in_turn", "main"]

RECORD = Path("docs/results/verification/netlist_faults/engine.jsonl")
_TOP = "engine"
_MACS, _SMALL_BYTES = 64, 4096
_KINDS = [JobKind(kind) for kind in job_kinds(has_softmax=True)]
_ANSWER_CYCLES = 200_000
"""What a list may take: many times as long as without a fault."""
_DRAWN = 200


@dataclass(frozen=True)
class _Batch:
    """Lists that run in one simulation."""

    name: str
    timing: str
    cases: list[Case]


def _random(seed: int, rounds: int, size: int) -> list[Case]:
    return random_cases(_MACS, size, seed=seed, rounds=rounds, longest=4, kinds=_KINDS)


def _planned() -> dict[str, list[Case]]:
    """Return lists that together meet the plan of functional coverage, by behaviour of DRAM."""
    draws = [(case, timing) for case in _random(7, _DRAWN, _SMALL_BYTES) for timing in TIMINGS]
    found: dict[str, list[Case]] = {timing: [] for timing in TIMINGS}
    for case, timing in chosen(draws, lambda draw: points_of(*draw), set()):
        found[timing].append(case)
    return found


def _asked() -> list[Case]:
    """Return good lists beside which the engine is asked."""
    rng = np.random.default_rng(8)
    cases = _random(8, 24, _SMALL_BYTES)
    return [asked(case, rng) for case in cases if case.error == EngineError.NONE]


@functools.cache
def _batches() -> tuple[_Batch, ...]:
    """Return all lists, those that find most first."""
    return (
        _Batch("a few lists", "ddr3", _random(1, 6, _SMALL_BYTES)),
        _Batch("lists", "ddr3", _random(2, 24, _SMALL_BYTES)),
        _Batch("bad descriptors", "ddr3", bad_lists(_MACS, SCRATCHPAD_BYTES, has_softmax=True)),
        _Batch("lists with questions", "ddr3", _asked()),
        _Batch("lists, DRAM stubborn", "stubborn", _random(3, 24, _SMALL_BYTES)),
        *(_Batch(f"plan, DRAM {name}", name, cases) for name, cases in _planned().items()),
        _Batch("large lists", "jitter", _random(4, 48, SCRATCHPAD_BYTES)),
    )


def _netlist(count: int, seed: int) -> FaultyNetlist:
    engine = Engine(macs=_MACS, scratchpad_bytes=SCRATCHPAD_BYTES, has_softmax=True)
    return faulty_netlist(component_rtlil(engine, _TOP), _TOP, component_of, count=count, seed=seed)


def _found_by(program: Path, number: int) -> tuple[Result, str]:
    """Return what became of a fault, and the lists that found it."""
    os.environ[SELECTED] = str(number)
    for batch in _batches():
        try:
            check_cases(
                program,
                batch.cases,
                TIMINGS[batch.timing],
                seed=1,
                answer_cycles=_ANSWER_CYCLES,
            )
        except SimulationError as error:
            is_hang = "must be answered" in str(error)
            return Result.HANGS if is_hang else Result.KILLED, batch.name
    return Result.SURVIVED, ""


def in_turn(faults: tuple[Fault, ...]) -> list[Fault]:
    """Return faults of each component in turn, so that a part of them is of all."""
    places: dict[str, int] = {}
    order = []
    for fault in faults:
        component = component_of(fault.module)
        places[component] = place = places.get(component, 0) + 1
        order.append((place, fault.number, fault))
    return [fault for _, _, fault in sorted(order, key=lambda item: item[:2])]


def main(arguments: list[str] | None = None) -> int:
    """Try faults until there are enough or time is up; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=40, help="faults of each component")
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--mode", type=Mode, default=Mode.NEW, choices=[*Mode])
    options = parser.parse_args(arguments)
    deadline = time.monotonic() + 60 * options.minutes
    netlist = _netlist(options.count, options.seed)
    program = compile_engine(without_zeros(netlist.verilog), is_fast=True)
    if _found_by(program, 0)[0] != Result.SURVIVED:
        raise SimulationError("lists must pass without a fault")
    try_faults(
        RECORD,
        netlist,
        in_turn(netlist.faults),
        lambda fault: _found_by(program, fault.number),
        mode=options.mode,
        is_over=lambda: time.monotonic() > deadline,
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())

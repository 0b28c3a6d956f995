"""Faults in the engine's netlist: ``python -m tools.mutation.engine`` lets lists find them.

Yosys' ``mutate`` puts faults into each component of one netlist. Lists of random jobs run with one
fault after the other, until what they leave is wrong; a fault that none of them shows has survived.
"""

import argparse
import dataclasses
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from kiwicha.errors import SimulationError
from kiwicha.gateware.engine.engine import Engine
from kiwicha.sim.verilator.power_up import without_zeros
from tests.gateware.engine.campaign import compile_engine
from tests.gateware.engine.list_batches import BATCHES, CONFIG, Batch, check_batch
from tests.gateware.engine.paces import Pace, read_paces
from tools.mutation.netlist_equivalence import SECONDS
from tools.mutation.netlist_faults import SELECTED, Fault, FaultyNetlist, faulty_netlist
from tools.mutation.netlist_rows import Mode, prove_faults, try_faults
from tools.mutation.trial import Result
from tools.verification.points import component_of
from tools.yosys import component_rtlil

__all__ = ["RECORD", "engine_netlist", "in_turn", "main"]

RECORD = Path("docs/results/verification/netlist_faults/engine.jsonl")
_TOP = "engine"


def engine_netlist(count: int = 40, seed: int = 0) -> FaultyNetlist:
    """Return the engine of `CONFIG` with faults; see `faulty_netlist`."""
    engine = Engine(
        macs=CONFIG.engine_macs,
        scratchpad_bytes=CONFIG.scratchpad_bytes,
        has_softmax=CONFIG.has_softmax,
    )
    text = component_rtlil(engine, _TOP)
    netlist = faulty_netlist(text, _TOP, component_of, count=count, seed=seed)
    # In the unit that has the engine the domain has no reset: see `tests/gateware/test_resets.py`.
    return dataclasses.replace(netlist, low=("rst",))


def _found_by(
    program: Path, batches: Sequence[Batch], number: int, paces: dict[str, list[Pace]]
) -> tuple[Result, str]:
    """Return what became of a fault, and the lists that found it."""
    os.environ[SELECTED] = str(number)
    for batch in batches:
        try:
            check_batch(program, batch, paces)
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
    parser.add_argument("--lists", nargs="+", help="names of batches; all without it")
    parser.add_argument("--components", nargs="+", help="those whose faults are tried; all too")
    parser.add_argument("--seconds", type=int, default=SECONDS, help="of attempts of a proof")
    parser.add_argument("--only-in", nargs="+", default=(), help="modules of proofs; all too")
    parser.add_argument("--numbers", nargs="+", type=int, help="of faults that are tried; all too")
    options = parser.parse_args(arguments)
    batches = [batch for batch in BATCHES if batch.name in (options.lists or [batch.name])]

    def is_chosen(fault: Fault) -> bool:
        component = component_of(fault.module)
        is_named = component in (options.components or [component])
        return bool(is_named and fault.number in (options.numbers or [fault.number]))

    deadline: float = time.monotonic() + 60 * options.minutes

    def is_over() -> bool:
        return time.monotonic() > deadline

    netlist = engine_netlist(options.count, options.seed)
    chosen = [fault for fault in in_turn(netlist.faults) if is_chosen(fault)]
    if options.mode == Mode.PROOFS:
        prove_faults(
            RECORD,
            netlist,
            chosen,
            is_over=is_over,
            seconds=options.seconds,
            only_in=options.only_in,
        )
        return 0
    program = compile_engine(without_zeros(netlist.verilog), is_fast=True)
    paces = read_paces()
    if _found_by(program, batches, 0, paces)[0] != Result.SURVIVED:
        raise SimulationError("lists must pass without a fault")
    try_faults(
        RECORD,
        chosen,
        lambda fault: _found_by(program, batches, fault.number, paces),
        mode=options.mode,
        is_over=is_over,
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())

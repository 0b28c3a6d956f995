"""Faults in the engine's netlist: ``python -m tools.mutation.engine`` lets lists find them.

Yosys' ``mutate`` puts faults into each component of one netlist. Lists of random jobs run with one
fault after the other, until what they leave is wrong; a fault that none of them shows has survived.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from kiwicha.errors import SimulationError
from kiwicha.gateware.engine.engine import Engine
from kiwicha.sim.verilator.power_up import without_zeros
from tests.gateware.engine.campaign import compile_engine
from tests.gateware.engine.list_batches import BATCHES, CONFIG, Batch, check_batch
from tests.gateware.engine.paces import Pace, read_paces
from tools.mutation.fault_rows import read_rows
from tools.mutation.netlist_equivalence import is_equivalent
from tools.mutation.netlist_faults import SELECTED, Fault, FaultyNetlist, faulty_netlist
from tools.mutation.netlist_identity import identical_faults
from tools.mutation.netlist_rows import Mode, try_faults
from tools.mutation.trial import Result
from tools.verification.points import component_of
from tools.yosys import component_rtlil

__all__ = ["RECORD", "engine_netlist", "in_turn", "main"]

RECORD = Path("docs/results/verification/netlist_faults/engine.jsonl")
_TOP = "engine"
_AT_ONCE = 32
"""Faults that are compared with the good netlist before any is recorded."""


def engine_netlist(count: int = 40, seed: int = 0) -> FaultyNetlist:
    """Return the engine of `CONFIG` with faults; see `faulty_netlist`."""
    engine = Engine(
        macs=CONFIG.engine_macs,
        scratchpad_bytes=CONFIG.scratchpad_bytes,
        has_softmax=CONFIG.has_softmax,
    )
    return faulty_netlist(component_rtlil(engine, _TOP), _TOP, component_of, count=count, seed=seed)


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


def _prove(netlist: FaultyNetlist, is_over: Callable[[], bool]) -> None:
    """Record which survivors change nothing: in the whole netlist, then in a component."""
    rows = read_rows(RECORD)
    left = {number for number, row in rows.items() if row["result"] == Result.SURVIVED}
    faults = [fault for fault in in_turn(netlist.faults) if fault.number in left]
    for first in range(0, len(faults), _AT_ONCE):
        some = faults[first : first + _AT_ONCE]
        same = identical_faults(netlist, _TOP, some)
        proven = [fault for fault in some if fault.number in same]
        _try(netlist, proven, is_over, lambda _: True)
    _try(netlist, faults, is_over, lambda fault: is_equivalent(netlist, fault))


def _try(
    netlist: FaultyNetlist,
    faults: Sequence[Fault],
    is_over: Callable[[], bool],
    proves: Callable[[Fault], bool],
) -> None:
    try_faults(
        RECORD,
        netlist,
        faults,
        lambda fault: (Result.SURVIVED, ""),
        mode=Mode.PROOFS,
        is_over=is_over,
        proves=proves,
    )


def main(arguments: list[str] | None = None) -> int:
    """Try faults until there are enough or time is up; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=40, help="faults of each component")
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--mode", type=Mode, default=Mode.NEW, choices=[*Mode])
    parser.add_argument("--lists", nargs="+", help="names of batches; all without it")
    parser.add_argument("--components", nargs="+", help="those whose faults are tried; all too")
    options = parser.parse_args(arguments)
    batches = [batch for batch in BATCHES if batch.name in (options.lists or [batch.name])]

    def is_chosen(fault: Fault) -> bool:
        component = component_of(fault.module)
        return component in (options.components or [component])

    deadline = time.monotonic() + 60 * options.minutes
    netlist = engine_netlist(options.count, options.seed)
    if options.mode == Mode.PROOFS:
        _prove(netlist, lambda: time.monotonic() > deadline)
        return 0
    program = compile_engine(without_zeros(netlist.verilog), is_fast=True)
    paces = read_paces()
    if _found_by(program, batches, 0, paces)[0] != Result.SURVIVED:
        raise SimulationError("lists must pass without a fault")
    try_faults(
        RECORD,
        netlist,
        [fault for fault in in_turn(netlist.faults) if is_chosen(fault)],
        lambda fault: _found_by(program, batches, fault.number, paces),
        mode=options.mode,
        is_over=lambda: time.monotonic() > deadline,
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Trying faults in netlists, one after the other, and going on later."""

from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path

from tools.mutation.fault_rows import read_rows, write_rows
from tools.mutation.netlist_equivalence import is_equivalent
from tools.mutation.netlist_faults import Fault, FaultyNetlist
from tools.mutation.trial import Result
from tools.verification import record

__all__ = ["Mode", "try_faults"]


class Mode(StrEnum):
    """Which faults are tried."""

    NEW = "new"
    """Those that were not tried."""
    RECHECK = "recheck"
    """Those that survived: tests may have been added."""
    PROOFS = "proofs"
    """Those that survived: proofs may show that they change nothing."""


def try_faults(
    path: Path,
    netlist: FaultyNetlist,
    faults: Sequence[Fault],
    found_by: Callable[[Fault], tuple[Result, str]],
    *,
    mode: Mode,
    is_over: Callable[[], bool],
    proves: Callable[[Fault], bool] | None = None,
) -> None:
    """Try faults one after the other, and record each.

    Parameters
    ----------
    path : Path
        Of the record.
    netlist : FaultyNetlist
        With the faults.
    faults : sequence of Fault
        In the order in which they are tried.
    found_by : callable
        Gives what became of a fault, and what has found it.
    mode : Mode
        Which are tried.
    is_over : callable
        Says that no more shall be tried.
    proves : callable, optional
        Says whether a fault is proven to change nothing; `is_equivalent` without it.
    """
    rows = read_rows(path)
    for fault in faults:
        row = rows.get(fault.number)
        has_survived = row is not None and row["result"] == Result.SURVIVED
        if not (row is None if mode == Mode.NEW else has_survived):
            continue
        if is_over():
            return
        if mode != Mode.PROOFS:
            result, found = found_by(fault)
        elif proves(fault) if proves is not None else is_equivalent(netlist, fault):
            result, found = Result.EQUIVALENT, "proof"
        else:
            continue
        if result == Result.SURVIVED:
            record.say(f"survived: {fault.module}: {fault.signal} {fault.change}")
        rows[fault.number] = {
            "number": fault.number,
            "module": fault.module,
            "signal": fault.signal,
            "change": fault.change,
            "result": str(result),
            "found_by": found,
        }
        write_rows(path, rows)

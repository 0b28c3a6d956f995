"""Trying faults in netlists, one after the other, and going on later."""

from collections.abc import Callable, Collection, Mapping, Sequence
from enum import StrEnum
from pathlib import Path

from tools.abc import Answer
from tools.mutation.fault_rows import Row, read_rows, write_rows
from tools.mutation.netlist_equivalence import SECONDS, answers
from tools.mutation.netlist_faults import Fault, FaultyNetlist
from tools.mutation.trial import Result
from tools.verification import record

__all__ = ["Mode", "prove_faults", "survivors", "try_faults"]


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
    faults: Sequence[Fault],
    found_by: Callable[[Fault], tuple[Result, str]],
    *,
    mode: Mode,
    is_over: Callable[[], bool],
) -> None:
    """Try faults one after the other, and record each.

    Parameters
    ----------
    path : Path
        Of the record.
    faults : sequence of Fault
        In the order in which they are tried.
    found_by : callable
        Gives what became of a fault, and what has found it.
    mode : Mode
        Which are tried: those that are new, or those that survived.
    is_over : callable
        Says that no more shall be tried.
    """
    rows = read_rows(path)
    survived = survivors(rows)
    for fault in faults:
        if fault.number in rows if mode == Mode.NEW else fault.number not in survived:
            continue
        if is_over():
            return
        result, found = found_by(fault)
        if result == Result.SURVIVED:
            record.say(f"survived: {fault.module}: {fault.signal} {fault.change}")
        rows[fault.number] = _row(fault, result, found)
        write_rows(path, rows)


def prove_faults(
    path: Path,
    netlist: FaultyNetlist,
    faults: Sequence[Fault],
    *,
    is_over: Callable[[], bool],
    seconds: int = SECONDS,
    only_in: Collection[str] = (),
) -> None:
    """Record which survivors are proven to change nothing.

    Parameters
    ----------
    path : Path
        Of the record.
    netlist : FaultyNetlist
        With the faults.
    faults : sequence of Fault
        In the order in which they are tried.
    is_over : callable
        Says that no more shall be tried.
    seconds, only_in : int, collection of str
        See `answers`.
    """
    rows = read_rows(path)
    survived = survivors(rows)
    left = [fault for fault in faults if fault.number in survived]
    found = answers(netlist, left, seconds=seconds, only_in=only_in, is_over=is_over)
    for fault, module, answer in found:
        record.say(f"{fault.number} {fault.module}: shows in {module}: {answer}")
        if answer != Answer.NEVER:
            continue
        # A path has no numbers of Yosys, and the whole netlist none at all.
        parts = fault.module.split(".")[: module.count(".")]
        where = "" if module == fault.cell_module else f" in {'.'.join(parts) or module}"
        rows[fault.number] = _row(fault, Result.EQUIVALENT, f"proof{where}")
        write_rows(path, rows)


def survivors(rows: Mapping[int, Row]) -> set[int]:
    """Return numbers of faults that have survived."""
    return {number for number, row in rows.items() if row["result"] == Result.SURVIVED}


def _row(fault: Fault, result: Result, found_by: str) -> Row:
    return {
        "number": fault.number,
        "module": fault.module,
        "signal": fault.signal,
        "change": fault.change,
        "result": str(result),
        "found_by": found_by,
    }

"""How many cycles lists take, and what for: as the engine took them when that was recorded.

No definition says when each job of a list ends. But the same lists on the same memory take the same
cycles, so whatever changes the engine's pace is seen here.
"""

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path

from kiwicha.contract.engine import MAX_JOBS, EngineCounter, EngineOp
from kiwicha.errors import SimulationError
from tests.gateware.engine.campaign import Instruction, Outcome, Round

__all__ = ["Pace", "check_paces", "pace_of", "read_paces", "with_questions", "write_paces"]

Pace = list[int]
"""Answer of WAIT; cycles from START to it; answer of STATUS; each of `EngineCounter`; when each job
has ended, and the next one of another list, if this one was not stopped."""
_RECORD = Path(__file__).with_name("paces.json")


def _questions(given: Round) -> tuple[Instruction, ...]:
    # The end of a job that the list has not stays as it was.
    jobs = min((given.counts & 0xFFFF) + 1, MAX_JOBS)
    return (
        (EngineOp.STATUS, 0, 0, 0),
        *((EngineOp.COUNTER, counter, 0, 0) for counter in EngineCounter),
        *((EngineOp.JOB_END, 0, number, 0) for number in range(jobs)),
    )


def with_questions(given: Round) -> Round:
    """Return a list behind which the engine is asked for its pace as well."""
    return dataclasses.replace(given, after=(*given.after, *_questions(given)))


def pace_of(given: Round, outcome: Outcome) -> tuple[Outcome, Pace]:
    """Take apart what a list of `with_questions` left.

    Parameters
    ----------
    given : Round
        The list without these questions.
    outcome : Outcome
        What it left with them.
    """
    answers = outcome.after[len(given.after) :]
    # Ends of jobs that did not come are those of another list.
    kept = 1 + len(EngineCounter) if outcome.status else len(answers)
    pace = [outcome.status, outcome.cycles, *answers[:kept]]
    return dataclasses.replace(outcome, after=outcome.after[: len(given.after)]), pace


def check_paces(got: Sequence[Pace], wanted: Sequence[Pace]) -> None:
    """Compare what lists took with what is recorded.

    Raises
    ------
    SimulationError
        If a number differs.
    """
    if len(got) != len(wanted):
        raise SimulationError(f"{len(wanted)} lists are recorded, not {len(got)}")
    for number, (pace, other) in enumerate(zip(got, wanted, strict=True)):
        if pace != other:
            raise SimulationError(f"list {number} must take {other}, as recorded, not {pace}")


def read_paces() -> dict[str, list[Pace]]:
    """Return what is recorded, by the name of a batch of lists."""
    found: dict[str, list[Pace]] = json.loads(_RECORD.read_text(encoding="utf-8"))
    return found


def write_paces(paces: dict[str, list[Pace]]) -> None:
    """Record what batches took, one list to a line."""
    batches = []
    for name, lists in paces.items():
        lines = ",\n".join(json.dumps(pace) for pace in lists)
        batches.append(f"{json.dumps(name)}: [\n{lines}\n]")
    _RECORD.write_text("{\n" + ",\n".join(batches) + "\n}\n", encoding="utf-8")

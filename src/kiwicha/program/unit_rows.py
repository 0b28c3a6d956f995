"""Rows that jobs of a list count, by which the array and the depthwise unit wait for each other."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from kiwicha.contract.engine import MAX_U16, EngineJob, JobKind
from kiwicha.contract.moves import AnyJob

__all__ = [
    "MAX_ROWS_AHEAD",
    "UnitRows",
    "counted_rows",
    "group_wait",
    "inner_rows",
    "is_unit_job",
    "pairs_of",
    "unit_rows",
    "without_rows_before",
]

_WINDOWS = frozenset({JobKind.CONV, JobKind.DEPTHWISE, JobKind.MAX, JobKind.DEPTHWISE_UNIT})
_MODULUS = MAX_U16 + 1
MAX_ROWS_AHEAD = MAX_U16 // 2
"""By how many rows what a job waits for and what is written differ, at most: both wrap."""


def is_unit_job(job: AnyJob) -> bool:
    """Whether a job goes to the depthwise unit, not to the array."""
    return job.kind == JobKind.DEPTHWISE_UNIT


def pairs_of(groups: int) -> int:
    """Return in how many pairs the depthwise unit computes groups; the last can be a single one."""
    return -(-groups // 2)


def counted_rows(job: AnyJob) -> int:
    """Return how many rows a job counts."""
    if not isinstance(job, EngineJob) or job.kind not in _WINDOWS:
        return 1
    return (pairs_of(job.groups) if is_unit_job(job) else job.groups) * job.output_rows


def inner_rows(job: EngineJob) -> int:
    """Return how many input rows a group of a DEPTHWISE_UNIT job reads."""
    return max(min(job.first_row + job.first_index, job.input_rows) - max(job.first_row, 0), 0)


def group_wait(job: EngineJob, group: int) -> int:
    """Return for how many rows more than `wait_rows` a group of a DEPTHWISE_UNIT job waits.

    Both groups of a pair are read together: they wait for what the second one needs.
    """
    last = min(group | 1, job.groups - 1)
    return last // (2 if job.waits_in_pairs else 1) * job.wait_group_step


@dataclass(frozen=True)
class UnitRows:
    """Rows of a job, counted from the start of its list, not modulo 65536.

    Parameters
    ----------
    first, end : int
        Rows of its own unit before it, and behind it.
    wait : int
        Rows of the other unit by `wait_rows`: so many must be complete before its first input row
        is read, or more (`group_wait`).
    last_wait : int
        Those that must be before its last one is.
    """

    first: int
    end: int
    wait: int
    last_wait: int


def unit_rows(jobs: Sequence[AnyJob]) -> list[UnitRows]:
    """Return the rows of each job of a list.

    What a job waits for lies within `MAX_ROWS_AHEAD` rows of those of the other unit before it in
    the list.
    """
    rows = {False: 0, True: 0}
    found = []
    for job in jobs:
        is_unit = is_unit_job(job)
        others = rows[not is_unit]
        wait = others + (job.wait_rows - others + _MODULUS // 2) % _MODULUS - _MODULUS // 2
        more = 0
        if isinstance(job, EngineJob) and is_unit:
            more = group_wait(job, job.groups - 1)
            more += max(inner_rows(job) - 1, 0) * job.wait_row_step
        elif isinstance(job, EngineJob):
            more = max(job.output_rows - 1, 0) * job.wait_row_step
        end = rows[is_unit] + counted_rows(job)
        found.append(UnitRows(rows[is_unit], end, wait, wait + more))
        rows[is_unit] = end
    return found


def without_rows_before(job: AnyJob, rows: UnitRows, done: int) -> AnyJob:
    """Return a job of a list that begins behind so many rows of the other unit.

    Parameters
    ----------
    job : EngineJob, EngineMove or EngineRecurrence
        As it is in the longer list.
    rows : UnitRows
        Its rows there.
    done : int
        Rows of the other unit that are complete when the shorter list begins. Of rows that are
        among them a job may read some at first: then it begins with less than 0, which wraps.
    """
    if rows.last_wait > done:
        return dataclasses.replace(job, wait_rows=(rows.wait - done) & MAX_U16)
    if not isinstance(job, EngineJob):
        return dataclasses.replace(job, wait_rows=0)
    waits = {"wait_rows": 0, "wait_group_step": 0, "wait_row_step": 0, "waits_in_pairs": 0}
    return dataclasses.replace(job, **waits)

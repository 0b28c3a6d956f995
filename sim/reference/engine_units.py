"""Order of jobs of the array and of the depthwise unit, which work at the same time."""

from collections.abc import Callable, Sequence

import numpy as np

from kiwicha.contract.depthwise import UNIT_CHANNELS
from kiwicha.contract.engine import EngineJob
from kiwicha.contract.moves import AnyJob
from kiwicha.errors import ProgramError
from kiwicha.program.unit_rows import UnitRows, group_wait, inner_rows, is_unit_job, unit_rows
from kiwicha.sim.reference.scratchpad import Ints, Range

__all__ = ["check_units", "may_start"]

Ranges = Callable[[AnyJob], tuple[list[Range], list[Range]]]


def may_start(rows: UnitRows, other_rows: int) -> bool:
    """Whether a job can be done as a whole when the other unit has written so many rows."""
    return rows.last_wait <= other_rows


def check_units(jobs: Sequence[AnyJob], ranges: Ranges, size: int) -> None:
    """Check that jobs of the two units that can run at the same time do as if they did not.

    Parameters
    ----------
    jobs : sequence
        The list.
    ranges : callable
        Gives first bytes and ends of what a job reads as data, and of what it writes.
    size : int
        Bytes of the scratchpad.

    Raises
    ------
    ProgramError
        If one reads what the other has not written yet, or writes what the other needs.
    """
    rows = unit_rows(jobs)
    waited = _waited(jobs, rows)
    for u, unit_job in enumerate(jobs):
        if not is_unit_job(unit_job):
            continue
        for a, array_job in enumerate(jobs):
            if is_unit_job(array_job):
                continue
            if waited[u] >= rows[a].end or waited[a] >= rows[u].end:
                continue
            (unit_reads, unit_writes), (reads, writes) = ranges(unit_job), ranges(array_job)
            is_written = _meet(writes, unit_writes)
            unit_needs, array_needs = _meet(unit_reads, writes), _meet(reads, unit_writes)
            assert isinstance(unit_job, EngineJob)
            if unit_needs and not array_needs and not is_written:
                needs = _needs_of_unit(unit_job, rows[u], waited[u])
                _check_rows(array_job, rows[a], needs, size, (u, a))
            elif array_needs and not unit_needs and not is_written:
                needs = _needs_of_array(array_job, rows[a], waited[a])
                _check_rows(unit_job, rows[u], needs, size, (a, u))
            elif unit_needs or array_needs or is_written:
                raise ProgramError(f"jobs {a} and {u} must not run at the same time")


def _waited(jobs: Sequence[AnyJob], rows: Sequence[UnitRows]) -> list[int]:
    """Return how many rows of the other unit are complete when each job begins, at least.

    Those that it waits for at first, or that earlier jobs of its own unit have waited for.
    """
    last = {False: 0, True: 0}
    found = []
    for job, own in zip(jobs, rows, strict=True):
        is_unit = is_unit_job(job)
        found.append(max(own.wait, last[is_unit]))
        last[is_unit] = max(last[is_unit], own.last_wait)
    return found


def _meet(first: Sequence[Range], second: Sequence[Range]) -> bool:
    return any(a < d and c < b for a, b in first for c, d in second)


def _check_rows(
    writer: AnyJob,
    rows: UnitRows,
    needs: list[tuple[Ints, int]],
    size: int,
    numbers: tuple[int, int],
) -> None:
    """Check that what is read is complete when so many rows are."""
    if not isinstance(writer, EngineJob):
        raise ProgramError(f"job {numbers[0]} must wait for job {numbers[1]}")
    complete = np.zeros(size, np.int64)
    pixels = np.arange(writer.output_columns) * writer.output_pixel_bytes
    row_bytes = (writer.output_columns - 1) * writer.output_pixel_bytes + writer.output_row_step
    for group in range(writer.groups):
        channels = np.arange(_group_channels(writer, group))
        start = writer.output_address + group * writer.group_output_step
        for row in range(writer.output_rows):
            there = (start + row * row_bytes + pixels[:, None] + channels) % size
            # Of both groups of a pair the unit counts a row once.
            before = group // 2 if is_unit_job(writer) else group
            done = rows.first + before * writer.output_rows + row + 1
            complete[there] = np.maximum(complete[there], done)
    for addresses, count in needs:
        if complete[addresses % size].max(initial=0) > count:
            raise ProgramError(f"job {numbers[0]} must not read what job {numbers[1]} writes later")


def _group_channels(job: EngineJob, group: int) -> int:
    """Return how many channels of a group of a job of windows are written."""
    channels = max(job.group_output_step, UNIT_CHANNELS)
    if group == job.groups - 1 and channels > UNIT_CHANNELS and job.last_beats == 1:
        return channels // 2
    return channels


def _needs_of_unit(job: EngineJob, rows: UnitRows, waited: int) -> list[tuple[Ints, int]]:
    """Return what a job of the unit reads, and how many rows are complete then, row by row."""
    first = job.first_address + max(-job.first_row, 0) * job.kernel_row_step
    pixels = np.arange(job.row_words) * job.column_step
    octets = pixels[:, None] + np.arange(UNIT_CHANNELS)
    return [
        (
            first + group * job.group_input_step + row * job.kernel_row_step + octets,
            max(rows.wait + group_wait(job, group) + row * job.wait_row_step, waited),
        )
        for group in range(job.groups)
        for row in range(inner_rows(job))
    ]


def _needs_of_array(job: AnyJob, rows: UnitRows, waited: int) -> list[tuple[Ints, int]]:
    """Return the same of a job of the array, whose rows of the first group come first."""
    if not isinstance(job, EngineJob) or not job.wait_row_step:
        raise ProgramError("a job of the array must wait for rows that it reads of the unit")
    found = []
    kernel = np.arange(job.kernel_rows)[:, None] * job.kernel_row_step
    for row in range(job.output_rows):
        start = job.first_address + row * job.row_step
        inside = job.first_row + row * job.stride_rows + np.arange(job.kernel_rows)
        there = kernel[(inside >= 0) & (inside < job.input_rows)] + np.arange(job.row_span)
        found.append((start + there, max(rows.wait + row * job.wait_row_step, waited)))
    return found

"""For how many rows of the other unit jobs wait, of the array and of the depthwise unit."""

import dataclasses
from collections.abc import Sequence

from kiwicha.compiler.engine.ir.plan import Beside, Compute, Event, Job, Plan
from kiwicha.contract.depthwise import UNIT_CHANNELS
from kiwicha.contract.engine import MAX_U16, EngineJob
from kiwicha.contract.moves import AnyJob
from kiwicha.program.unit_rows import (
    MAX_ROWS_AHEAD,
    counted_rows,
    group_wait,
    is_unit_job,
    unit_rows,
)

__all__ = ["early_pairs", "has_few_rows", "with_row_waits"]


def with_row_waits(plan: Plan, jobs: Sequence[AnyJob]) -> tuple[AnyJob, ...]:
    """Return the jobs of a plan with what they wait for.

    A job of the unit follows the rows of the job of the array that writes its input; the job behind
    that one, and all after it, wait for it.
    """
    if not plan.beside:
        return tuple(jobs)
    rows = unit_rows(jobs)
    numbers = _job_numbers(plan)
    numbers_of = {job: event for event, job in numbers.items()}
    found = list(jobs)
    units = {numbers[pair.unit]: pair for pair in plan.beside}
    consumers = {numbers[pair.consumer]: pair for pair in plan.beside if pair.consumer is not None}
    waited = 0
    for number, job in enumerate(jobs):
        if number in units:
            pair = units[number]
            before = numbers[pair.before]
            if not pair.follows:
                wait = rows[before].first
                found[number] = dataclasses.replace(job, wait_rows=wait & MAX_U16)
                continue
            skipped = _skipped_rows(plan, pair.before, pair.unit)
            followed = jobs[before]
            assert isinstance(job, EngineJob)
            assert isinstance(followed, EngineJob)
            following = dataclasses.replace(job, wait_row_step=1)
            first = rows[before].first + skipped + 1
            if _has_pixels_apart(plan.events[pair.before]):
                following = dataclasses.replace(
                    following,
                    wait_group_step=followed.output_rows,
                    waits_in_pairs=followed.group_output_step // UNIT_CHANNELS - 1,
                )
            else:
                # A group has channels of several pixels: only the last one ends any pixel.
                first += (followed.groups - 1) * followed.output_rows
            found[number] = dataclasses.replace(following, wait_rows=first & MAX_U16)
            continue
        wait, step = waited, 0
        if number in consumers:
            pair = consumers[number]
            unit, its_rows = jobs[numbers[pair.unit]], rows[numbers[pair.unit]]
            wait = waited = its_rows.end
            if pair.is_paced:
                assert isinstance(unit, EngineJob)
                wait += 1 - unit.output_rows + _skipped_rows(plan, pair.unit, numbers_of[number])
                step = 1
        if isinstance(job, EngineJob):
            found[number] = dataclasses.replace(job, wait_rows=wait & MAX_U16, wait_row_step=step)
        else:
            found[number] = dataclasses.replace(job, wait_rows=wait & MAX_U16)
    return tuple(found)


def _has_pixels_apart(event: Event) -> bool:
    """Whether each group of a job has channels of the same number of each pixel."""
    return not isinstance(event, Compute) or event.columns is None


def early_pairs(plan: Plan, jobs: Sequence[AnyJob]) -> list[Beside]:
    """Return the pairs whose job of the unit reads rows that may not be written yet.

    It reads some that jobs before that which it follows have written, and waits for fewer rows than
    those there were.
    """
    rows = unit_rows(jobs)
    numbers = _job_numbers(plan)
    found = []
    for pair in plan.beside:
        reader, reading = plan.events[pair.unit], jobs[numbers[pair.unit]]
        assert isinstance(reader, Compute)
        assert isinstance(reading, EngineJob)
        wait = rows[numbers[pair.unit]].wait + group_wait(reading, 0)
        for event in range(pair.unit if pair.follows else 0):
            if event not in numbers or is_unit_job(jobs[numbers[event]]):
                continue
            writer, job, its_rows = plan.events[event], jobs[numbers[event]], rows[numbers[event]]
            if not writer.writes & reader.reads:
                continue
            needed = its_rows.end
            if isinstance(writer, Compute) and isinstance(job, EngineJob):
                skipped = reader.first_input_row - writer.first_output_row
                if skipped >= writer.output_rows:
                    continue
                if job.output_rows == writer.output_rows:
                    # Of the last group: row by row as the unit reads.
                    needed += skipped + 1 - job.output_rows
            if needed > wait:
                found.append(pair)
                break
    return found


def _job_numbers(plan: Plan) -> dict[int, int]:
    """Return the number of the job of each event that has one."""
    events = (number for number, event in enumerate(plan.events) if isinstance(event, Job))
    return {event: number for number, event in enumerate(events)}


def has_few_rows(plan: Plan, jobs: Sequence[AnyJob]) -> bool:
    """Whether counts of rows, which wrap, can be told from each other.

    When a job of the unit begins, all jobs of the array but the one before it, those beside it and
    the next two are done, or wait; of the unit there are not more.
    """
    array = [counted_rows(job) for job in jobs if not is_unit_job(job)]
    unit = [counted_rows(job) for job in jobs if is_unit_job(job)]
    together = [sum(rows[k : k + 6]) for rows in (array, unit) for k in range(len(rows))]
    return not plan.beside or max(together) <= MAX_ROWS_AHEAD


def _skipped_rows(plan: Plan, writer: int, reader: int) -> int:
    """Return how many rows of what a job writes come before the first that another one reads."""
    first, second = plan.events[writer], plan.events[reader]
    assert isinstance(first, Compute)
    assert isinstance(second, Compute)
    return second.first_input_row - first.first_output_row

"""Depthwise jobs that run beside the array: which ones, and where they stand in the order."""

import dataclasses
import itertools
import math
from collections.abc import Collection, Iterable, Iterator, Sequence

from kiwicha.compiler.engine.ir.plan import Beside, Compute, Event, Job, Transfer
from kiwicha.compiler.engine.ir.window import padded
from kiwicha.compiler.engine.ir.window_operations import Convolution, DepthwiseConvolution
from kiwicha.compiler.memory.placement import Buffer
from kiwicha.contract.depthwise import (
    LINE_COLUMNS,
    MAX_UNIT_KERNEL,
    PARAMETER_PLACES,
    PASS_PLACES,
    UNIT_CHANNELS,
    passes_of,
)
from kiwicha.contract.engine import SumFlag

__all__ = ["MOST_JOBS_AFTER", "beside", "is_for_unit", "kept_buffers"]

_JOBS_BACK = 2
"""Jobs before which a job of the unit can stand."""
MOST_JOBS_AFTER = 2
"""Jobs of the array behind it of which the last one waits for it at the latest."""


def is_for_unit(operation: object) -> bool:
    """Whether the depthwise unit can compute an operation, all of whose weights it holds."""
    if not isinstance(operation, DepthwiseConvolution) or operation.is_wide or operation.sums:
        return False
    window = operation.window
    groups = padded(operation.output_channels) // UNIT_CHANNELS
    passes = math.prod(passes_of(window.kernel_rows, window.kernel_columns))
    return (
        max(window.kernel_rows, window.kernel_columns) <= MAX_UNIT_KERNEL
        and window.dilation_rows == window.dilation_columns == 1
        and window.images == 1
        and not window.is_transposed
        and max(window.input_columns, window.output_columns) <= LINE_COLUMNS
        and groups <= PARAMETER_PLACES
        and groups * passes <= PASS_PLACES
    )


def beside(
    events: Sequence[Event], without: Collection[Event] = (), jobs_after: int = MOST_JOBS_AFTER
) -> tuple[list[Event], tuple[Beside, ...]]:
    """Return events in an order in which depthwise jobs run beside those before them.

    A depthwise job of the unit stands before the array's job that was before it: so its weights are
    there. If that one writes its input, it follows row by row; else it stands before the one before
    that, too, if it can, so that there is more to be beside.

    Parameters
    ----------
    events : sequence of Event
        In an order in which they could be executed one by one.
    without : collection of Event
        Jobs that stay on the array.
    jobs_after : int
        Behind a job of the unit, which job of the array waits for it at the latest.
    """
    found: list[Event] = []
    placed: list[tuple[Compute, Job]] = []
    on_unit: set[int] = set()
    for event in events:
        if not isinstance(event, Compute) or event in without:
            found.append(event)
            continue
        place = _place_of(found, event, placed, on_unit)
        if place is None:
            found.append(event)
            continue
        before = found[place]
        assert isinstance(before, Job)
        placed.append((event, before))
        on_unit.add(id(event))
        found.insert(place, event)
    found = _loads_first(found)
    places = {id(event): number for number, event in enumerate(found)}
    jobs = [item for item in events if isinstance(item, Job)]
    numbers = {id(job): number for number, job in enumerate(jobs)}
    consumers = [_consumer(jobs, numbers[id(job)], job, on_unit, jobs_after) for job, _ in placed]
    return found, tuple(
        Beside(
            unit=places[id(job)],
            before=places[id(before)],
            consumer=None if after is None else places[id(after)],
            follows=_follows(job, before),
            is_paced=after is not None and _reads_rows(after, job),
        )
        for (job, before), after in zip(placed, consumers, strict=True)
    )


def _consumer(
    jobs: Sequence[Job], place: int, event: Compute, on_unit: Collection[int], jobs_after: int
) -> Job | None:
    """Return the job of the array that waits for that of the unit here, with all jobs behind it.

    It is the first one that needs what the unit writes, or takes the place of what it reads. None:
    the end of the list does.
    """
    behind = (jobs[number] for number in range(place + 1, len(jobs)))
    array = (job for job in behind if id(job) not in on_unit)
    later = list(itertools.islice(array, jobs_after))
    for job in later:
        if (job.reads | job.writes) & event.writes or job.writes & event.reads:
            return job
    return later[-1] if len(later) == jobs_after else None


def _place_of(
    found: Sequence[Event],
    event: Compute,
    placed: Sequence[tuple[Compute, Job]],
    on_unit: Collection[int],
) -> int | None:
    """Return where an event can stand before a job of the array; None if it is not for the unit.

    All that the job of the unit before it is beside is in front of that: its weights give room.
    """
    backwards = range(len(found) - 1, -1, -1)
    jobs = (number for number in backwards if isinstance(found[number], Job))
    chosen = None
    for place in itertools.islice(jobs, _JOBS_BACK):
        before = found[place]
        assert isinstance(before, Job)
        if any(before is item for both in placed[-1:] for item in both):
            break
        if not _may_go(event, before) or _is_kept(found, place, event, on_unit):
            break
        chosen = place
        if _follows(event, before):
            break
    return chosen


def _is_kept(
    found: Sequence[Event],
    place: int,
    event: Compute,
    on_unit: Collection[int],
) -> bool:
    """Whether something behind a place, or what may still run there, needs an event's buffers."""
    before = found[place]
    touched = event.reads | event.writes
    array = _array_backwards(found, place, on_unit)
    return any((item.reads | item.writes) & touched for item in found[place + 1 :]) or any(
        (item.reads | item.writes) & event.writes
        for item in _possibly_running(array, event, before)
    )


def _array_backwards(
    events: Sequence[Event], end: int, on_unit: Collection[int]
) -> Iterator[Event]:
    """Yield the events before a place but the jobs of the unit, the last one first."""
    items = (events[number] for number in range(end - 1, -1, -1))
    return (item for item in items if id(item) not in on_unit)


def kept_buffers(
    before: Sequence[Event],
    events: Sequence[Event],
    pairs: Sequence[Beside],
    buffers: Sequence[Buffer],
) -> list[Buffer]:
    """Return buffers with their times for this order of events, given that of before.

    What a job of the unit reads is needed until the job of the array that reads its output begins,
    and beside it. What it writes is needed from the first job on that can be beside it.
    """
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    for number, event in enumerate(events):
        for buffer in event.reads | event.writes:
            first.setdefault(buffer, number)
            last[buffer] = number
    places = {id(event): number for number, event in enumerate(events)}
    on_unit = {id(events[pair.unit]) for pair in pairs}
    for pair in pairs:
        end = len(events) - 1 if pair.consumer is None else pair.consumer
        for buffer in events[pair.unit].reads | events[pair.unit].writes:
            last[buffer] = max(last[buffer], end)
        job, followed = events[pair.unit], events[pair.before]
        assert isinstance(job, Compute)
        array = _array_backwards(events, pair.unit, on_unit)
        for running in _possibly_running(array, job, followed):
            for buffer in job.writes:
                first[buffer] = min(first[buffer], places[id(running)])
    return [
        dataclasses.replace(
            buffer,
            first=first[number],
            last=max(last[number], places[id(before[buffer.last])]),
        )
        for number, buffer in enumerate(buffers)
    ]


def _loads_first(events: Sequence[Event]) -> list[Event]:
    """Return events with loads in front of the stores right before them, of other tensors.

    A store waits for all jobs that stand before its own in the list, so for that of the unit
    beside it; what the next one needs does not.
    """
    found: list[Event] = []
    for event in events:
        place = len(found)
        if isinstance(event, Transfer) and not event.is_store:
            while place and _lets_pass(found[place - 1], event):
                place -= 1
        found.insert(place, event)
    return found


def _lets_pass(before: Event, load: Transfer) -> bool:
    """Whether a load can come in front of what is before it, a store."""
    return isinstance(before, Transfer) and before.is_store and before.tensor != load.tensor


def _possibly_running(array: Iterable[Event], job: Compute, before: Event) -> list[Job]:
    """Return jobs of the array that may run when one of the unit begins, the last one first.

    Events come backwards. Such jobs are those before the one that it follows, as long as each has a
    row at least, up to the first that writes what it reads.
    """
    if not isinstance(before, Compute) or not _follows(job, before):
        return []
    rows_before = before.first_output_row - job.first_input_row
    found: list[Job] = []
    for event in array:
        if len(found) >= rows_before - 1:
            break
        if isinstance(event, Job):
            found.append(event)
        is_first = isinstance(event, Compute) and event.first_output_row <= job.first_input_row
        if is_first and event.writes & job.reads:
            break
    return found


def _may_go(job: Event, before: Event) -> bool:
    """Whether a job can run on the unit beside the job before it."""
    if not isinstance(job, Compute) or job.columns is not None or not is_for_unit(job.operation):
        return False
    if _follows(job, before):
        return True
    touched = before.reads | before.writes
    return not before.writes & job.reads and not touched & job.writes


def _follows(job: Compute, before: Event) -> bool:
    """Whether a job reads rows that the job before it writes, as it does."""
    if not isinstance(before, Compute) or not isinstance(before.operation, Convolution):
        return False
    return not before.operation.sums & SumFlag.KEEP and _reads_of(before, job)


def _reads_rows(job: Event, unit: Event) -> bool:
    """Whether a job reads row by row what a job of the unit writes."""
    if not isinstance(job, Compute) or not isinstance(unit, Compute):
        return False
    if not isinstance(job.operation, Convolution):
        return False
    window = job.operation.window
    is_pointwise = window.kernel_rows == window.stride_rows == 1 and window.pad_top == 0
    is_by_rows = job.output_rows == job.input_rows
    return is_pointwise and is_by_rows and _reads_of(unit, job)


def _reads_of(writer: Compute, reader: Compute) -> bool:
    """Whether rows that a job reads are those that another one writes, or were there before."""
    skipped = reader.first_input_row - writer.first_output_row
    place, start = reader.inputs[0], writer.output
    return (
        place.buffer == start.buffer
        and place.offset == start.offset + skipped * writer.output_row_bytes
        and writer.output_pitch == reader.input_pitch
        and 0 < skipped + reader.input_rows <= writer.output_rows
        and _writes_whole_rows(writer)
    )


def _writes_whole_rows(job: Compute) -> bool:
    """Whether a job writes all bytes of its rows: one pixel at a time, or several."""
    columns = job.columns or range(job.operation.window.output_columns)
    size = columns.step * job.output_pitch
    is_filled = columns.step == 1 or padded(job.operation.output_channels) == size
    return is_filled and columns.start == 0 and len(columns) * size == job.output_row_bytes

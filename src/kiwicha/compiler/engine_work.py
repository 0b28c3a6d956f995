"""What a job keeps busy: cycles of the walk that its descriptor describes."""

import math
from dataclasses import dataclass

from kiwicha.engine_packing import channels_per_group
from kiwicha.isa_engine import (
    GROUP_PARAMETER_BYTES,
    INPUT_LANES,
    TABLE_ENTRIES,
    EngineJob,
    JobFlag,
    JobKind,
)

__all__ = ["Work", "job_work"]

WALKER_START_CYCLES = 5
"""From the start of a group to its first operation, without kernel rows above the input."""
ROW_START_CYCLES = 3
"""What the walker needs for an output row, while it does the row before."""


@dataclass(frozen=True)
class Work:
    """What one group of a job keeps busy, in cycles.

    Parameters
    ----------
    operations : int
        Cycles in which the array or the tables work.
    held : int
        Cycles in which the requantizer holds the walker back.
    start : int
        Cycles before the first operation, and pauses between short rows.
    groups : int
        Groups of the job.
    fill_bytes : int
        Weight stream of a group.
    """

    operations: int
    held: int
    start: int
    groups: int
    fill_bytes: int


def job_work(job: EngineJob, macs: int) -> Work:
    """Return what a job does, from its descriptor."""
    outputs = macs // INPUT_LANES
    kind = JobKind(job.kind)
    if kind in {JobKind.ADD, JobKind.TABLE}:
        reads = 2 if kind is JobKind.ADD else 1
        operations = reads * job.run_words
        held = max(job.interval - reads, 0) * job.run_words
        size = outputs * GROUP_PARAMETER_BYTES + TABLE_ENTRIES * 8
        return Work(operations, held, WALKER_START_CYCLES, 1, size)
    channels = channels_per_group(macs, kind, JobFlag(job.flags))
    size = channels * GROUP_PARAMETER_BYTES + job.group_words * macs
    total = held = late = previous = 0
    start = WALKER_START_CYCLES
    for row in range(job.output_rows):
        above, inside = _kernel_rows(job, row)
        if kind is JobKind.CONV:
            per_result = [inside * job.row_words] * job.output_columns
        else:
            per_result = _depthwise_results(job, inside)
        operations = sum(per_result)
        waits = sum(max(job.interval - count - 1, 0) for count in per_result)
        needed = ROW_START_CYCLES + above
        if row == 0:
            start += above
        else:
            late += max(needed - previous, 0)
        previous = operations + waits
        total, held = total + operations, held + waits
    return Work(total, held, start + late, job.groups, size)


def _kernel_rows(job: EngineJob, row: int) -> tuple[int, int]:
    """Return the kernel rows above the input, and those the walker visits."""
    first = job.first_row + row * job.stride_rows
    above = min(max(math.ceil(-first / job.dilation_rows), 0), job.kernel_rows - 1)
    left = job.kernel_rows - above
    start = first + above * job.dilation_rows
    below = math.ceil((job.input_rows - start) / job.dilation_rows)
    return above, max(min(left, below), 1)


def _depthwise_results(job: EngineJob, inside: int) -> list[int]:
    """Return the operations of each step to a result, dropped ones included."""
    steps = job.skip_results + job.output_columns
    columns = -(-job.row_span // job.column_step)
    counts = []
    column = 0
    for step in range(steps):
        phases = job.stride_columns - (job.first_phase if step == 0 else 0)
        within = min(max(columns - column, 0), phases)
        counts.append(within * inside + phases - within)
        column += phases
    return counts

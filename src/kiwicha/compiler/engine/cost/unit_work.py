"""What a job of the depthwise unit keeps busy: cycles of what its descriptor describes."""

import math
from dataclasses import dataclass

from kiwicha.contract.depthwise import (
    LINE_SLOTS,
    UNIT_CHANNELS,
    has_own_reads,
    has_own_results,
)
from kiwicha.contract.engine import LINE_BYTES, EngineJob, JobFlag, JobKind, SumFlag
from kiwicha.contract.moves import AnyJob
from kiwicha.program.unit_rows import is_unit_job

__all__ = [
    "ArrayShares",
    "UnitWork",
    "array_shares",
    "line_writes",
    "stolen_shares",
    "unit_work",
]

_ROW_FETCH_CYCLES = 3
"""What the reads of a row take besides its pixels."""
_ROW_COMPUTE_CYCLES = 2
"""What a row takes besides its columns."""


@dataclass(frozen=True)
class UnitWork:
    """Rows of a job of the unit, of one pair of groups.

    Parameters
    ----------
    input_rows : tuple of bool
        For each row that is read whether it is inside the input.
    pixels, row_fetch, row_compute : int
        Reads of an input row; what its reads take besides them; what an output row of a group
        takes.
    outputs : int
        Pixels of an output row of a group.
    starts : tuple of int
        For each output row its first input row.
    kernel_rows : int
        How many it needs from there on.
    slots : int
        Input rows that the unit holds.
    """

    input_rows: tuple[bool, ...]
    pixels: int
    row_fetch: int
    row_compute: int
    outputs: int
    starts: tuple[int, ...]
    kernel_rows: int
    slots: int


def unit_work(job: EngineJob) -> UnitWork:
    """Return what a job of the unit does, from its descriptor."""
    assert is_unit_job(job)
    # Two pixels of a single group come at a time.
    is_dense = job.groups == 1 and job.column_step == UNIT_CHANNELS
    return UnitWork(
        input_rows=tuple(
            0 <= job.first_row + row < job.input_rows for row in range(job.first_index)
        ),
        pixels=math.ceil(job.row_words / 2) if is_dense else job.row_words,
        row_fetch=_ROW_FETCH_CYCLES,
        row_compute=job.group_words * job.segment_words + _ROW_COMPUTE_CYCLES,
        outputs=job.output_columns,
        starts=tuple(row * job.stride_rows for row in range(job.output_rows)),
        kernel_rows=job.kernel_rows,
        slots=LINE_SLOTS,
    )


@dataclass(frozen=True)
class ArrayShares:
    """Which shares of its cycles a job of the array leaves to the unit.

    Parameters
    ----------
    reads : float
        Cycles in which it does not read.
    results : float
        Cycles in which it has no result, or writes none.
    may_pause : bool
        It leaves more if the unit waits.
    """

    reads: float
    results: float
    may_pause: bool


def line_writes(job: AnyJob, writes: float, macs: int) -> float:
    """Return the cycles of a group in which results are written, of those in which there are some.

    Where the unit has a requantizer of its own two beats that fill a line are written at once.

    Parameters
    ----------
    job : EngineJob, EngineMove or EngineRecurrence
        The job.
    writes : float
        Those of a group with results.
    macs : int
        Products per cycle of the array.
    """
    if not has_own_results(macs) or not isinstance(job, EngineJob):
        return writes
    if job.sums & SumFlag.KEEP:
        return 0.0
    if not job.flags & JobFlag.PACKED or job.flags & JobFlag.WIDE:
        return writes
    steps = job.output_address | job.output_pixel_bytes | job.output_row_step
    return writes if (steps | job.group_output_step) % LINE_BYTES else writes / 2


def array_shares(job: AnyJob, cycles: int, writes: float, macs: int) -> ArrayShares:
    """Return what a job leaves, given the cycles of a group and those with results.

    Parameters
    ----------
    job : EngineJob, EngineMove or EngineRecurrence
        The job.
    cycles : int
        Of a group.
    writes : float
        Those of them with results that keep the unit's from being taken.
    macs : int
        Products per cycle of the array.
    """
    used = _used_reads(macs)
    if not isinstance(job, EngineJob) or job.kind == JobKind.SOFTMAX or job.flags & JobFlag.WIDE:
        return ArrayShares(1.0 - used, 0.0, may_pause=False)
    if job.kind == JobKind.CONV and used:
        is_dense = job.kernel_rows == job.segments == 1
        is_dense &= job.column_step == 8 * job.row_words
        used = 0.5 if is_dense else math.ceil(job.segment_words / 2) / job.segment_words
    return ArrayShares(1.0 - used, max(1.0 - writes / cycles, 0.0), may_pause=True)


def stolen_shares(macs: int) -> ArrayShares:
    """Return what is left of cycles that the unit took from the array before."""
    return ArrayShares(1.0 - _used_reads(macs), 0.0, may_pause=False)


def _used_reads(macs: int) -> float:
    """Return the share of the unit's reads that the array takes when it reads in each cycle."""
    return 0.0 if has_own_reads(macs) else 1.0

"""Sums behind convolutions in numpy: the job that brings tables, and what they add."""

import math

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.engine import (
    FUSED_BITS,
    FUSED_FRACTION_BITS,
    OUTPUT_BYTES,
    EngineJob,
    JobFlag,
    JobKind,
    SumFlag,
)
from kiwicha.contract.latencies import FUSED_BEAT_CYCLES
from kiwicha.errors import ProgramError
from kiwicha.program.weight_streams import channels_per_group, unpack_tables
from kiwicha.sim.reference.scratchpad import Ints, Range, Scratchpad

__all__ = ["brings_tables", "fused_sums", "keep_tables", "second_range"]

_LIMIT = 1 << (FUSED_BITS - 1)


def brings_tables(job: EngineJob) -> bool:
    """Whether a job does nothing but bring tables for those behind it."""
    return job.kind == JobKind.ADD and bool(job.flags & JobFlag.FUSED)


def keep_tables(job: EngineJob, stream: bytes, macs: int, scratchpad: Scratchpad) -> None:
    """Execute a job that brings tables.

    Raises
    ------
    ProgramError
        If it has several groups, or a term does not fit.
    ValueError
        If the stream has another size.
    """
    if job.groups != 1 or job.flags & JobFlag.CHANNELS:
        raise ProgramError(f"a job of tables for others must have one group ({job})")
    _, tables = unpack_tables(stream, job.groups, macs)
    if np.abs(tables).max() >= _LIMIT:
        raise ProgramError(f"terms must have {FUSED_BITS} bits")
    scratchpad.tables = tables[0]


def second_range(job: EngineJob, output: Range) -> Range:
    """Return first byte and end of what is added to the output of a job."""
    distance = _distance(job)
    return output[0] + distance, output[1] + distance


def fused_sums(
    job: EngineJob,
    addresses: Ints,
    values: NDArray[np.int8],
    macs: int,
    scratchpad: Scratchpad,
) -> NDArray[np.int8]:
    """Return results with what is added to them.

    Parameters
    ----------
    job : EngineJob
        A CONV.
    addresses : int64 [pixels, channels]
        Where results go.
    values : int8 [pixels, channels]
        The results.
    macs : int
        Products per cycle.
    scratchpad : Scratchpad
        With tables and the second tensor.

    Raises
    ------
    ProgramError
        If there are no tables, if the second tensor was not written, if results come too fast, or
        if a sum does not fit.
    """
    if scratchpad.tables is None:
        raise ProgramError("tables must come before a job that adds by them")
    distance = _distance(job)
    if not distance or distance % OUTPUT_BYTES or job.sums & SumFlag.KEEP:
        raise ProgramError(f"a second tensor must be at another multiple of {OUTPUT_BYTES} ({job})")
    _check_pace(job, macs)
    places = addresses + distance
    if not scratchpad.is_written[places].all():
        raise ProgramError("a second tensor must be written before it is added")
    tables = scratchpad.tables
    sums = tables[values.view(np.uint8), 0] + tables[scratchpad.bytes[places], 1]
    if np.abs(sums).max(initial=0) >= _LIMIT:
        raise ProgramError(f"sums of terms must have {FUSED_BITS} bits")
    results: NDArray[np.int8] = (sums >> FUSED_FRACTION_BITS).clip(-128, 127).astype(np.int8)
    return results


def _distance(job: EngineJob) -> int:
    """Return how far the second tensor lies behind the output."""
    distance = job.input_2_address
    return distance - (1 << 32) if distance >> 31 else distance


def _check_pace(job: EngineJob, macs: int) -> None:
    """Check that sums keep pace with results."""
    row = job.first_row + np.arange(job.output_rows)[:, None] * job.stride_rows
    row = row + np.arange(job.kernel_rows) * job.dilation_rows
    is_visited = (row >= 0) & (row < job.input_rows) | bool(job.flags & JobFlag.PACKED)
    operations = int(is_visited.sum(axis=1).min()) * job.row_words
    if job.flags & JobFlag.GATHERED:
        operations = job.group_words
    pace = max(operations, job.interval)
    channels = channels_per_group(macs, JobKind.CONV, JobFlag(job.flags))
    needed = math.ceil(channels / OUTPUT_BYTES) * FUSED_BEAT_CYCLES
    if pace < needed:
        raise ProgramError(f"results to which others are added must be {needed} cycles apart")

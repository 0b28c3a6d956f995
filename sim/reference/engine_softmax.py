"""SOFTMAX jobs of the engine in numpy: rows of any pitch, from the descriptor and its tables."""

import numpy as np

from kiwicha.contract.engine import (
    INPUT_LANES,
    MAX_SOFTMAX_DEPTH,
    TABLE_ENTRIES,
    TABLE_ENTRY_BYTES,
    EngineJob,
    JobFlag,
    outputs_of,
)
from kiwicha.errors import ProgramError
from kiwicha.kernels.log_softmax import log_softmax_rows
from kiwicha.kernels.softmax import softmax_rows
from kiwicha.numerics.logarithm import MAX_DISTANCE
from kiwicha.program.weight_streams import unpack_tables
from kiwicha.sim.reference.scratchpad import Ints, Range, Scratchpad

__all__ = ["is_in_place", "softmax", "softmax_read", "softmax_write"]

_ZERO_POINTS = (0, -128)
_LOGARITHM_ZERO_POINTS = (127, -1)


def softmax_read(job: EngineJob) -> Range:
    """Return first byte and end of what a job reads."""
    return _range(job, job.first_address, job.row_step)


def softmax_write(job: EngineJob) -> Range:
    """Return first byte and end of what a job writes."""
    return _range(job, job.output_address, job.output_row_step)


def is_in_place(job: EngineJob) -> bool:
    """Whether each row's result replaces the row."""
    return (job.first_address, job.row_step) == (job.output_address, job.output_row_step)


def softmax(job: EngineJob, stream: bytes, macs: int, scratchpad: Scratchpad) -> None:
    """Execute a SOFTMAX.

    Raises
    ------
    ProgramError
        If a field is out of range, or a byte was not written before it is read.
    ValueError
        If the stream has another size.
    """
    size = job.group_words * INPUT_LANES * outputs_of(macs)
    if size != TABLE_ENTRIES * TABLE_ENTRY_BYTES or job.groups != 1:
        raise ProgramError(f"a softmax must have one group with the size of the tables ({job})")
    if job.flags & ~int(JobFlag.CODED | JobFlag.LOGARITHMS):
        raise ProgramError(
            f"flags of a softmax must be CODED and LOGARITHMS, or none, not {job.flags:#x}"
        )
    has_logarithms = bool(job.flags & JobFlag.LOGARITHMS)
    zero_points = _LOGARITHM_ZERO_POINTS if has_logarithms else _ZERO_POINTS
    depth = job.segment_words
    if not 1 <= depth <= MAX_SOFTMAX_DEPTH or job.output_zero_point not in zero_points:
        raise ProgramError(
            f"a softmax must have rows of 1 to {MAX_SOFTMAX_DEPTH} elements and an output with a"
            f" zero point of {zero_points[0]} or {zero_points[1]}, not {depth} and"
            f" {job.output_zero_point}"
        )
    if job.output_rows > 1 and min(job.row_step, job.output_row_step) < depth:
        raise ProgramError(f"rows of a softmax must not overlap ({job})")
    _, tables = unpack_tables(stream, job.groups, macs)
    sources = _addresses(job, job.first_address, job.row_step)
    if not scratchpad.is_written[sources].all():
        raise ProgramError(f"what a softmax reads must be written before ({job})")
    rows = scratchpad.bytes[sources].view(np.int8)
    exponentials, distances = tables[0, :, 0], tables[0, :, 1]
    if not has_logarithms:
        values = softmax_rows(rows, exponentials, job.output_zero_point)
    elif ((distances >= 0) & (distances <= MAX_DISTANCE)).all():
        values = log_softmax_rows(rows, exponentials, distances, job.output_zero_point)
    else:
        raise ProgramError(f"distances of a softmax must be 0 to {MAX_DISTANCE} ({job})")
    scratchpad.write(_addresses(job, job.output_address, job.output_row_step), values)


def _addresses(job: EngineJob, first: int, row_step: int) -> Ints:
    addresses: Ints = (
        first + np.arange(job.output_rows)[:, None] * row_step + np.arange(job.segment_words)
    )
    return addresses


def _range(job: EngineJob, first: int, row_step: int) -> Range:
    return first, first + (job.output_rows - 1) * row_step + job.segment_words

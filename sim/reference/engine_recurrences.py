"""RECURRENT jobs of the engine in numpy, from the descriptor."""

import itertools

import numpy as np

from kiwicha.contract.engine import JobFlag
from kiwicha.contract.recurrences import (
    FRACTION_BITS,
    GATE_BYTES,
    GATES,
    MAX_CELL_SHIFT,
    MAX_HIDDEN_SHIFT,
    EngineRecurrence,
)
from kiwicha.errors import ProgramError
from kiwicha.numerics.lstm_steps import CellScales, lstm_step
from kiwicha.sim.reference.scratchpad import Ints, Range, Scratchpad

__all__ = ["check_recurrence", "execute_recurrence", "recurrence_reads", "recurrence_writes"]

_LEAST_MULTIPLIER = 1 << 30
_SHORT_BYTES = 2


def recurrence_reads(job: EngineRecurrence) -> list[Range]:
    """Return first bytes and ends of what a job reads."""
    size = GATES * job.units
    sums = (job.input_sums, job.hidden_sums)
    starts = [first + plane for first in sums for plane in (0, job.lower_step)]
    return [*((start, start + size) for start in starts), _cell(job)]


def recurrence_writes(job: EngineRecurrence) -> list[Range]:
    """Return first bytes and ends of what a job writes."""
    if not _is_short(job):
        return [(first, first + job.units) for first in (job.output, job.hidden)] + [_cell(job)]
    planes = (job.hidden, job.hidden + job.upper_step)
    return [
        (job.output, job.output + _SHORT_BYTES * job.units),
        *((first, first + job.units) for first in planes),
        _cell(job),
    ]


def check_recurrence(job: EngineRecurrence, *, has_recurrent: bool) -> None:
    """Check that the engine has such jobs, and that the fields are in range.

    Raises
    ------
    ProgramError
        If not.
    """
    if not has_recurrent:
        raise ProgramError("a job must not be RECURRENT on an engine without such jobs")
    reserved = (*job.reserved, *job.reserved_end, job.reserved_byte, job.reserved_sums)
    reserved += (job.reserved_half, job.reserved_1, job.reserved_2, job.wait_rows)
    if any(reserved) or job.flags & ~JobFlag.SHORT or (job.upper_step and not _is_short(job)):
        raise ProgramError(f"what is reserved in a recurrence must be 0 ({job})")
    is_in_range = (
        (job.interval, job.groups) == (1, 1)
        and job.units >= 1
        and abs(job.lower_step) >= GATES * job.units
        and job.cell % GATE_BYTES == 0
        and (not _is_short(job) or job.output % _SHORT_BYTES == 0)
        and job.cell_shift <= MAX_CELL_SHIFT
        and 1 <= job.hidden_shift <= MAX_HIDDEN_SHIFT
        and job.hidden_multiplier >= _LEAST_MULTIPLIER
        and job.cell_min <= job.cell_max
    )
    if not is_in_range:
        raise ProgramError(f"fields of a recurrence must be in their ranges ({job})")


def execute_recurrence(job: EngineRecurrence, scratchpad: Scratchpad) -> None:
    """Execute a recurrence.

    Raises
    ------
    ProgramError
        If it leaves the scratchpad, reads a byte that was not written, or writes one twice or one
        that it reads, but for the cell state.
    """
    size = len(scratchpad.bytes)
    reads, writes = recurrence_reads(job), recurrence_writes(job)
    for start, end in (*reads, *writes):
        if start < 0 or end > size:
            raise ProgramError(f"a recurrence must stay in a scratchpad of {size} ({job})")
    for start, end in reads:
        if not scratchpad.is_written[start:end].all():
            raise ProgramError(f"what a recurrence reads must be written before ({job})")
    for (start, end), (first, last) in (
        *itertools.product(reads, writes[:-1]),
        *itertools.product(reads[:-1], writes[-1:]),
        *itertools.combinations(writes, 2),
    ):
        if start < last and first < end:
            raise ProgramError(f"a recurrence must not write what it reads, or twice ({job})")
    at, limits = np.arange(job.units), np.iinfo(np.int16 if _is_short(job) else np.int8)
    cells = job.cell + np.arange(GATE_BYTES * job.units)
    cell, hidden = lstm_step(
        _sums(job, job.input_sums, scratchpad),
        _sums(job, job.hidden_sums, scratchpad),
        scratchpad.bytes[cells].view("<i2").astype(np.int64),
        CellScales(
            cell_exponent=job.cell_shift - FRACTION_BITS,
            cell_min=job.cell_min,
            cell_max=job.cell_max,
            hidden_multiplier=job.hidden_multiplier,
            hidden_shift=-job.hidden_shift,
            hidden_offset=job.hidden_zero_point,
            hidden_min=int(limits.min),
            hidden_max=int(limits.max),
        ),
    )
    scratchpad.write(cells, cell.astype("<i2").view(np.int8))
    if not _is_short(job):
        for first in (job.output, job.hidden):
            scratchpad.write(first + at, hidden.astype(np.int8))
        return
    octets = hidden.astype("<i2").view(np.int8)
    scratchpad.write(job.output + np.arange(len(octets)), octets)
    for plane in range(_SHORT_BYTES):
        scratchpad.write(job.hidden + plane * job.upper_step + at, octets[plane::_SHORT_BYTES])


def _sums(job: EngineRecurrence, first: int, scratchpad: Scratchpad) -> Ints:
    """Return the int16 of two planes, [units, gates]."""
    upper = first + np.arange(GATES * job.units)
    values: Ints = scratchpad.gather(upper) * 256 + (
        scratchpad.gather(upper + job.lower_step) & 0xFF
    )
    return values.reshape(job.units, GATES)


def _is_short(job: EngineRecurrence) -> bool:
    return bool(job.flags & JobFlag.SHORT)


def _cell(job: EngineRecurrence) -> Range:
    return job.cell, job.cell + GATE_BYTES * job.units

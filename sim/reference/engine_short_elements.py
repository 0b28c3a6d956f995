"""SHORT_ELEMENTS jobs of the engine in numpy, from the descriptor."""

from collections.abc import Sequence

import numpy as np

from kiwicha.contract.engine import JobFlag
from kiwicha.contract.short_elements import (
    ELEMENT_LANES,
    PAIRS,
    SHORT_BYTES,
    EngineShortElements,
    ShortForm,
    ShortOperator,
)
from kiwicha.errors import ProgramError
from kiwicha.numerics.requantization import wrap_int32
from kiwicha.numerics.short_elements import ElementScales, short_elements
from kiwicha.sim.reference.scratchpad import Ints, Range, Scratchpad

__all__ = ["check_elements", "elements_reads", "elements_writes", "execute_elements"]

_FLAGS = JobFlag.WIDE | JobFlag.SHORT


def elements_reads(job: EngineShortElements) -> list[Range]:
    """Return first bytes and ends of what a job reads."""
    return [_span(octets) for octets in _inputs(job)]


def elements_writes(job: EngineShortElements) -> list[Range]:
    """Return first bytes and ends of what a job writes."""
    lowers, uppers = _outputs(job)
    if job.form == ShortForm.WHOLE:
        return [_span(np.concatenate([lowers, uppers]))]
    return [_span(lowers), _span(uppers)]


def check_elements(job: EngineShortElements, *, has_elements: bool) -> None:
    """Check that the engine has such jobs, and that the fields are in range.

    Raises
    ------
    ProgramError
        If not.
    """
    if not has_elements:
        raise ProgramError("a job must not be SHORT_ELEMENTS on an engine without such jobs")
    reserved = (
        *(job.reserved_byte, job.reserved_word, job.reserved_sums, job.wait_rows),
        *(job.reserved_half, job.reserved_half_2, job.reserved_end, job.reserved_1),
        *(job.reserved_2, job.output_zero_point),
    )
    if any(reserved):
        raise ProgramError(f"what is reserved in a job of int16 must be 0 ({job})")
    is_sum = job.operator in {ShortOperator.ADD, ShortOperator.SUB}
    is_leaky = job.operator == ShortOperator.LEAKY_RELU
    unit = 2 * ELEMENT_LANES if job.form == ShortForm.WHOLE else ELEMENT_LANES
    places = (job.output_address, job.output_column_step, job.output_row_step)
    is_in_range = (
        (job.interval, job.groups, job.flags) == (1, 1, _FLAGS)
        and job.operator in {*ShortOperator}
        and job.form in {*ShortForm}
        and min(job.rows, job.columns, job.blocks, job.kernel_rows, job.kernel_columns) >= 1
        and not any(place % unit for place in places)
        and job.output_lower_step % ELEMENT_LANES == 0
        and min(job.multiplier_1, job.multiplier_2, job.output_multiplier) >= 0
        and -31 <= job.output_shift <= 30
        and job.activation_min <= job.activation_max
    )
    is_in_range &= not is_sum or (-31 <= job.shift_1 <= 0 and -31 <= job.shift_2 <= 0)
    is_in_range &= not is_leaky or -31 <= job.shift_2 <= 30
    if not is_in_range:
        raise ProgramError(f"fields of a job of int16 must be in their ranges ({job})")


def execute_elements(job: EngineShortElements, scratchpad: Scratchpad) -> None:
    """Execute a job.

    Raises
    ------
    ProgramError
        If it leaves the scratchpad, or writes a byte twice, or one that a later beat reads.
    """
    size = len(scratchpad.bytes)
    inputs, (lowers, uppers) = _inputs(job), _outputs(job)
    for octets in (*inputs, lowers, uppers):
        if octets.min() < 0 or octets.max() >= size:
            raise ProgramError(f"a job of int16 must stay in a scratchpad of {size} ({job})")
    _check_order(job, inputs, (lowers, uppers), size)
    numbers = [
        scratchpad.gather(uppers_read) * 256 + (scratchpad.gather(lowers_read) & 0xFF)
        for lowers_read, uppers_read in zip(inputs[::2], inputs[1::2], strict=True)
    ]
    if job.operator == ShortOperator.MAX:
        numbers[0] = np.moveaxis(numbers[0], 1, -1)
    elif len(numbers) < SHORT_BYTES:
        numbers[0] = numbers[0][:, 0]
    else:
        numbers = [values[:, 0] for values in numbers]
    scales = ElementScales(
        (job.multiplier_1, job.shift_1),
        (job.multiplier_2, job.shift_2),
        (job.output_multiplier, job.output_shift),
        (job.activation_min, job.activation_max),
    )
    results = short_elements(ShortOperator(job.operator), scales, *numbers)
    # Numbers behind the tensors are computed along: results are as undefined as they are.
    is_written = np.logical_and.reduce([
        scratchpad.is_written[octets].all(axis=1) for octets in inputs
    ])
    scratchpad.write(lowers, results.astype(np.uint8).view(np.int8))
    scratchpad.write(uppers, (results >> 8).astype(np.int8))
    for octets in (lowers, uppers):
        scratchpad.is_written[octets] = is_written


def _check_order(
    job: EngineShortElements, inputs: Sequence[Ints], outputs: Sequence[Ints], size: int
) -> None:
    """Check that no byte is written twice, or is read by a beat behind the one that writes it."""
    written = np.full(size, -1, np.int64)
    beats = np.arange(len(outputs[0]))[:, None]
    for octets in outputs:
        if (written[octets] >= 0).any():
            raise ProgramError(f"a job of int16 must not write a byte twice ({job})")
        written[octets] = np.broadcast_to(beats, octets.shape)
    for octets in inputs:
        before = written[octets]
        if ((before >= 0) & (before < beats[..., None])).any():
            raise ProgramError(f"a job of int16 must not write what it reads later ({job})")


def _inputs(job: EngineShortElements) -> list[Ints]:
    """Return addresses of lower and of upper bytes of each input, [beats, window, numbers]."""
    is_window = job.operator == ShortOperator.MAX
    window = _steps(
        (job.kernel_rows, job.kernel_columns),
        (job.kernel_row_step, job.kernel_column_step),
    )
    first = job.first_address + _beats(job, job.row_step, job.column_step)
    starts = [first[:, None] + (window if is_window else 0)]
    if job.operator in PAIRS:
        second = job.second_address + _beats(job, job.second_row_step, job.second_column_step)
        starts.append(second[:, None])
    found = []
    for start in starts:
        octets = start[..., None] + _numbers(job)
        found += [octets, octets + (1 if job.form == ShortForm.WHOLE else job.upper_step)]
    return found


def _outputs(job: EngineShortElements) -> tuple[Ints, Ints]:
    """Return addresses of lower and of upper bytes of results, [beats, numbers]."""
    first = job.output_address + _beats(job, job.output_row_step, job.output_column_step)
    octets = first[:, None] + _numbers(job)
    if job.form == ShortForm.WHOLE:
        return octets, octets + 1
    return octets + _signed(job.output_lower_step), octets


def _numbers(job: EngineShortElements) -> Ints:
    """Return where the numbers of a beat are."""
    return np.arange(ELEMENT_LANES) * (SHORT_BYTES if job.form == ShortForm.WHOLE else 1)


def _beats(job: EngineShortElements, row_step: int, column_step: int) -> Ints:
    """Return where beats are, counted from the first one."""
    unit = ELEMENT_LANES * (SHORT_BYTES if job.form == ShortForm.WHOLE else 1)
    pixels = _steps((job.rows, job.columns), (row_step, column_step))
    return (unit * np.arange(job.blocks)[:, None] + pixels).reshape(-1)


def _steps(counts: tuple[int, int], steps: tuple[int, int]) -> Ints:
    """Return where the columns of rows are, row by row, given the way from each to the next."""
    row_bytes = (counts[1] - 1) * steps[1] + _signed(steps[0])
    places: Ints = np.add.outer(np.arange(counts[0]) * row_bytes, np.arange(counts[1]) * steps[1])
    return places.reshape(-1)


def _signed(step: int) -> int:
    """Return a step modulo 2**32 as one that can be negative."""
    return int(wrap_int32(step))


def _span(octets: Ints) -> Range:
    return int(octets.min()), int(octets.max()) + 1

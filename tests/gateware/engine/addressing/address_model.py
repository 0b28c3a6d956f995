"""The order of work of the address generators and its cycles, defined in Python."""

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from kiwicha.contract.engine import (
    ELEMENT_KINDS,
    INPUT_LANES,
    PAIR_KINDS,
    READ_BYTES,
    EngineJob,
    JobFlag,
    JobKind,
    input_lanes_of,
)

__all__ = ["Operation", "schedule"]

_SEARCH_CYCLES = 3
"""From the start of a group, or from the begin of an output row, until the next row is found."""
_NEXT_GROUP_CYCLES = 1
"""From the begin of a group's last output row until the next group can start."""
_ISSUE_CYCLES = 2
"""From there to the first operation of that row."""
_SQUARE_PAUSE = 3
"""From the earliest cycle of the result of a square to the next one in which it can come."""
_LONG_AGO = 1000


@dataclass(frozen=True)
class Operation:
    """One operation of an address generator; ``lanes`` are the bytes of the read that count."""

    address: int
    lanes: range
    index: int
    last: bool
    first: bool = False
    shift: bool = False
    is_dropped: bool = False
    ends_row: bool = False
    carried: int = 0


def schedule(
    job: EngineJob, ready: Sequence[int], first_cycle: int = 0, *, macs: int
) -> list[list[tuple[int, Operation]]]:
    """Return the operations of a job's groups, each with its cycle.

    There are no gaps, save that operations with ``last`` are ``job.interval`` cycles apart, those
    of squares so many or three more and above, and that an output row waits until its first kernel
    row inside the input is found. That search starts when the row before is begun, and for the
    first row of a group also not before its weights are there.

    Parameters
    ----------
    job : EngineJob
        The job.
    ready : sequence of int
        For each group the cycle in which its weights are there, or earlier.
    first_cycle : int
        When the first group can begin.
    macs : int
        Products per cycle.
    """
    if job.kind in ELEMENT_KINDS:
        return _element_schedule(job, ready, first_cycle)
    groups: list[list[tuple[int, Operation]]] = []
    free, searched, last = 0, first_cycle, -job.interval
    for group, weights_ready in enumerate(ready):
        searched = max(searched, weights_ready)
        issued: list[tuple[int, Operation]] = []
        for number in range(job.output_rows):
            begun = max(free, searched + _SEARCH_CYCLES + _rows_above(job, number))
            operations = (
                _depthwise_operations(job, number, group * job.group_input_step)
                if job.kind == JobKind.DEPTHWISE
                else _conv_operations(job, number, group * job.group_input_step, macs)
            )
            *most, end = operations
            row = [*most, dataclasses.replace(end, ends_row=True)]
            issued += _paced(row, begun + _ISSUE_CYCLES, job.interval, last + job.interval)
            last = issued[-1][0]
            free, searched = last + 1 - _ISSUE_CYCLES, begun
        groups.append(issued)
        searched += _NEXT_GROUP_CYCLES
    return groups


def _element_schedule(
    job: EngineJob, ready: Sequence[int], first_cycle: int
) -> list[list[tuple[int, Operation]]]:
    groups: list[list[tuple[int, Operation]]] = []
    last = -_LONG_AGO
    pause = _SQUARE_PAUSE if job.flags & JobFlag.SQUARE else 0
    for group, weights_ready in enumerate(ready):
        cycle = max(first_cycle, weights_ready) + _ISSUE_CYCLES
        operations = _element_operations(job, group)
        groups.append(_paced(operations, cycle, job.interval, last + job.interval, pause))
        first_cycle = last = groups[-1][-1][0]
    return groups


def _paced(
    operations: Iterable[Operation], cycle: int, interval: int, earliest: int = 0, pause: int = 0
) -> list[tuple[int, Operation]]:
    """Return operations from a cycle on, those with ``last`` not before ``earliest``.

    And not behind it, but as many cycles later as ``pause``.
    """
    issued = []
    for operation in operations:
        if operation.last and cycle != earliest:
            cycle = max(cycle, earliest + pause if cycle > earliest else earliest)
        issued.append((cycle, operation))
        earliest = cycle + interval if operation.last else earliest
        cycle += 1
    return issued


def _rows_above(job: EngineJob, number: int) -> int:
    """Return how many kernel rows of an output row are skipped above the input; not all of them."""
    if job.flags & (JobFlag.PACKED | JobFlag.GATHERED):
        return 0
    row = job.first_row + number * job.stride_rows
    above = 0
    while row < 0 and above < job.kernel_rows - 1:
        row, above = row + job.dilation_rows, above + 1
    return above


def _kernel_rows(job: EngineJob, number: int) -> list[tuple[int, int, bool]]:
    """Return kernel row, address and whether it is inside, for each row that counts.

    Those inside the input; if there is none, one outside. All of them if the job is packed, or
    gathered.
    """
    first_row = job.first_row + number * job.stride_rows
    first_address = job.first_address + number * job.row_step
    rows = [
        (
            k,
            first_address + k * job.kernel_row_step,
            0 <= first_row + k * job.dilation_rows < job.input_rows,
        )
        for k in range(job.kernel_rows)
    ]
    if job.flags & (JobFlag.PACKED | JobFlag.GATHERED):
        return rows
    rows = [(k, address, is_inside) for k, address, is_inside in rows if is_inside]
    return rows or [(_rows_above(job, number), first_address, False)]


def _conv_operations(job: EngineJob, number: int, channel: int, macs: int) -> Iterator[Operation]:
    rows = _kernel_rows(job, number)
    if job.flags & JobFlag.GATHERED:
        yield from _gathered_operations(job, rows)
        return
    step = input_lanes_of(macs, JobFlag(job.flags))
    for column in range(job.output_columns):
        for row, row_address, is_inside in rows:
            for segment in range(job.segments):
                for word in range(job.segment_words):
                    offset = job.first_offset + column * job.column_step
                    offset += segment * job.segment_step + word * step
                    yield Operation(
                        address=row_address + offset + channel,
                        lanes=_lanes(job, offset, is_inside=is_inside),
                        index=row * job.row_words + segment * job.segment_words + word,
                        last=(row, segment, word)
                        == (rows[-1][0], job.segments - 1, job.segment_words - 1),
                    )


def _gathered_operations(
    job: EngineJob, rows: Sequence[tuple[int, int, bool]]
) -> Iterator[Operation]:
    """Yield those of windows whose bytes, row by row, are divided into words.

    A word is read with the row that has the last of its bytes.
    """
    size = INPUT_LANES * (job.segment_words + 1) - job.segment_step
    for column in range(job.output_columns):
        for row, address, is_inside in rows:
            begin, end = row * size, (row + 1) * size
            is_last_row = row == job.kernel_rows - 1
            stop = -(-end // INPUT_LANES) if is_last_row else end // INPUT_LANES
            words = range(begin // INPUT_LANES, stop)
            for word in words:
                offset = job.first_offset + column * job.column_step + word * INPUT_LANES - begin
                yield Operation(
                    address=address + offset,
                    lanes=_lanes(job, offset, is_inside=is_inside),
                    index=word,
                    last=is_last_row and word == words[-1],
                    carried=begin % INPUT_LANES if word == words[0] else 0,
                )


def _lanes(job: EngineJob, offset: int, *, is_inside: bool) -> range:
    """Return which bytes of a read at an offset in a row lie in the row."""
    low = max(0, -offset)
    return range(low, max(low, min(READ_BYTES, job.row_span - offset)) if is_inside else low)


def _depthwise_operations(job: EngineJob, number: int, channel: int) -> Iterator[Operation]:
    rows = _kernel_rows(job, number)
    results = job.skip_results + job.output_columns
    columns = results * job.stride_columns - job.first_phase
    for column in range(columns):
        offset = column * job.column_step
        phase = (column + job.first_phase) % job.stride_columns
        is_beyond = offset >= job.row_span
        for row, row_address, is_inside in rows[:1] if is_beyond else rows:
            ends = phase == job.stride_columns - 1 and (is_beyond or row == rows[-1][0])
            is_start = row == rows[0][0]
            yield Operation(
                address=row_address + offset + channel,
                lanes=range(READ_BYTES if is_inside and not is_beyond else 0),
                index=phase * job.kernel_rows + row,
                last=ends,
                first=is_start and column == 0,
                shift=is_start and column > 0 and phase == 0,
                is_dropped=(column + job.first_phase) // job.stride_columns < job.skip_results,
            )


def _element_operations(job: EngineJob, group: int) -> Iterator[Operation]:
    # Of each tensor the first byte and the step to the next result.
    operands = [(job.first_address, job.column_step)]
    if job.kind in PAIR_KINDS:
        has_one_pixel = job.flags & JobFlag.CHANNELS
        operands.append((job.input_2_address, 0 if has_one_pixel else job.column_step))
    for number in range(job.segment_words):
        for operand, (base, step) in enumerate(operands):
            yield Operation(
                address=base + group * job.group_input_step + number * step,
                lanes=range(READ_BYTES),
                index=0,
                last=operand == len(operands) - 1,
                first=True,
                shift=operand == 1,
            )

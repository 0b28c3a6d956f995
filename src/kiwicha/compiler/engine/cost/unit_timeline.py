"""A list's execution with a depthwise unit beside the array: a model by rows.

Array, unit, weights and transfers each do their work in order; what one waits for is known when the
others have come so far. Array and unit go row by row, and what one takes delays the other.
"""

import math
from bisect import bisect_left
from collections.abc import Generator, Sequence
from operator import itemgetter

from kiwicha.compiler.engine.cost.group_fills import GroupFills
from kiwicha.compiler.engine.cost.job_work import Work, job_work
from kiwicha.compiler.engine.cost.progress import JobCycles
from kiwicha.compiler.engine.cost.taken_cycles import TakenCycles, lines_until, moved_lines
from kiwicha.compiler.engine.cost.timeline import first_words
from kiwicha.compiler.engine.cost.unit_lane import Span, UnitLane
from kiwicha.compiler.engine.cost.unit_work import (
    ArrayShares,
    array_shares,
    line_writes,
    stolen_shares,
)
from kiwicha.contract.engine import (
    LINE_BYTES,
    EngineJob,
    EngineTransfer,
    JobKind,
    outputs_of,
)
from kiwicha.contract.latencies import refill_cycles
from kiwicha.contract.memories import Memory
from kiwicha.contract.moves import AnyJob, EngineMove
from kiwicha.program.unit_rows import UnitRows, is_unit_job, unit_rows

__all__ = ["UnitThreads"]

_JOB_START_CYCLES = 2
"""From the end of a job until the next one looks for its weights: it is there already."""
_STEP_CYCLES = 64
"""What the array does in a step, of rows that wait for nothing."""
_LEAST_LINES = 1e-6
_KNOWN_CYCLES = 2 * _STEP_CYCLES
"""By how much the array is known ahead of the unit, if it waits for nothing: a row of the unit goes
between what it writes."""


class UnitThreads:
    """Array, unit, weights and transfers of a list.

    Parameters
    ----------
    jobs, transfers : sequence
        The list.
    macs, requantizer_cycles : int
        As in `Threads`.
    memory : Memory
        What DRAM the system has.
    is_report : bool
        As in `Threads`. Then the array loses what it leaves to transfers while it pauses for the
        unit.
    """

    def __init__(
        self,
        jobs: Sequence[AnyJob],
        transfers: Sequence[EngineTransfer],
        macs: int,
        requantizer_cycles: int,
        memory: Memory,
        *,
        is_report: bool = False,
    ) -> None:
        start = float(memory.list_start_cycles + first_words(len(jobs), len(transfers)))
        self._jobs = jobs
        self._transfers = transfers
        self._macs = macs
        self._memory = memory
        self._rows = unit_rows(jobs)
        outputs = outputs_of(macs)
        self._works = [job_work(job, macs, requantizer_cycles) for job in jobs]
        self._array = [n for n, job in enumerate(jobs) if not is_unit_job(job)]
        self._unit = [n for n, job in enumerate(jobs) if is_unit_job(job)]
        self._shares: dict[int, tuple[float, ArrayShares]] = {}
        self._transfer_free = start
        self._array_time = self._unit_time = start
        # When rows are written, and when jobs end.
        self._array_rows: list[float] = []
        self._lane = UnitLane(counts_pauses=is_report)
        # Lines that the array leaves are known when the unit has come so far.
        self._behind_cycles = _KNOWN_CYCLES * (2 if is_report else 1)
        self._written = TakenCycles()
        refill = refill_cycles(outputs, outputs // requantizer_cycles)
        self._fills = GroupFills(jobs, self._works, memory, refill, self._lane.groups, start)
        self._ends: dict[int, float] = {}
        # The last end of the first jobs that are all complete.
        self._complete_ends = [0.0]
        self._begun: dict[int, tuple[float, float, float]] = {}
        self._transfer_ends: list[float] = []
        self._array_place = self._unit_place = 0
        self._array_group = 0
        self._array_row = 0
        # Of the transfer that is under way: when its last line was moved, and how many are left.
        self._moved_at, self._lines_left = start, 0.0
        # What the job of the unit is about to do, if one has begun.
        self._doing: Generator[bool, None, float] | None = None

    def run(self) -> tuple[int, tuple[JobCycles, ...]]:
        """Return the cycles of the list, and of its jobs.

        A job has the cycles since the end of the one that ended before it, as in `make_report`.
        """
        while len(self._ends) < len(self._jobs) or len(self._transfer_ends) < len(self._transfers):
            if self._fills.fill():
                continue
            # What is behind goes first: then it is known what others take meanwhile.
            order = [
                (self._array_time, self._compute),
                (self._lane.time + _KNOWN_CYCLES, self._compute_beside),
                (self._moved_at + self._behind_cycles, self._transfer),
            ]
            order.sort(key=itemgetter(0))
            for _, step in order:
                if step():
                    break
            else:
                raise AssertionError("the list waits for itself")
        total = math.ceil(max([*self._ends.values(), *self._transfer_ends]))
        found: dict[int, JobCycles] = {}
        before = 0.0
        for number, end in sorted(self._ends.items(), key=lambda item: item[1]):
            found[number] = self._cycles_of(number, before, end)
            before = end
        return total, tuple(found[number] for number in range(len(self._jobs)))

    def row_ends(self) -> tuple[list[float], list[float]]:
        """Return when each row was written, of the array and of the unit; behind `run`."""
        return self._array_rows, self._lane.rows

    def _cycles_of(self, number: int, start: float, end: float) -> JobCycles:
        """Return what a job took, and what for; the unit's is hidden in that of others."""
        job, work = self._jobs[number], self._works[number]
        is_move, is_unit = isinstance(job, EngineMove), is_unit_job(job)
        _, transfers, weights = (0.0, 0.0, 0.0) if is_unit else self._begun[number]
        operations = work.operations * work.groups
        return JobCycles(
            layer=job.layer,
            start=round(start),
            end=round(end),
            busy=0 if is_move else operations,
            moves=operations if is_move else 0,
            requantizer=work.held * work.groups,
            weights=round(weights),
            transfers=round(transfers),
        )

    def _compute(self) -> bool:
        """Do the next rows of the array, or a group of a job without rows; False if it waits."""
        if self._array_place == len(self._array):
            return False
        number = self._array[self._array_place]
        job, work, rows = self._jobs[number], self._works[number], self._rows[number]
        count = _row_count(job)
        if self._array_row == 0 and not self._begin_group(number, job, work, rows):
            return False
        each = work.cycles / max(count, 1)
        waits = isinstance(job, EngineJob) and self._array_group == 0 and bool(job.wait_row_step)
        share, shares = self._shares_of(number)
        first = self._array_time
        done = 0
        while not done or (self._array_row < count and not waits and done * each < _STEP_CYCLES):
            if waits:
                wait = rows.wait + self._array_row
                if wait > len(self._lane.rows):
                    return False
                first = max(first, self._lane.rows[wait - 1] + work.start if wait > 0 else first)
            done += 1
            self._array_row += 1
            if count:
                self._array_rows.append(first + done * each + work.drain)
        end = first + done * each
        self._written.take(first, end, share)
        self._lane.add(Span(first, end, shares))
        self._array_time = end
        if self._array_row >= count:
            self._end_group(number, job, work, rows)
        return True

    def _shares_of(self, number: int) -> tuple[float, ArrayShares]:
        """Return the share of cycles in which a job writes, and what it leaves to the unit."""
        if number not in self._shares:
            job, work = self._jobs[number], self._works[number]
            cycles = max(work.cycles, 1)
            taken = line_writes(job, work.mean_writes, self._macs)
            self._shares[number] = taken / cycles, array_shares(job, cycles, taken, self._macs)
        return self._shares[number]

    def _begin_group(self, number: int, job: AnyJob, work: Work, rows: UnitRows) -> bool:
        """Go to the first operation of a group; False if it is not known when that is."""
        group = self._array_group
        filled = -math.inf
        if isinstance(job, EngineJob):
            if group >= len(self._fills.filled[number]):
                return False
            filled = self._fills.filled[number][group]
        if group:
            ready = self._array_time - work.last_row + work.start - 1
            self._array_time = max(self._array_time, ready, filled + work.start)
            return True
        started = self._start(number, rows, filled)
        if started is None:
            return False
        self._array_time = started + work.start
        return True

    def _end_group(self, number: int, job: AnyJob, work: Work, rows: UnitRows) -> None:
        """Go to the next group, or to the next job."""
        if isinstance(job, EngineJob):
            self._fills.releases.append(self._array_time)
        self._array_row = 0
        self._array_group += 1
        if self._array_group < work.groups:
            return
        self._array_time += work.drain
        if rows.end - rows.first != work.groups * _row_count(job):
            self._array_rows.append(self._array_time)
        self._ends[number] = self._array_time
        self._array_place, self._array_group = self._array_place + 1, 0

    def _start(self, number: int, rows: UnitRows, filled: float) -> float | None:
        """Return when a job's first group begins; None if that is not known yet."""
        job = self._jobs[number]
        wanted = job.wait_transfers
        if wanted > len(self._transfer_ends) or rows.wait > len(self._lane.rows):
            return None
        time = self._array_time + (_JOB_START_CYCLES if self._array_place else 0)
        ready = self._transfer_ends[wanted - 1] if wanted else 0.0
        # One job of the unit waits beside that which works: the next one waits in front of this.
        place = bisect_left(self._unit, number) - 3
        if place >= 0:
            if self._unit[place] not in self._ends:
                return None
            ready = max(ready, self._ends[self._unit[place]])
        for_rows = self._lane.rows[rows.wait - 1] if rows.wait > 0 else 0.0
        moved = max(time, ready)
        self._begun[number] = (self._array_time, moved - time, max(filled - moved, 0.0))
        return max(moved, for_rows, filled)

    def _begin_beside(self, number: int) -> Generator[bool, None, float] | None:
        """Return what a job of the unit will do; None if it is not known when it begins."""
        job = self._jobs[number]
        assert isinstance(job, EngineJob)
        # It comes when the array has begun the job before it in the list.
        place = bisect_left(self._array, number) - 2
        if job.wait_transfers > len(self._transfer_ends):
            return None
        if place >= 0 and self._array[place] not in self._ends:
            return None
        time = max(self._unit_time, self._ends[self._array[place]] if place >= 0 else 0.0)
        if job.wait_transfers:
            time = max(time, self._transfer_ends[job.wait_transfers - 1])
        rows = self._rows[number]
        return self._lane.do(job, rows, self._fills.filled[number], self._array_rows, time)

    def _compute_beside(self) -> bool:
        """Do the next line of the unit; False if it waits."""
        if self._unit_place == len(self._unit):
            return False
        number = self._unit[self._unit_place]
        if self._doing is None:
            self._doing = self._begin_beside(number)
        if self._doing is None:
            return False
        try:
            has_moved = next(self._doing)
        except StopIteration as ended:
            self._unit_time = self._ends[number] = ended.value
            self._unit_place += 1
            self._doing = None
            has_moved = True
        stolen = self._lane.stolen + self._lane.stolen_for_lines
        if stolen:
            # The array is late by what was taken from it, and nobody else has those cycles.
            first, end = self._array_time, self._array_time + stolen
            self._written.take(first, end, 1.0)
            self._lane.add(Span(first, end, stolen_shares(self._macs)))
            self._array_time = end
            self._lane.stolen = self._lane.stolen_for_lines = 0.0
        return has_moved

    def _transfer(self) -> bool:
        """Move the next lines of a transfer; False if all are, or its begin is not known."""
        if len(self._transfer_ends) == len(self._transfers):
            return False
        transfer, memory = self._transfers[len(self._transfer_ends)], self._memory
        cycles = 4.0 if transfer.flags else LINE_BYTES / memory.bytes_per_cycle
        if not self._lines_left:
            while len(self._complete_ends) <= transfer.wait_jobs:
                end = self._ends.get(len(self._complete_ends) - 1)
                if end is None:
                    return False
                self._complete_ends.append(max(self._complete_ends[-1], end))
            start = max(self._complete_ends[transfer.wait_jobs], self._transfer_free)
            start += memory.store_start_cycles if transfer.is_store else memory.load_start_cycles
            size = transfer.scratchpad_address % LINE_BYTES + transfer.moved_bytes
            self._moved_at, self._lines_left = start, -(-size // LINE_BYTES)
            self._lane.moving = start, start + cycles * self._lines_left
            return True
        lines: float = min(self._lines_left, _STEP_CYCLES // 2)
        ports = self._written, self._lane.written, self._fills.fetched
        first, known = self._moved_at, self._array_time
        if self._lane.counts_pauses and first < known:
            every = (*ports, self._lane.left_lines)
            self._moved_at, left = lines_until(every, first, known, lines, 1.0 / cycles)
            # What rounding leaves is none.
            lines -= left if left > _LEAST_LINES else 0.0
        else:
            self._moved_at = moved_lines(ports, first, lines, 1.0 / cycles)
        self._lane.moved.take(first, self._moved_at, lines / (self._moved_at - first))
        self._fills.port_free = max(
            self._fills.port_free, min(self._moved_at, self._fills.port_free + cycles * lines)
        )
        self._lines_left -= lines
        if self._lines_left < _LEAST_LINES:
            self._lines_left = 0
        self._lane.moving = self._moved_at, self._moved_at + cycles * self._lines_left
        if not self._lines_left:
            self._transfer_free = self._moved_at
            self._transfer_free += memory.store_end_cycles if transfer.is_store else 0
            self._transfer_ends.append(self._transfer_free)
        return True


def _row_count(job: AnyJob) -> int:
    """Return the rows that each group of a job of the array counts; 0 if it counts as one."""
    kinds = {JobKind.CONV, JobKind.DEPTHWISE, JobKind.MAX}
    return job.output_rows if isinstance(job, EngineJob) and job.kind in kinds else 0

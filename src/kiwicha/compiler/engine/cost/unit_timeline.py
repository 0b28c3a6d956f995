"""A list's execution with a depthwise unit beside the array: a model by rows.

Array, unit, weights and transfers each do their work in order; what one waits for is known when the
others have come so far. What the unit takes from the array delays both at the end of its job.
"""

import math
from collections.abc import Sequence

from kiwicha.compiler.engine.cost.job_work import Work, job_work
from kiwicha.compiler.engine.cost.progress import JobCycles
from kiwicha.compiler.engine.cost.taken_cycles import TakenCycles
from kiwicha.compiler.engine.cost.timeline import first_words
from kiwicha.compiler.engine.cost.unit_lane import Span, UnitLane
from kiwicha.compiler.engine.cost.unit_work import array_shares, line_writes
from kiwicha.contract.depthwise import PARAMETER_PLACES, PASS_PLACES
from kiwicha.contract.engine import (
    LINE_BYTES,
    EngineJob,
    EngineTransfer,
    JobKind,
    outputs_of,
)
from kiwicha.contract.latencies import WEIGHTS_READY_CYCLES, refill_cycles
from kiwicha.contract.memories import Memory
from kiwicha.contract.moves import AnyJob, EngineMove
from kiwicha.program.unit_rows import UnitRows, is_unit_job, unit_rows

__all__ = ["UnitThreads"]

_JOB_START_CYCLES = 2
"""From the end of a job until the next one looks for its weights: it is there already."""


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
    """

    def __init__(
        self,
        jobs: Sequence[AnyJob],
        transfers: Sequence[EngineTransfer],
        macs: int,
        requantizer_cycles: int,
        memory: Memory,
    ) -> None:
        start = float(memory.list_start_cycles + first_words(len(jobs), len(transfers)))
        self._jobs = jobs
        self._transfers = transfers
        self._macs = macs
        self._memory = memory
        self._rows = unit_rows(jobs)
        outputs = outputs_of(macs)
        self._refill_cycles = refill_cycles(outputs, outputs // requantizer_cycles)
        self._works = [job_work(job, macs, requantizer_cycles) for job in jobs]
        self._array = [n for n, job in enumerate(jobs) if not is_unit_job(job)]
        self._unit = [n for n, job in enumerate(jobs) if is_unit_job(job)]
        self._port_free = self._transfer_free = start
        self._array_time = self._unit_time = start
        # When each group's weights are there, when rows are written, and when jobs end.
        self._filled: list[list[float]] = [[] for _ in jobs]
        self._array_rows: list[float] = []
        self._lane = UnitLane()
        self._written = TakenCycles()
        self._ends: dict[int, float] = {}
        # The last end of the first jobs that are all complete.
        self._complete_ends = [0.0]
        self._begun: dict[int, tuple[float, float, float]] = {}
        self._transfer_ends: list[float] = []
        # When banks of the weight buffer become free, and how often one was filled; passes of the
        # unit's groups that were filled, and how many of the first groups gave room for others.
        self._releases: list[float] = [-math.inf, -math.inf]
        self._array_fills = 0
        self._unit_passes: list[int] = []
        self._unit_freed = self._unit_held = 0
        self._next_fill = (0, 0)
        self._fill_end = -math.inf
        self._array_place = self._unit_place = 0
        self._array_group = 0

    def run(self) -> tuple[int, tuple[JobCycles, ...]]:
        """Return the cycles of the list, and of its jobs.

        A job has the cycles since the end of the one that ended before it, as in `make_report`.
        """
        while len(self._ends) < len(self._jobs) or len(self._transfer_ends) < len(self._transfers):
            # A transfer comes when all is known that writes results meanwhile.
            moved = self._fill() | self._compute() | self._compute_beside() or self._transfer()
            assert moved, "the list waits for itself"
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

    def _fill(self) -> bool:
        """Fetch the weights of groups as long as it is known where there is room for them."""
        has_moved = False
        while self._next_fill[0] < len(self._jobs):
            number, group = self._next_fill
            job, work = self._jobs[number], self._works[number]
            if not isinstance(job, EngineMove):
                room = self._room_of_unit(job) if is_unit_job(job) else self._room_of_array()
                if room is None:
                    break
                first = max(room, self._fill_end, self._port_free - work.fill_bytes / LINE_BYTES)
                lines = work.fill_bytes / self._memory.bytes_per_cycle
                # What has room in the reader comes before the bank is free.
                self._port_free = max(self._port_free, room - 2 * LINE_BYTES) + lines
                more = work.first_fill_cycles if group == 0 else 0
                self._fill_end = max(first + work.fill_cycles + more, self._port_free)
                self._filled[number].append(self._fill_end + WEIGHTS_READY_CYCLES)
                if is_unit_job(job):
                    self._unit_passes.append(job.group_words)
                    self._unit_held += job.group_words
                else:
                    self._array_fills += 1
            has_moved = True
            group += 1
            self._next_fill = (number, group)
            if group >= work.groups:
                self._next_fill = (number + 1, 0)
        return has_moved

    def _room_of_array(self) -> float | None:
        """Return when a bank of the weight buffer is free; None if that is not known yet."""
        if self._array_fills >= len(self._releases):
            return None
        return self._releases[self._array_fills] + self._refill_cycles

    def _room_of_unit(self, job: AnyJob) -> float | None:
        """Return the same of the room for a group's weights in the unit, whose groups free it."""
        assert isinstance(job, EngineJob)
        while (
            len(self._unit_passes) - self._unit_freed >= PARAMETER_PLACES
            or self._unit_held + job.group_words > PASS_PLACES
        ):
            if self._unit_freed >= len(self._lane.groups):
                return None
            self._unit_held -= self._unit_passes[self._unit_freed]
            self._unit_freed += 1
        return self._lane.groups[self._unit_freed - 1] if self._unit_freed else -math.inf

    def _compute(self) -> bool:
        """Do groups of the array's jobs as long as all that they wait for is known."""
        has_moved = False
        while self._array_place < len(self._array):
            number = self._array[self._array_place]
            job, work, rows = self._jobs[number], self._works[number], self._rows[number]
            group = self._array_group
            filled = -math.inf
            if not isinstance(job, EngineMove):
                if group >= len(self._filled[number]):
                    break
                filled = self._filled[number][group]
            if group == 0:
                started = self._start(number, rows, filled)
                if started is None:
                    break
                first = started + work.start
            else:
                ready = self._array_time - work.last_row + work.start - 1
                first = max(self._array_time, ready, filled + work.start)
            taken = line_writes(job, work.writes, self._macs)
            shares = array_shares(job, max(work.cycles, 1), taken, self._macs)
            end = first
            writes = taken / max(work.cycles, 1)
            for begin, end in self._times_of_group(job, work, rows, first, is_first=group == 0):
                self._written.take(begin, end, writes)
                self._lane.add(Span(begin, end, shares))
            self._array_time = end
            if not isinstance(job, EngineMove):
                self._releases.append(end)
            has_moved = True
            self._array_group += 1
            if self._array_group == work.groups:
                if rows.end - rows.first != work.groups * _row_count(job):
                    self._array_rows.append(end + work.drain)
                self._array_time = end + work.drain
                self._ends[number] = self._array_time
                self._array_place, self._array_group = self._array_place + 1, 0
        return has_moved

    def _start(self, number: int, rows: UnitRows, filled: float) -> float | None:
        """Return when a job's first group begins; None if that is not known yet."""
        job = self._jobs[number]
        wanted = job.wait_transfers
        if wanted > len(self._transfer_ends) or rows.last_wait > len(self._lane.rows):
            return None
        time = self._array_time + (_JOB_START_CYCLES if self._array_place else 0)
        ready = self._transfer_ends[wanted - 1] if wanted else 0.0
        for_rows = self._lane.rows[rows.wait - 1] if rows.wait > 0 else 0.0
        moved = max(time, ready)
        self._begun[number] = (self._array_time, moved - time, max(filled - moved, 0.0))
        return max(moved, for_rows, filled)

    def _times_of_group(
        self, job: AnyJob, work: Work, rows: UnitRows, first: float, *, is_first: bool
    ) -> list[tuple[float, float]]:
        """Note when the rows of a group are written; return the times in which it works."""
        count = _row_count(job)
        if not count or not isinstance(job, EngineJob):
            return [(first, first + work.cycles)]
        each = work.cycles / count
        waits = is_first and job.wait_row_step
        times = []
        time = first
        for row in range(count):
            if waits:
                time = max(time, self._lane.rows[rows.wait + row - 1] + work.start)
            times.append((time, time + each))
            time += each
            self._array_rows.append(time + work.drain)
        return times if waits else [(first, time)]

    def _compute_beside(self) -> bool:
        """Do the jobs of the unit for which all rows and weights are known."""
        has_moved = False
        while self._unit_place < len(self._unit):
            number = self._unit[self._unit_place]
            job, rows = self._jobs[number], self._rows[number]
            assert isinstance(job, EngineJob)
            is_known = (
                len(self._filled[number]) == job.groups
                and job.wait_transfers <= len(self._transfer_ends)
                and rows.last_wait <= len(self._array_rows)
            )
            if not is_known:
                break
            ready = self._transfer_ends[job.wait_transfers - 1] if job.wait_transfers else 0.0
            first_row = len(self._lane.rows)
            self._unit_time = self._lane.do(
                job, rows, self._filled[number], self._array_rows, max(self._unit_time, ready)
            )
            if self._array_place:
                # The array is late by what was taken from it, and so is all that follows it.
                before = self._array[self._array_place - 1]
                self._ends[before] += self._lane.stolen
                self._array_time += self._lane.stolen
                self._unit_time += self._lane.stolen
                self._lane.delay(first_row, self._lane.stolen)
            self._ends[number] = self._unit_time
            self._unit_place += 1
            has_moved = True
        return has_moved

    def _transfer(self) -> bool:
        """Do the next transfer, if all that it waits for is known."""
        if len(self._transfer_ends) == len(self._transfers):
            return False
        transfer = self._transfers[len(self._transfer_ends)]
        while len(self._complete_ends) <= transfer.wait_jobs:
            end = self._ends.get(len(self._complete_ends) - 1)
            if end is None:
                return False
            self._complete_ends.append(max(self._complete_ends[-1], end))
        memory = self._memory
        start = max(self._complete_ends[transfer.wait_jobs], self._transfer_free)
        start += memory.store_start_cycles if transfer.is_store else memory.load_start_cycles
        size = transfer.scratchpad_address % LINE_BYTES + transfer.moved_bytes
        lines = -(-size // LINE_BYTES)
        cycles = 4.0 if transfer.flags else LINE_BYTES / memory.bytes_per_cycle
        ports = self._written, self._lane.written
        end = TakenCycles.moved(ports, start, lines, 1.0 / cycles)
        self._port_free = max(self._port_free, min(end, self._port_free + cycles * lines))
        self._transfer_free = end + (memory.store_end_cycles if transfer.is_store else 0)
        self._transfer_ends.append(self._transfer_free)
        return True


def _row_count(job: AnyJob) -> int:
    """Return the rows that each group of a job of the array counts; 0 if it counts as one."""
    kinds = {JobKind.CONV, JobKind.DEPTHWISE, JobKind.MAX}
    return job.output_rows if isinstance(job, EngineJob) and job.kind in kinds else 0

"""The engine's three threads side by side, as time passes: a model of a list's execution.

Jobs run in order, transfers run in order, and weights are fetched group by group into two banks.
The memory port serves weights and transfers one after the other. On the scratchpad's line port
results go first: a transfer moves in the cycles that they leave.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from kiwicha.compiler.engine.cost.job_work import Work, job_work
from kiwicha.contract.engine import LINE_BYTES, EngineJob, EngineTransfer, JobFlag
from kiwicha.contract.latencies import (
    DRAIN_CYCLES,
    PORT_TURN_WORDS,
    READER_WORDS,
    REFILL_CYCLES,
    WEIGHTS_READY_CYCLES,
)

__all__ = ["DRAM_BYTES_PER_CYCLE", "JobCycles", "Threads"]

DRAM_BYTES_PER_CYCLE = 14.2
"""Sequential reads of the memory port, refresh included."""
DRAM_LATENCY_CYCLES = 17
"""From the request to the first word."""
LOAD_START_CYCLES = 28
"""From a load's turn to its first line."""
STORE_START_CYCLES = 8
"""From a store's turn to its first line."""
STORE_END_CYCLES = 38
"""From a store's last line until DRAM has it."""
ROW_AHEAD_CYCLES = 1
"""By which the last row of a group must be longer than the start of the next group."""
JOB_START_CYCLES = 2
"""From the end of a job until the next one looks for its weights."""
LIST_START_CYCLES = 60
"""From the start instruction until the first descriptors are there."""


@dataclass(frozen=True)
class JobCycles:
    """When a job runs and what it waits for, in cycles of its list.

    Parameters
    ----------
    layer : int
        As in `EngineJob`.
    start, end : int
        From the end of the job before to its own end.
    busy, requantizer, weights, transfers, overhead : int
        What the time was spent on: operations, waiting for the requantizer, for weights, for
        transfers, and starting and ending.
    """

    layer: int
    start: int
    end: int
    busy: int
    requantizer: int
    weights: int
    transfers: int

    @property
    def overhead(self) -> int:
        """What is neither work nor waiting."""
        waited = self.requantizer + self.weights + self.transfers
        return self.end - self.start - self.busy - waited

    @property
    def bound(self) -> str:
        """What most of the time was spent on."""
        parts = {
            "multipliers": self.busy,
            "requantizer": self.requantizer,
            "weights": self.weights,
            "transfers": self.transfers,
            "overhead": self.overhead,
        }
        return max(parts, key=lambda name: parts[name])


class _LinePort:
    """The scratchpad's line port: which share of each time belongs to results."""

    def __init__(self) -> None:
        self._times: list[tuple[float, float, float]] = []
        self._first = 0

    def take(self, start: float, end: float, share: float) -> None:
        """Note the share of results from ``start`` to ``end``; times come in order."""
        self._times.append((start, end, share))

    def move(self, start: float, lines: float) -> float:
        """Return when so many lines are moved, one in each free cycle; starts come in order."""
        now = start
        while self._first < len(self._times) and self._times[self._first][1] <= start:
            self._first += 1
        for begin, end, share in self._times[self._first :]:
            if now + lines <= begin:
                break
            lines -= max(begin - now, 0.0)
            now = max(now, begin)
            free = (end - now) * (1.0 - share)
            if lines <= free:
                return now + lines / (1.0 - share)
            lines -= free
            now = end
        return now + lines


class Threads:
    """The three threads, advanced in the order of time.

    Parameters
    ----------
    jobs, transfers : sequence
        The list.
    macs : int
        Products per cycle.
    requantizer_cycles : int
        As `kiwicha.contract.configs.Config.requantizer_cycles`.
    decoder_slack : float
        By what the decoder's time for a group of a coded stream is multiplied.
    """

    def __init__(
        self,
        jobs: Sequence[EngineJob],
        transfers: Sequence[EngineTransfer],
        macs: int,
        requantizer_cycles: int = 1,
        *,
        decoder_slack: float = 1.0,
    ) -> None:
        self._jobs = jobs
        self._decoder_slack = decoder_slack
        self._transfers = transfers
        self._works = [job_work(job, macs, requantizer_cycles) for job in jobs]
        self._groups = [
            (number, group)
            for number, work in enumerate(self._works)
            for group in range(work.groups)
        ]
        self._fill_ends: list[float] = []
        self._releases: list[float] = []
        self._transfer_ends: list[float] = []
        self._job_ends: list[float] = []
        self._results: list[JobCycles] = []
        self._line_port = _LinePort()
        self._port_free = float(LIST_START_CYCLES)
        self._transfer_free = 0.0
        self._line_end = 0.0
        self._left_lines = 0
        self._time = float(LIST_START_CYCLES)
        self._waited = [0.0, 0.0]
        self._begun = 0.0

    def run(self) -> tuple[int, list[JobCycles]]:
        """Return the cycles of the list, and of its jobs."""
        while True:
            self._compute()
            times = [self._fill_time(), self._transfer_time()]
            if min(times) == math.inf:
                break
            if times[0] <= times[1]:
                self._fill(times[0])
            else:
                self._transfer(times[1])
        assert len(self._job_ends) == len(self._jobs)
        end = max([self._time, *self._transfer_ends[-1:]])
        return math.ceil(end), self._results

    def _fill_time(self) -> float:
        number = len(self._fill_ends)
        if number == len(self._groups):
            return math.inf
        # One group is decoded after the other.
        free = max([self._port_free, *self._fill_ends[-1:]])
        if number < 2:
            return free
        if len(self._releases) <= number - 2:
            return math.inf
        return max(free, self._releases[number - 2] + REFILL_CYCLES)

    def _fill(self, start: float) -> None:
        job, group = self._groups[len(self._fill_ends)]
        work = self._works[job]
        lines = work.fill_bytes / LINE_BYTES
        if self._fill_ends:
            # Words of this group came while the bank was not free yet.
            idle = max(start - self._fill_ends[-1], 0.0)
            lines -= min(idle * DRAM_BYTES_PER_CYCLE / LINE_BYTES, READER_WORDS, lines)
        else:
            start += DRAM_LATENCY_CYCLES
        self._port_free = start + lines * LINE_BYTES / DRAM_BYTES_PER_CYCLE
        needed: float = work.fill_cycles + (0 if group else work.first_fill_cycles)
        if self._jobs[job].flags & JobFlag.CODED:
            needed *= self._decoder_slack
        self._fill_ends.append(max(self._port_free, start + needed))

    def _transfer_time(self) -> float:
        number = len(self._transfer_ends)
        if number == len(self._transfers):
            return math.inf
        wanted = self._transfers[number].wait_jobs
        if wanted > len(self._job_ends):
            return math.inf
        ready = self._job_ends[wanted - 1] if wanted else 0.0
        return max(self._port_free, self._transfer_free, ready)

    def _transfer(self, start: float) -> None:
        """Move a chunk of the next transfer."""
        transfer = self._transfers[len(self._transfer_ends)]
        is_store = transfer.is_store
        if not self._left_lines:
            self._left_lines = -(-transfer.moved_bytes // LINE_BYTES)
            start += STORE_START_CYCLES if is_store else LOAD_START_CYCLES
        chunk = min(self._left_lines, PORT_TURN_WORDS)
        self._left_lines -= chunk
        self._port_free = start + chunk * LINE_BYTES / DRAM_BYTES_PER_CYCLE
        moved = self._line_port.move(max(start, self._line_end), chunk)
        self._line_end = max(moved, self._port_free)
        self._transfer_free = self._line_end - READER_WORDS
        if not self._left_lines:
            end = self._line_end + (STORE_END_CYCLES if is_store else 0)
            self._transfer_ends.append(end)
            self._transfer_free = self._line_end = end

    def _compute(self) -> None:
        """Do all groups whose weights and transfers are there."""
        while len(self._releases) < len(self._groups):
            index = len(self._releases)
            number, group = self._groups[index]
            job, work = self._jobs[number], self._works[number]
            if index >= len(self._fill_ends) or job.wait_transfers > len(self._transfer_ends):
                return
            if group == 0:
                self._begun = self._time
                start = self._time + JOB_START_CYCLES
                ready = self._transfer_ends[job.wait_transfers - 1] if job.wait_transfers else 0.0
                self._waited = [max(ready - start, 0.0), 0.0]
                self._time = max(start, ready)
            filled = self._fill_ends[index] + WEIGHTS_READY_CYCLES
            if group == 0:
                first = max(self._time, filled) + work.start
                self._waited[1] += max(filled - self._time, 0.0)
            else:
                # The address generator goes ahead while the last row of the group before is done.
                early = self._time - work.last_row + work.start - ROW_AHEAD_CYCLES
                first = max(self._time, filled + work.start, early)
                self._waited[1] += max(filled + work.start - max(self._time, early), 0.0)
            self._time = first + work.cycles
            self._line_port.take(first, self._time, min(work.writes / work.cycles, 1.0))
            self._releases.append(self._time)
            if group + 1 == work.groups:
                self._end_job(job, work)

    def _end_job(self, job: EngineJob, work: Work) -> None:
        self._time += DRAIN_CYCLES
        self._job_ends.append(self._time)
        self._results.append(
            JobCycles(
                layer=job.layer,
                start=round(self._begun),
                end=round(self._time),
                busy=work.operations * work.groups,
                requantizer=work.held * work.groups,
                weights=round(self._waited[1]),
                transfers=round(self._waited[0]),
            )
        )

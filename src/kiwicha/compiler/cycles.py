"""Predicted cycles of the engine's lists, from their descriptors.

Three threads run side by side: jobs in order, transfers in order, and the fetching of weights,
group by group, into two banks. The memory port serves weights and transfers one after the other.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from kiwicha.compiler.engine_work import job_work
from kiwicha.engine_list import read_list
from kiwicha.isa_engine import EngineJob, EngineRun, EngineTransfer
from kiwicha.program import Program

__all__ = ["JobCycles", "cycles_table", "predict_list", "predict_program"]

DRAM_BYTES_PER_CYCLE = 14.2
"""Sequential reads of the memory port, refresh included."""
DRAM_LATENCY_CYCLES = 17
"""From the request to the first word."""
TRANSFER_CHUNK_BYTES = 1024
"""After which the memory port may turn from a transfer to weights."""
WEIGHTS_READY_CYCLES = 3
"""From the last beat of a group's weights until they can be used."""
ROW_AHEAD_CYCLES = 1
"""By which the last row of a group must be longer than the start of the next group."""
REFILL_CYCLES = 26
"""From the last operation of a group until its weights can be overwritten."""
JOB_START_CYCLES = 2
"""From the end of a job until the next one looks for its weights."""
DRAIN_CYCLES = 28
"""From the last operation of a job until its last result is written."""
LIST_START_CYCLES = 60
"""From the start instruction until the first descriptors are there."""
CPU_STEP_CYCLES = 3000
"""Assumed for a small step of the CPU between or behind lists, such as SOFTMAX."""


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


def predict_list(
    jobs: Sequence[EngineJob], transfers: Sequence[EngineTransfer], macs: int
) -> tuple[int, list[JobCycles]]:
    """Return the cycles of a list, and of its jobs.

    Parameters
    ----------
    jobs, transfers : sequence
        The list.
    macs : int
        Products per cycle.
    """
    return _Simulation(jobs, transfers, macs).run()


class _Simulation:
    """The three threads, advanced in the order of time."""

    def __init__(
        self, jobs: Sequence[EngineJob], transfers: Sequence[EngineTransfer], macs: int
    ) -> None:
        self._jobs = jobs
        self._transfers = transfers
        self._works = [job_work(job, macs) for job in jobs]
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
        self._port_free = float(LIST_START_CYCLES)
        self._time = float(LIST_START_CYCLES)
        self._waited = [0.0, 0.0]
        self._left_bytes = 0
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
        if number < 2:
            return self._port_free
        if len(self._releases) <= number - 2:
            return math.inf
        return max(self._port_free, self._releases[number - 2] + REFILL_CYCLES)

    def _fill(self, start: float) -> None:
        job, _ = self._groups[len(self._fill_ends)]
        # Fills follow each other without a pause if the bank is free in time.
        latency = DRAM_LATENCY_CYCLES if start > self._port_free else 0
        work = self._works[job]
        self._port_free = start + latency + work.fill_bytes / DRAM_BYTES_PER_CYCLE
        self._fill_ends.append(max(self._port_free, start + latency + work.fill_cycles))

    def _transfer_time(self) -> float:
        number = len(self._transfer_ends)
        if number == len(self._transfers):
            return math.inf
        wanted = self._transfers[number].wait_jobs
        if wanted > len(self._job_ends):
            return math.inf
        ready = self._job_ends[wanted - 1] if wanted else 0.0
        return max(self._port_free, ready)

    def _transfer(self, start: float) -> None:
        number = len(self._transfer_ends)
        latency = 0
        if not self._left_bytes:
            self._left_bytes = self._transfers[number].bytes & 0x7FFF_FFFF
            latency = DRAM_LATENCY_CYCLES
        chunk = min(self._left_bytes, TRANSFER_CHUNK_BYTES)
        self._port_free = start + latency + chunk / DRAM_BYTES_PER_CYCLE
        self._left_bytes -= chunk
        if not self._left_bytes:
            self._transfer_ends.append(self._port_free)

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
                # The walker goes ahead while the last row of the group before is done.
                early = self._time - work.last_row + work.start - ROW_AHEAD_CYCLES
                first = max(self._time, filled + work.start, early)
                self._waited[1] += max(filled + work.start - max(self._time, early), 0.0)
            self._time = first + work.cycles
            self._releases.append(self._time)
            if group + 1 < work.groups:
                continue
            self._time += DRAIN_CYCLES
            self._job_ends.append(self._time)
            self._results.append(
                JobCycles(
                    job.layer,
                    round(self._begun),
                    round(self._time),
                    work.operations * work.groups,
                    work.held * work.groups,
                    round(self._waited[1]),
                    round(self._waited[0]),
                )
            )


def predict_program(program: Program) -> tuple[int, dict[int, tuple[int, list[JobCycles]]]]:
    """Return the predicted cycles of an inference, and of each list by the number of its step.

    A step of the CPU counts as `CPU_STEP_CYCLES`.
    """
    lists = {}
    total = 0
    for number, step in enumerate(program.steps):
        params = step.params
        if not isinstance(params, EngineRun):
            total += CPU_STEP_CYCLES
            continue
        image = program.constants[params.image.offset :][: params.image.bytes]
        found = read_list(params, image)
        lists[number] = predict_list(found.jobs, found.transfers, params.macs)
        total += lists[number][0]
    return total, lists


def cycles_table(program: Program) -> str:
    """Return predicted cycles as text: a line per layer of the engine, and the total."""
    total, lists = predict_program(program)
    lines = [f"{'layer':>5}  {'operator':18} {'cycles':>8} {'busy':>8}  bound"]
    for number, (_, jobs) in lists.items():
        first = program.steps[number].layer
        by_layer: dict[int, list[JobCycles]] = {}
        for job in jobs:
            by_layer.setdefault(job.layer, []).append(job)
        for layer, members in by_layer.items():
            report = program.layers[first + layer]
            cycles = sum(job.end - job.start for job in members)
            busy = sum(job.busy for job in members)
            longest = max(members, key=lambda job: job.end - job.start)
            lines.append(
                f"{report.index:5}  {report.operator:18} {cycles:8} {busy:8}  {longest.bound}"
            )
    lines.append(f"total {total}, {CPU_STEP_CYCLES} for each step of the CPU included")
    return "\n".join(lines)

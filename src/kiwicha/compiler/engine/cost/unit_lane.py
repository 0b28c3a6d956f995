"""Rows of the depthwise unit in time: each is read, computed and taken beside the array."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from kiwicha.compiler.engine.cost.taken_cycles import TakenCycles
from kiwicha.compiler.engine.cost.unit_work import ArrayShares, UnitWork, unit_work
from kiwicha.contract.depthwise import ROW_SUMS
from kiwicha.contract.engine import EngineJob
from kiwicha.contract.latencies import (
    PARAMETER_CYCLES,
    REQUANTIZER_CYCLES,
    RESULT_WRITE_CYCLES,
    SCRATCHPAD_READ_CYCLES,
)
from kiwicha.program.unit_rows import UnitRows, group_wait

__all__ = ["Span", "UnitLane"]

_START_CYCLES = 3
"""From the start of a job to its first read, less what each row takes."""
_CHAIN_CYCLES = 20
"""From the last column of a row until its first sums can be taken."""
_WRITE_CYCLES = PARAMETER_CYCLES + REQUANTIZER_CYCLES + RESULT_WRITE_CYCLES + 1
_LEAST_SHARE = 0.5
"""Of reads and results, that the unit gets where it waits."""


@dataclass(frozen=True)
class Span:
    """Time in which a group of the array works, and what it leaves to the unit.

    Parameters
    ----------
    first, end : float
        In cycles.
    shares : ArrayShares
        What that is.
    """

    first: float
    end: float
    shares: ArrayShares


class UnitLane:
    """What the unit did so far.

    Attributes
    ----------
    rows : list of float
        When each of its rows is written.
    groups : list of float
        When the sums of each group are taken: its weights and parameters are free.
    written : TakenCycles
        When it writes.
    stolen : float
        What the last job took from the array, in cycles.
    """

    def __init__(self) -> None:
        self.rows: list[float] = []
        self.groups: list[float] = []
        self._spans: list[Span] = []
        self._span_ends: list[float] = []
        self.written = TakenCycles()
        self.stolen = 0.0

    def do(
        self,
        job: EngineJob,
        rows: UnitRows,
        filled: Sequence[float],
        array_rows: Sequence[float],
        time: float,
    ) -> float:
        """Do a job; return when it ends.

        Parameters
        ----------
        job : EngineJob
            Of kind DEPTHWISE_UNIT.
        rows : UnitRows
            For which rows it waits.
        filled : sequence of float
            When the weights of each of its groups are there.
        array_rows : sequence of float
            When rows of the array are written, up to those it waits for.
        time : float
            When it begins.
        """
        self.stolen = 0.0
        flow = _Flow(self, unit_work(job), time + _START_CYCLES)
        for group in range(0, job.groups, 2):
            flow.begin(filled[group : group + 2])
            inside = 0
            for line, is_inside in enumerate(flow.work.input_rows):
                flow.free_slot(line)
                count = 0
                if is_inside:
                    count = rows.wait + group_wait(job, group) + inside * job.wait_row_step
                    inside += 1
                flow.fetch(is_inside, array_rows[count - 1] + 1 if count > 0 else 0.0)
            flow.compute(job.output_rows)
            self.groups += [flow.taken_at] * len(filled[group : group + 2])
        return flow.taken_at + _WRITE_CYCLES

    def add(self, span: Span) -> None:
        """Note what the array does next."""
        self._spans.append(span)
        self._span_ends.append(span.end)

    def delay(self, first_row: int, cycles: float) -> None:
        """Let rows from one on be written later."""
        for row in range(first_row, len(self.rows)):
            self.rows[row] += cycles

    def busy(self, start: float, count: float, what: str) -> float:
        """Return when so many cycles are done in those that the array leaves."""
        time, left = start, count
        for place in range(bisect_right(self._span_ends, start), len(self._spans)):
            span = self._spans[place]
            if span.first >= time + left:
                break
            left -= max(span.first - time, 0.0)
            time = max(time, span.first)
            shares = span.shares
            own = shares.reads if what == "reads" else shares.results
            share = max(own, _LEAST_SHARE) if shares.may_pause else own
            free = (span.end - time) * share
            taken = min(left, free)
            self.stolen += taken * (1.0 - own / share) if share else 0.0
            if left <= free:
                return time + (left / share if share else 0.0)
            left -= free
            time = span.end
        return time + left


class _Flow:
    """A job's rows: those that are fetched of a pair, and those that are computed of all."""

    def __init__(self, lane: UnitLane, work: UnitWork, start: float) -> None:
        self.work = work
        self.taken_at = start
        self._lane = lane
        self._fetched_at = self._computed_at = start
        self._rows_held = max(ROW_SUMS // work.outputs, 1)
        # Output rows that need a line, or an earlier one, first.
        self._needs = [
            sum(start <= line for start in work.starts) for line in range(len(work.input_rows))
        ]
        self._fetched: list[float] = []
        self._taken: list[float] = []
        self._done = 0
        self._filled: Sequence[float] = ()

    def begin(self, filled: Sequence[float]) -> None:
        """Go to the next pair of groups, whose weights come at these times."""
        self._fetched, self._done, self._filled = [], 0, filled

    def free_slot(self, line: int) -> None:
        """Do the output rows for which the line was needed that is where this one goes."""
        if line < self.work.slots:
            return
        needed = self._needs[line - self.work.slots]
        self.compute(min(needed, len(self.work.starts)))
        if self._taken and needed:
            self._fetched_at = max(self._fetched_at, self._computed_at - self.work.row_compute)

    def fetch(self, is_inside: bool, written: float) -> None:
        """Read the next line, once the array has written it."""
        if is_inside:
            self._fetched_at = max(self._fetched_at, written)
            self._fetched_at = self._lane.busy(self._fetched_at, self.work.pixels, "reads")
        self._fetched_at += self.work.row_fetch
        self._fetched.append(self._fetched_at + SCRATCHPAD_READ_CYCLES)

    def compute(self, count: int) -> None:
        """Do so many output rows of the pair, those included that are done."""
        work = self.work
        while self._done < count:
            last = work.starts[self._done] + work.kernel_rows - 1
            for filled in self._filled:
                begins = max(self._computed_at, self._fetched[last], filled)
                if len(self._taken) >= self._rows_held:
                    begins = max(begins, self._taken[-self._rows_held])
                self._computed_at = begins + work.row_compute
                leaves = max(self.taken_at, self._computed_at + _CHAIN_CYCLES)
                self.taken_at = self._lane.busy(leaves, work.outputs, "results")
                self._lane.written.take(
                    leaves, self.taken_at, work.outputs / (self.taken_at - leaves)
                )
                self._taken.append(self.taken_at)
            self._lane.rows.append(self.taken_at + _WRITE_CYCLES)
            self._done += 1

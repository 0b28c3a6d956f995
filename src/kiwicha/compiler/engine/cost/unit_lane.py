"""Rows of the depthwise unit in time: each is read, computed and taken beside the array."""

from bisect import bisect_right
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from math import inf

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

    Parameters
    ----------
    counts_pauses : bool
        Where the array pauses for the unit, transfers move lines in its cycles, too; if not, these
        count for nobody.

    Attributes
    ----------
    rows : list of float
        When each of its rows is written.
    groups : list of float
        When the sums of each group are taken: its weights and parameters are free.
    written : TakenCycles
        When it writes.
    time : float
        When it takes the next sums.
    moved : TakenCycles
        When transfers move lines.
    moving : tuple of float
        From when on to when another one is under way of which no more is known.
    left_lines : TakenCycles
        Lines per cycle that transfers may move because the array pauses for the unit.
    stolen, stolen_for_lines : float
        What the unit took from the array and nobody has asked for yet, in cycles; what those lines
        took besides.
    """

    def __init__(self, *, counts_pauses: bool = False) -> None:
        self.counts_pauses = counts_pauses
        self.rows: list[float] = []
        self.groups: list[float] = []
        self._spans: list[Span] = []
        self._span_ends: list[float] = []
        self.written = TakenCycles()
        self.moved = TakenCycles()
        self.moving = 0.0, 0.0
        self.left_lines = TakenCycles()
        self.stolen = 0.0
        self.stolen_for_lines = 0.0
        self.time = 0.0

    def do(
        self,
        job: EngineJob,
        rows: UnitRows,
        filled: Sequence[float],
        array_rows: Sequence[float],
        time: float,
    ) -> Generator[bool, None, float]:
        """Do a job; return when it ends.

        It stops in front of each row's results, and, with False, where something is not known yet.

        Parameters
        ----------
        job : EngineJob
            Of kind DEPTHWISE_UNIT.
        rows : UnitRows
            For which rows it waits.
        filled : sequence of float
            When the weights of each of its groups are there, as far as known.
        array_rows : sequence of float
            When rows of the array are written, likewise.
        time : float
            When it begins.
        """
        flow = _Flow(self, unit_work(job), time + _START_CYCLES)
        for group in range(0, job.groups, 2):
            while len(filled) < min(group + 2, job.groups):
                yield False
            flow.begin(filled[group : group + 2])
            inside = 0
            for line, is_inside in enumerate(flow.work.input_rows):
                yield from flow.free_slot(line)
                count = 0
                if is_inside:
                    count = rows.wait + group_wait(job, group) + inside * job.wait_row_step
                    inside += 1
                while count > len(array_rows):
                    yield False
                flow.fetch(is_inside, array_rows[count - 1] + 1 if count > 0 else 0.0)
                if flow.comes_to_row():
                    yield True
                    yield from flow.compute_row()
            while flow.comes_to_row():
                yield True
                yield from flow.compute_row()
            self.groups += [flow.taken_at] * len(filled[group : group + 2])
        return flow.taken_at + _WRITE_CYCLES

    def add(self, span: Span) -> None:
        """Note what the array does next."""
        self._spans.append(span)
        self._span_ends.append(span.end)

    def busy(self, start: float, count: float, what: str) -> float:
        """Return when so many cycles are done in those that others leave."""
        time, left = start, count
        place = bisect_right(self._span_ends, start)
        while True:
            own, may_pause, until = 1.0, False, inf
            if place < len(self._spans):
                span = self._spans[place]
                until = span.end if span.first <= time else span.first
                if span.first <= time:
                    own = span.shares.reads if what == "reads" else span.shares.results
                    may_pause = span.shares.may_pause
            share = max(own, _LEAST_SHARE) if may_pause else own
            given = own / share if share else 1.0
            for_lines = 0.0
            if what == "results":
                # Transfers that wait have half of what there is.
                moved, moved_until = self.moved.at(time)
                first, end = self.moving
                if first <= time < end:
                    moved, moved_until = 1.0, end
                elif time < first < end:
                    moved_until = min(moved_until, first)
                for_lines = min(moved, share / 2)
                share, until = max(share - moved, share / 2), min(until, moved_until)
            free = (until - time) * share if share else 0.0
            self.stolen += min(left, free) * (1.0 - given)
            if self.counts_pauses and for_lines and given < 1.0:
                # The array pauses for the unit, and lines of transfers come first.
                end = min(time + left / share, until)
                self.left_lines.take(time, end, for_lines)
                self.stolen_for_lines += (end - time) * for_lines * (1.0 - given)
            if left <= free:
                return time + left / share
            left, time = left - free, until
            if place < len(self._spans) and time == self._span_ends[place]:
                place += 1


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

    def free_slot(self, line: int) -> Iterator[bool]:
        """Do the output rows for which the line was needed that is where this one goes."""
        if line < self.work.slots:
            return
        needed = self._needs[line - self.work.slots]
        while self._done < needed and self._has_row():
            yield from self.compute_row()
        if self._taken and needed:
            self._fetched_at = max(self._fetched_at, self._computed_at - self.work.row_compute)

    def fetch(self, is_inside: bool, written: float) -> None:
        """Read the next line, once the array has written it."""
        if is_inside:
            self._fetched_at = max(self._fetched_at, written)
            self._fetched_at = self._lane.busy(self._fetched_at, self.work.pixels, "reads")
        self._fetched_at += self.work.row_fetch
        self._fetched.append(self._fetched_at + SCRATCHPAD_READ_CYCLES)

    def comes_to_row(self) -> bool:
        """Note when the next output row's sums can be taken; False if none has its lines."""
        if not self._has_row():
            return False
        computed_at = self._next_computed(self._filled[0])
        self._lane.time = max(self.taken_at, computed_at + _CHAIN_CYCLES)
        return True

    def _has_row(self) -> bool:
        """Whether there is an output row all of whose lines are there."""
        starts = self.work.starts
        last = starts[self._done] + self.work.kernel_rows if self._done < len(starts) else inf
        return last <= len(self._fetched)

    def _next_computed(self, filled: float) -> float:
        """Return when the next row of a group is computed, whose weights come at a time."""
        work = self.work
        last = work.starts[self._done] + work.kernel_rows - 1
        begins = max(self._computed_at, self._fetched[last], filled)
        if len(self._taken) >= self._rows_held:
            begins = max(begins, self._taken[-self._rows_held])
        return begins + work.row_compute

    def compute_row(self) -> Iterator[bool]:
        """Do the next output row of the pair."""
        work = self.work
        for place, filled in enumerate(self._filled):
            self._computed_at = self._next_computed(filled)
            leaves = max(self.taken_at, self._computed_at + _CHAIN_CYCLES)
            if place and self._lane.counts_pauses:
                # What others do meanwhile is known first.
                self._lane.time = leaves
                yield True
            stolen = self._lane.stolen
            self.taken_at = self._lane.busy(leaves, work.outputs, "results")
            # What is stolen counts as the array's, behind what that does.
            own = work.outputs - (self._lane.stolen - stolen)
            self._lane.written.take(leaves, self.taken_at, own / (self.taken_at - leaves))
            self._taken.append(self.taken_at)
        self._lane.time = self.taken_at
        self._lane.rows.append(self.taken_at + _WRITE_CYCLES)
        self._done += 1

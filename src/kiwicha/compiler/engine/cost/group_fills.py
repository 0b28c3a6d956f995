"""Weights of a list's groups on their way: when they are there, for the array and for the unit."""

import math
from collections.abc import Sequence

from kiwicha.compiler.engine.cost.job_work import Work
from kiwicha.compiler.engine.cost.taken_cycles import TakenCycles
from kiwicha.contract.depthwise import PARAMETER_PLACES, PASS_PLACES
from kiwicha.contract.engine import LINE_BYTES, EngineJob
from kiwicha.contract.latencies import PORT_TURN_WORDS, WEIGHTS_READY_CYCLES
from kiwicha.contract.memories import Memory
from kiwicha.contract.moves import AnyJob
from kiwicha.program.unit_rows import is_unit_job

__all__ = ["GroupFills"]


class GroupFills:
    """Fills of the weight buffer and of the unit's memories, in the order of jobs and groups.

    Parameters
    ----------
    jobs : sequence
        The list.
    works : sequence of Work
        What each of them keeps busy.
    memory : Memory
        What DRAM the system has.
    refill_cycles : int
        From the end of a group until its bank can be filled again.
    unit_groups : list of float
        When the sums of each group of the unit are taken, as far as known.
    start : float
        When the first words can come.

    Attributes
    ----------
    filled : list of list of float
        Of each job: when each group's weights are there, as far as known.
    releases : list of float
        When banks of the weight buffer become free, likewise.
    port_free : float
        When DRAM's port has done what was asked for.
    fetched : TakenCycles
        When it fetches weights.
    """

    def __init__(
        self,
        jobs: Sequence[AnyJob],
        works: Sequence[Work],
        memory: Memory,
        refill_cycles: int,
        unit_groups: list[float],
        start: float,
    ) -> None:
        self._jobs = jobs
        self._works = works
        self._memory = memory
        self._refill_cycles = refill_cycles
        self._unit_groups = unit_groups
        self.filled: list[list[float]] = [[] for _ in jobs]
        self.releases: list[float] = [-math.inf, -math.inf]
        self.port_free = start
        self.fetched = TakenCycles()
        # How often a bank was filled; passes of the unit's groups that were filled, and how many of
        # the first groups gave room for others.
        self._array_fills = 0
        self._unit_passes: list[int] = []
        self._unit_freed = self._unit_held = 0
        self._next_fill = (0, 0)
        self._fill_end = -math.inf

    def fill(self) -> bool:
        """Fetch the weights of groups as long as it is known where there is room for them."""
        has_moved = False
        while self._next_fill[0] < len(self._jobs):
            number, group = self._next_fill
            job, work = self._jobs[number], self._works[number]
            if isinstance(job, EngineJob):
                room = self._room_of_unit(job) if is_unit_job(job) else self._room_of_array()
                if room is None:
                    break
                first = max(room, self._fill_end, self.port_free - work.fill_bytes / LINE_BYTES)
                lines = work.fill_bytes / self._memory.bytes_per_cycle
                # What has room in the reader comes before the bank is free.
                begin = max(self.port_free, room - 2 * LINE_BYTES)
                self.port_free = begin + lines
                # A few words come in one turn of the port, many take turns with transfers.
                is_short = work.fill_bytes <= PORT_TURN_WORDS * LINE_BYTES
                self.fetched.take(begin, self.port_free, 1.0 if is_short else 0.5)
                more = work.first_fill_cycles if group == 0 else 0
                self._fill_end = max(first + work.fill_cycles + more, self.port_free)
                self.filled[number].append(self._fill_end + WEIGHTS_READY_CYCLES)
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
        if self._array_fills >= len(self.releases):
            return None
        return self.releases[self._array_fills] + self._refill_cycles

    def _room_of_unit(self, job: AnyJob) -> float | None:
        """Return the same of the room for a group's weights in the unit, whose groups free it."""
        assert isinstance(job, EngineJob)
        while (
            len(self._unit_passes) - self._unit_freed >= PARAMETER_PLACES
            or self._unit_held + job.group_words > PASS_PLACES
        ):
            if self._unit_freed >= len(self._unit_groups):
                return None
            self._unit_held -= self._unit_passes[self._unit_freed]
            self._unit_freed += 1
        return self._unit_groups[self._unit_freed - 1] if self._unit_freed else -math.inf

"""What the engine and the CPU's steps did, cycle by cycle, as the harness logged it."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.engine import LINE_BYTES
from kiwicha.sim.soc.probes import Bit, Count

__all__ = ["Activity", "Span"]

_RECORD = np.dtype([
    ("cycle", "<u8"),
    ("engine", "<u8"),
    ("progress", "<u4"),
    ("reads", "<u4"),
    ("writes", "<u4"),
    ("reserved", "<u4"),
])
"""``ActivityRecord`` of the harness."""

Span = tuple[int, int]
"""First cycle, and the first that does not belong to it."""
Cycles = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Activity:
    """States of a simulation, each from its cycle to that of the next.

    Parameters
    ----------
    records : array
        A row for each change of state, some between, and one at the end.
    """

    records: NDArray[Any]

    @classmethod
    def from_bytes(cls, raw: bytes) -> Self:
        """Return the log that a simulator wrote."""
        whole = len(raw) // _RECORD.itemsize * _RECORD.itemsize
        return cls(np.frombuffer(raw[:whole], _RECORD))

    @property
    def cycles(self) -> Cycles:
        """When each state begins."""
        return self.records["cycle"].astype(np.int64)

    @property
    def end(self) -> int:
        """Cycles of the simulation."""
        return int(self.records["cycle"][-1]) if len(self.records) else 0

    def is_set(self, bit: Bit) -> NDArray[np.bool_]:
        """Return a bit in each state."""
        engine: NDArray[np.uint64] = self.records["engine"]
        return (engine >> np.uint64(bit) & np.uint64(1)).astype(np.bool_)

    def count(self, count: Count) -> Cycles:
        """Return a count in each state."""
        engine: NDArray[np.uint64] = self.records["engine"]
        return (engine >> np.uint64(count.shift) & np.uint64(count.mask)).astype(np.int64)

    def spans(self, active: NDArray[np.bool_], *, gap: int = 0) -> list[Span]:
        """Return the spans in which a condition holds.

        Parameters
        ----------
        active : bool [states]
            Whether it holds in each state.
        gap : int
            Spans at most so many cycles apart are joined.
        """
        padded = np.concatenate([[False], active[:-1], [False]])
        edges = np.flatnonzero(padded[1:] != padded[:-1])
        times = self.cycles[edges]
        spans: list[Span] = []
        for start, end in zip(times[::2].tolist(), times[1::2].tolist(), strict=True):
            if spans and start - spans[-1][1] <= gap:
                spans[-1] = (spans[-1][0], end)
            else:
                spans.append((start, end))
        return spans

    def active_cycles(self, active: NDArray[np.bool_], at: Cycles) -> Cycles:
        """Return in how many cycles before each of some cycles a condition held.

        Parameters
        ----------
        active : bool [states]
            Whether it holds in each state.
        at : int64
            Cycles, in any order.
        """
        cycles = self.cycles
        lengths, before = self._lengths(active)
        state = np.clip(np.searchsorted(cycles, at, "right") - 1, 0, len(cycles) - 1)
        partial = np.clip(at - cycles[state], 0, lengths[state]) * active[state]
        found: Cycles = np.asarray(before[state] + partial, np.int64)
        return found

    def cycle_of(self, active: NDArray[np.bool_], count: int) -> int:
        """Return the cycle before which a condition held in ``count`` cycles, and in which it does.

        Without such a cycle it is the end.
        """
        _, before = self._lengths(active)
        state = int(np.searchsorted(before, count, "right")) - 1
        if state >= len(self.records):
            return self.end
        return int(self.cycles[state]) + count - int(before[state])

    def _lengths(self, active: NDArray[np.bool_]) -> tuple[Cycles, Cycles]:
        """Return the length of each state, and in how many cycles before it a condition held."""
        cycles = self.cycles
        lengths = np.diff(cycles, append=cycles[-1:])
        return lengths, np.concatenate([[0], np.cumsum(lengths * active)])

    def lists(self) -> list[Span]:
        """Return when the engine executed each list."""
        return self.spans(self.is_set(Bit.RUNNING))

    def increments(self, values: Cycles, span: Span) -> list[int]:
        """Return the cycles inside a span in which a count grew, once for each step by one."""
        cycles = self.cycles
        grown = np.diff(values, prepend=values[:1])
        inside = (cycles > span[0]) & (cycles <= span[1]) & (grown > 0)
        return [
            cycle
            for cycle, by in zip(cycles[inside].tolist(), grown[inside].tolist(), strict=True)
            for _ in range(by)
        ]

    def step_ends(self) -> list[int]:
        """Return when each step was noted as finished, some 100 cycles after its end."""
        progress = self.records["progress"].astype(np.int64)
        return self.increments(progress, (-1, self.end))

    def cpu_bytes(self, at: Cycles) -> tuple[Cycles, Cycles]:
        """Return the bytes of DRAM that the CPU had read and written at some cycles, about."""
        cycles = self.cycles
        reads, writes = (
            np.interp(at, cycles, self.records[name].astype(np.int64)).round().astype(np.int64)
            for name in ("reads", "writes")
        )
        return reads * LINE_BYTES, writes * LINE_BYTES

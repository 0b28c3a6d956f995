"""What a cascade computes, stripe by stripe, wherever its tensors are."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.engine.cost.job_work import JOB_CYCLES
from kiwicha.compiler.engine.schedule.estimates.operation_costs import OperationCost
from kiwicha.compiler.engine.schedule.stripes.cascade import Cascade
from kiwicha.contract.engine import LINE_BYTES
from kiwicha.contract.memories import DDR3_QUARTER_RATE, Memory

__all__ = ["Arithmetic", "Stripes", "total"]


@dataclass(frozen=True, eq=False)
class Stripes:
    """What stripes of a cascade take, one after the other.

    Parameters
    ----------
    firsts, lasts : ndarray of int64 [stripes]
        First and last row of the last operation.
    compute : ndarray of float64 [stripes]
        Cycles of all jobs.
    free : ndarray of float64 [operations, stripes]
        Those of the jobs of an operation beside which lines can be transferred.
    weights : ndarray of float64 [stripes]
        Cycles in which DRAM gives the weights.
    """

    firsts: NDArray[np.int64]
    lasts: NDArray[np.int64]
    compute: NDArray[np.float64]
    free: NDArray[np.float64]
    weights: NDArray[np.float64]


class Arithmetic:
    """What a cascade computes.

    Parameters
    ----------
    cascade : Cascade
        The operations.
    costs : sequence of OperationCost
        Of its operations.
    memory : Memory
        Where its weights are.
    """

    def __init__(
        self,
        cascade: Cascade,
        costs: Sequence[OperationCost],
        memory: Memory = DDR3_QUARTER_RATE,
    ) -> None:
        self.cascade = cascade
        self.memory = memory
        row_cycles, row_lines, weight_bytes, jobs = zip(
            *((cost.row_cycles, cost.row_lines, cost.weight_bytes, cost.jobs) for cost in costs),
            strict=True,
        )
        self._row_cycles = np.array(row_cycles)[:, np.newaxis]
        self._row_lines = np.array(row_lines)[:, np.newaxis]
        self._weights = np.array(weight_bytes)[:, np.newaxis]
        self._jobs = np.array(jobs)[:, np.newaxis]
        self._of_rows = [cost.of_rows for cost in costs]
        self._known: dict[int, Stripes] = {}

    def stripes(self, height: int) -> Stripes:
        """Return what stripes of so many rows take."""
        if height not in self._known:
            self._known[height] = self._stripes(height)
        return self._known[height]

    def rows(self, height: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the first and last rows of the last operation in stripes of so many rows."""
        count = self.cascade.rows.output_starts.shape[1]
        firsts = np.arange(0, count, height)
        return firsts, np.minimum(firsts + height, count) - 1

    def _stripes(self, height: int) -> Stripes:
        rows = self.cascade.rows
        firsts, lasts = self.rows(height)
        computed = rows.output_ends[:, lasts] - rows.output_starts[:, firsts]
        cycles = computed * self._row_cycles
        row_lines = computed * self._row_lines
        jobs = np.broadcast_to(self._jobs, computed.shape).copy()
        weights = np.broadcast_to(self._weights, computed.shape).copy()
        for number, of_rows in enumerate(self._of_rows):
            if of_rows is None:
                continue
            for size in set(computed[number].tolist()):
                cost, found = of_rows(size), computed[number] == size
                cycles[number, found] = size * cost.row_cycles
                row_lines[number, found] = size * cost.row_lines
                jobs[number, found] = cost.jobs
                weights[number, found] = cost.weight_bytes
        waits = np.maximum(weights / self.memory.bytes_per_cycle - cycles, 0.0)
        lines = row_lines * LINE_BYTES / self.memory.bytes_per_cycle
        return Stripes(
            firsts=firsts,
            lasts=lasts,
            compute=total([JOB_CYCLES * jobs.sum(axis=0), *(cycles + waits)]),
            free=np.minimum(cycles, lines) + waits + JOB_CYCLES,
            weights=weights.sum(axis=0) / self.memory.bytes_per_cycle,
        )


def total(parts: Sequence[NDArray[np.float64]] | NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sum, added in order: the same to the last bit on every machine."""
    found: NDArray[np.float64] = np.add.accumulate(parts, axis=0)[-1]
    return found

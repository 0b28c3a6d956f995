"""What a cascade needs and takes, by its arithmetic and its traffic alone.

This is for choosing among many; `engine.cost.cycles` predicts what was chosen.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.engine.cost.job_work import JOB_CYCLES
from kiwicha.compiler.engine.ir.move_operations import MoveOperation
from kiwicha.compiler.engine.schedule.estimates.operation_costs import OperationCost
from kiwicha.compiler.engine.schedule.stripes.cascade import Cascade, Room, Striping
from kiwicha.contract.cfu import ALIGNMENT_BYTES
from kiwicha.contract.engine import LINE_BYTES
from kiwicha.contract.floats import FLOAT_BYTES
from kiwicha.contract.latencies import CONVERTED_BYTES_PER_CYCLE
from kiwicha.contract.memories import DDR3_QUARTER_RATE, Memory

__all__ = ["Arithmetic", "Estimate", "transfer_cycles"]

MAX_TRANSFERS = 8192
"""Of a cascade: a list can have more, but not many times more."""


@overload
def transfer_cycles(
    size: int, memory: Memory = ..., count: int = ..., *, converts: bool = ...
) -> float: ...
@overload
def transfer_cycles(
    size: NDArray[np.int64],
    memory: Memory = ...,
    count: NDArray[np.int64] | int = ...,
    *,
    converts: bool = ...,
) -> NDArray[np.float64]: ...
def transfer_cycles(
    size: int | NDArray[np.int64],
    memory: Memory = DDR3_QUARTER_RATE,
    count: NDArray[np.int64] | int = 1,
    *,
    converts: bool = False,
) -> float | NDArray[np.floating[Any]]:
    """Return what a transfer takes, or each of several, given its bytes in the scratchpad.

    Each can be in a number of parts.
    """
    rate = memory.bytes_per_cycle
    if converts:
        rate = min(rate / FLOAT_BYTES, CONVERTED_BYTES_PER_CYCLE)
    return count * memory.transfer_cycles + size / rate


@dataclass(frozen=True, eq=False)
class _Stripes:
    """What stripes of a cascade take, one after the other, wherever its tensors are.

    Parameters
    ----------
    firsts, lasts : ndarray of int64 [stripes]
        First and last row of the last operation.
    compute : ndarray of float64 [stripes]
        Cycles of all jobs.
    free : ndarray of float64 [operations, stripes]
        Those of the jobs of an operation beside which lines can be transferred.
    """

    firsts: NDArray[np.int64]
    lasts: NDArray[np.int64]
    compute: NDArray[np.float64]
    free: NDArray[np.float64]


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
        self._weights = np.array(weight_bytes)[:, np.newaxis] / memory.bytes_per_cycle
        self._job_cycles = JOB_CYCLES * sum(jobs)
        self._known: dict[int, _Stripes] = {}
        self.weight_cycles = sum(weight_bytes) / memory.bytes_per_cycle
        """Cycles in which DRAM gives the weights."""

    def stripes(self, height: int) -> _Stripes:
        """Return what stripes of so many rows take."""
        if height not in self._known:
            self._known[height] = self._stripes(height)
        return self._known[height]

    def _stripes(self, height: int) -> _Stripes:
        rows = self.cascade.rows
        count = rows.output_starts.shape[1]
        firsts = np.arange(0, count, height)
        lasts = np.minimum(firsts + height, count) - 1
        computed = rows.output_ends[:, lasts] - rows.output_starts[:, firsts]
        cycles = computed * self._row_cycles
        waits = np.maximum(self._weights - cycles, 0.0)
        lines = computed * self._row_lines * LINE_BYTES / self.memory.bytes_per_cycle
        return _Stripes(
            firsts=firsts,
            lasts=lasts,
            compute=_total([np.full(len(firsts), self._job_cycles), *(cycles + waits)]),
            free=np.minimum(cycles, lines) + waits + JOB_CYCLES,
        )


class Estimate:
    """A cascade with some of its inputs, and perhaps its output, in the arena.

    Parameters
    ----------
    arithmetic : Arithmetic
        What it computes.
    streamed : frozenset of int
        What is in the arena.
    """

    def __init__(self, arithmetic: Arithmetic, streamed: frozenset[int]) -> None:
        self._arithmetic = arithmetic
        self._cascade = cascade = arithmetic.cascade
        self._known_bytes: dict[tuple[bool, Room], list[int]] = {}
        self._known_cycles: dict[Striping, float] = {}
        self._inputs = [tensor for tensor in cascade.inputs if tensor in streamed]
        self._stores = cascade.output in streamed
        last = cascade.operations[-1]
        self._parts = last.planes if isinstance(last, MoveOperation) else 1
        # Otherwise there is nothing to be gained by stripes.
        self.is_whole = not self._inputs and not self._stores and len(cascade.operations) == 1

    def bytes(self, striping: Striping) -> int:
        """Return the bytes of the scratchpad that its stripes need."""
        heights = np.array([striping.height])
        found = self._bytes(heights, striping.is_early, striping.room)
        return 0 if self.is_whole else found[0]

    def bytes_by_height(self, is_early: bool, room: Room) -> list[int]:
        """Return the same for all heights that stripes can have."""
        mode = is_early, room
        if mode not in self._known_bytes:
            heights = np.array(self._cascade.heights)
            self._known_bytes[mode] = self._bytes(heights, is_early, room)
        return self._known_bytes[mode]

    def _bytes(self, heights: NDArray[np.int64], is_early: bool, room: Room) -> list[int]:
        """Return the most bytes that the first three stripes of each height need."""
        rows = self._cascade.rows.output_starts.shape[1]
        firsts = np.arange(3)[:, np.newaxis] * heights
        # Where there are fewer, the first one counts again.
        firsts[firsts >= rows] = 0
        lasts = np.minimum(firsts + heights, rows) - 1
        loads = (size for size, _ in self._loaded(firsts, lasts))
        sizes = [*loads, *self._written_bytes(firsts, lasts)]
        alone, beside = self._live(is_early, room)
        flat = np.reshape(sizes, (len(sizes), -1))
        live = (alone @ flat).reshape(-1, *firsts.shape)
        live += (heights < rows) * (beside @ flat).reshape(live.shape)
        found: list[int] = live.max(axis=(0, 1)).tolist()
        return found

    def _live(self, is_early: bool, room: Room) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return what is live while each operation of a stripe works: 1, or else 0.

        Both are int64 [operations, inputs and then outputs]: what belongs to the stripe, and what
        is there for its neighbours.
        """
        cascade = self._cascade
        count, inputs = len(cascade.operations), len(self._inputs)
        alone = np.zeros((count, inputs + count), np.int64)
        beside = np.zeros_like(alone)
        striping = Striping(cascade, 1, is_early, room)
        for number, tensor in enumerate(self._inputs):
            alone[: cascade.readers(tensor)[-1] + 1, number] = 1
            # The next stripe's inputs are on their way.
            beside[striping.load_turn(tensor) :, number] = 1
        for number, operation in enumerate(cascade.operations[:-1]):
            alone[number : cascade.readers(operation.output)[-1] + 1, inputs + number] = 1
        if self._stores:
            alone[-1, -1] = 1
            # The last stripe's output is, too.
            turns = {Room.STRIPE: count, Room.OPERATION: 1, Room.STORE: 0}
            beside[: turns[room], -1] = 1
        return alone, beside

    def _loaded(
        self, firsts: NDArray[np.int64], lasts: NDArray[np.int64]
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Yield what stripes load of each input, given their first and last rows.

        Bytes, and in how many transfers.
        """
        for tensor in self._inputs:
            starts, ends = self._cascade.input_bytes(tensor)
            first_bytes = starts[firsts]
            whole = _aligned(ends[lasts] - (first_bytes - first_bytes % ALIGNMENT_BYTES))
            planes = self._cascade.planes(tensor)
            if planes is None:
                yield whole, np.ones_like(whole)
                continue
            parts, is_better = planes.loaded(firsts, lasts)
            yield np.where(is_better, parts, whole), np.where(is_better, planes.count, 1)

    def _written_bytes(
        self, firsts: NDArray[np.int64], lasts: NDArray[np.int64]
    ) -> Iterator[NDArray[np.int64]]:
        """Yield the bytes that each operation writes for stripes."""
        rows = self._cascade.rows
        for number, operation in enumerate(self._cascade.operations):
            count = rows.output_ends[number][lasts] - rows.output_starts[number][firsts]
            size = count * self._cascade.region.output_row_bytes(operation)
            if operation.starts_anywhere:
                planes = operation.planes if isinstance(operation, MoveOperation) else 1
                size += ALIGNMENT_BYTES * planes
            yield _aligned(size)

    def cycles(self, striping: Striping) -> float:
        """Return what it takes, from its first load to its last store."""
        if striping not in self._known_cycles:
            self._known_cycles[striping] = self._cycles(striping)
        return self._known_cycles[striping]

    def _cycles(self, striping: Striping) -> float:
        stripes = self._arithmetic.stripes(striping.height)
        free, compute = stripes.free, stripes.compute
        memory, tables = self._arithmetic.memory, self._cascade.region.tables
        loaded = list(self._loaded(stripes.firsts, stripes.lasts))
        loads = [
            transfer_cycles(size, memory, count, converts=tensor in tables)
            for tensor, (size, count) in zip(self._inputs, loaded, strict=True)
        ]
        transfers = sum(int(count.sum()) for _, count in loaded)
        if transfers + self._stores * self._parts * len(compute) > MAX_TRANSFERS:
            return math.inf
        nothing = np.zeros_like(compute)
        stores = nothing
        if self._stores:
            *_, size = self._written_bytes(stripes.firsts, stripes.lasts)
            converts = self._cascade.output in tables
            stores = transfer_cycles(size, memory, self._parts, converts=converts)
        # What of the loads is not hidden by jobs before their stripe, or before their reader.
        late = nothing
        for tensor, cycles in zip(self._inputs, loads, strict=True):
            turn = striping.load_turn(tensor)
            if turn < len(free):
                hidden = _behind(_total(free[turn:]))
            else:
                hidden = _total([nothing, *free[: self._cascade.readers(tensor)[0]]])
                hidden[0] = 0.0
            late = late + np.maximum(cycles - hidden, 0.0)
        # The last store has the port first, and must end before its room is needed.
        store = _behind(stores)
        blocked = {
            Room.STRIPE: nothing,
            Room.OPERATION: np.maximum(store - free[0], 0.0),
            Room.STORE: store,
        }[striping.room]
        moved = _behind(_total([nothing, *loads])) + store
        by_transfers = np.maximum(
            moved - _total(free) - blocked, moved + self._arithmetic.weight_cycles - compute
        )
        parts = np.stack([late + blocked + compute, np.maximum(by_transfers, 0.0)], axis=1)
        return float(_total(parts.reshape(-1)) + stores[-1])


def _total(parts: Sequence[NDArray[np.float64]] | NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sum, added in order: the same to the last bit on every machine."""
    found: NDArray[np.float64] = np.add.accumulate(parts, axis=0)[-1]
    return found


def _behind(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return for each stripe the value of the one before, 0 for the first."""
    return np.concatenate([[0.0], values[:-1]])


def _aligned(size: NDArray[np.int64]) -> NDArray[np.int64]:
    return -(-size // ALIGNMENT_BYTES) * ALIGNMENT_BYTES

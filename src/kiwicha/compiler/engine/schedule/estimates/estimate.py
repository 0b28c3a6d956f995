"""What a cascade needs and takes, by its arithmetic and its traffic alone.

This is for choosing among many; `engine.cost.cycles` predicts what was chosen.
"""

import math
from collections.abc import Iterator
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.engine.ir.move_operations import MoveOperation
from kiwicha.compiler.engine.schedule.estimates.arithmetic import Arithmetic, total
from kiwicha.compiler.engine.schedule.estimates.groups import grouped_cycles
from kiwicha.compiler.engine.schedule.stripes.cascade import Room, Striping
from kiwicha.contract.cfu import ALIGNMENT_BYTES
from kiwicha.contract.floats import FLOAT_BYTES
from kiwicha.contract.latencies import CONVERTED_BYTES_PER_CYCLE
from kiwicha.contract.memories import DDR3_QUARTER_RATE, Memory

__all__ = ["Estimate", "transfer_cycles"]

MAX_TRANSFERS = 32768
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
        self.streamed = streamed
        self._inputs = [tensor for tensor in cascade.inputs if tensor in streamed]
        self._stores = cascade.output in streamed
        last = cascade.operations[-1]
        self._parts = last.planes if isinstance(last, MoveOperation) else 1
        self.can_group = bool(self._inputs) and self._stores
        # Otherwise there is nothing to be gained by stripes.
        self.is_whole = not self._inputs and not self._stores and len(cascade.operations) == 1

    def bytes(self, striping: Striping) -> int:
        """Return the bytes of the scratchpad that its stripes need."""
        if self.is_whole:
            return 0
        heights = np.array([striping.height])
        if striping.is_grouped:
            return self._grouped_bytes(striping)
        return self._bytes(heights, striping.is_early, striping.room)[0]

    def _grouped_bytes(self, striping: Striping) -> int:
        """Return the bytes of a group on one side, and of two stripes on the other one."""
        firsts, lasts = self._first_rows(np.array([striping.height]))
        many_firsts, many_lasts = self._first_rows(
            np.array([striping.height * striping.loads_for * striping.stores_of])
        )
        is_loads = striping.loads_for > 1
        loads = (many_firsts, many_lasts) if is_loads else (firsts, lasts)
        stores = (firsts, lasts) if is_loads else (many_firsts, many_lasts)
        loaded = sum(int(size.max()) for size, _ in self._loaded(*loads))
        written = int(list(self._written_bytes(*stores))[-1].max())
        return loaded * (1 if is_loads else 2) + written * (2 if is_loads else 1)

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
        firsts, lasts = self._first_rows(heights)
        loads = (size for size, _ in self._loaded(firsts, lasts))
        sizes = [*loads, *self._written_bytes(firsts, lasts)]
        alone, beside = self._live(is_early, room)
        flat = np.reshape(sizes, (len(sizes), -1))
        live = (alone @ flat).reshape(-1, *firsts.shape)
        live += (heights < rows) * (beside @ flat).reshape(live.shape)
        found: list[int] = live.max(axis=(0, 1)).tolist()
        return found

    def _first_rows(
        self, heights: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the first and last rows of the first three stripes of each height."""
        rows = self._cascade.rows.output_starts.shape[1]
        firsts = np.arange(3)[:, np.newaxis] * heights
        # Where there are fewer, the first one counts again.
        firsts[firsts >= rows] = 0
        return firsts, np.minimum(firsts + heights, rows) - 1

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
            spans = self._cascade.span_bytes(tensor, firsts, lasts)
            if spans is not None:
                size, count = spans
                yield _aligned(size + ALIGNMENT_BYTES), count
                continue
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
        read = self._arithmetic.rows(striping.height * striping.loads_for)
        written = self._arithmetic.rows(striping.height * striping.stores_of)
        loaded = list(self._loaded(*read))
        loads = [
            transfer_cycles(size, memory, count, converts=tensor in tables)
            for tensor, (size, count) in zip(self._inputs, loaded, strict=True)
        ]
        transfers = sum(int(count.sum()) for _, count in loaded)
        if transfers + self._stores * self._parts * len(written[0]) > MAX_TRANSFERS:
            return math.inf
        nothing = np.zeros_like(compute)
        stores = nothing
        if self._stores:
            *_, size = self._written_bytes(*written)
            converts = self._cascade.output in tables
            stores = transfer_cycles(size, memory, self._parts, converts=converts)
        if striping.is_grouped:
            return grouped_cycles(striping, compute, total(free), total(loads), stores)
        # What of the loads is not hidden by jobs before their stripe, or before their reader.
        late = nothing
        for tensor, cycles in zip(self._inputs, loads, strict=True):
            turn = striping.load_turn(tensor)
            if turn < len(free):
                hidden = _behind(total(free[turn:]))
            else:
                hidden = total([nothing, *free[: self._cascade.readers(tensor)[0]]])
                hidden[0] = 0.0
            late = late + np.maximum(cycles - hidden, 0.0)
        # The last store has the port first, and must end before its room is needed.
        store = _behind(stores)
        blocked = {
            Room.STRIPE: nothing,
            Room.OPERATION: np.maximum(store - free[0], 0.0),
            Room.STORE: store,
        }[striping.room]
        moved = _behind(total([nothing, *loads])) + store
        # What was waited for is done before.
        waited = _behind(late) + blocked
        by_transfers = np.maximum(
            moved - total(free) - waited,
            moved + stripes.weights - compute - waited,
        )
        parts = np.stack([late + blocked + compute, np.maximum(by_transfers, 0.0)], axis=1)
        return float(total(parts.reshape(-1)) + stores[-1])


def _behind(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return for each stripe the value of the one before, 0 for the first."""
    return np.concatenate([[0.0], values[:-1]])


def _aligned(size: NDArray[np.int64]) -> NDArray[np.int64]:
    return -(-size // ALIGNMENT_BYTES) * ALIGNMENT_BYTES

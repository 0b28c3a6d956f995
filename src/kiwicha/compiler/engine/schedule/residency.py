"""Which tensors of a region stay in the scratchpad, and which operations run interleaved.

Every tensor is *resident* (all of it in the scratchpad while it is needed), *streamed* (in the
arena; what writes or reads it works in stripes) or *passed on* within a cascade (only stripes of it
exist). The choice is the one of the least estimated cycles, found operation by operation: what was
best up to an operation depends only on which of the tensors that are still needed are resident.
"""

import bisect
import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from kiwicha.compiler.engine.ir.plan import MAX_REGION_JOBS
from kiwicha.compiler.engine.ir.refusals import RefusedError
from kiwicha.compiler.engine.ir.region import Region
from kiwicha.compiler.engine.schedule.estimates.arithmetic import Arithmetic
from kiwicha.compiler.engine.schedule.estimates.estimate import Estimate, transfer_cycles
from kiwicha.compiler.engine.schedule.estimates.groups import grouped_stripings
from kiwicha.compiler.engine.schedule.estimates.operation_costs import operation_costs
from kiwicha.compiler.engine.schedule.stripes.cascade import Cascade, Choice, Room, Striping
from kiwicha.contract.cfu import ALIGNMENT_BYTES
from kiwicha.contract.memories import DDR3_QUARTER_RATE, Memory

__all__ = ["Chooser"]

MAX_CASCADE_OPERATIONS = 8
"""Longer ones compute too many rows twice."""
MODES = ((True, Room.STRIPE), (True, Room.OPERATION), (False, Room.OPERATION), (False, Room.STORE))
"""What is tried of ``is_early`` and ``room`` of a `Striping`.

The last one only if nothing else fits, or if a stripe takes many stores: then few stripes count.
"""
MAX_CHOICES = 5
"""Tensors of a cascade of which each is tried in both ways, whatever becomes of the others."""
MORE_STRIPES = (0, 1, 2, 3, 5, 8)
"""More stripes than memory asks for, which are tried: small ones begin and end sooner."""


@dataclass(frozen=True)
class _Way:
    """The best way so far to the end of a cascade."""

    cycles: float
    striping: Striping | None = None
    resident: frozenset[int] = frozenset()
    before: "_Way | None" = None


class Chooser:
    """The choices for a region.

    Parameters
    ----------
    region : Region
        The operations.
    macs : int
        Products per cycle.
    memory : Memory
        Where the arena is.
    """

    def __init__(self, region: Region, macs: int, memory: Memory = DDR3_QUARTER_RATE) -> None:
        self._region = region
        self._memory = memory
        self._costs = operation_costs(region, macs)
        self._cascades = [list(self._possible(first)) for first in range(len(region.operations))]
        self._arithmetic = {
            cascade: Arithmetic(cascade, self._costs[cascade.first : cascade.end], memory)
            for cascades in self._cascades
            for cascade in cascades
        }
        self._stripings: dict[tuple[Estimate, tuple[int, ...]], tuple[float, Striping] | None] = {}
        self._estimates: dict[tuple[Cascade, frozenset[int]], Estimate] = {}

    def choose(self, capacity: int, spared: Mapping[int, int] | None = None) -> Choice:
        """Return the best choice.

        Parameters
        ----------
        capacity : int
            Bytes of the scratchpad.
        spared : mapping of int to int
            Of these bytes, how many stay free while the operation of this number works.

        Raises
        ------
        RefusedError
            If an operation does not fit, even in stripes; names it.
        """
        left = spared or {}
        way = self._best([capacity - left.get(number, 0) for number in range(len(self._costs))])
        stripings: list[Striping] = []
        outside: set[int] = set()
        resident: set[int] = set()
        while way.striping is not None:
            stripings.append(way.striping)
            outside |= {*way.striping.cascade.inputs, way.striping.cascade.output}
            resident |= way.resident
            assert way.before is not None
            way = way.before
        return Choice(tuple(reversed(stripings)), frozenset(outside - resident))

    def cycles(self, capacity: int) -> float:
        """Return the estimated cycles of the best choice; see `choose`."""
        return self._best([capacity] * len(self._costs)).cycles

    def _possible(self, first: int) -> Iterator[Cascade]:
        last = min(first + MAX_CASCADE_OPERATIONS, len(self._region.operations))
        for end in range(first + 1, last + 1):
            cascade = Cascade(self._region, first, end)
            if cascade.is_possible:
                yield cascade

    def _best(self, capacities: Sequence[int]) -> _Way:
        """Return the best way, given the bytes that each operation may use."""
        region = self._region
        count = len(region.operations)
        is_crowded = [
            size > capacity for size, capacity in zip(self._live_bytes(), capacities, strict=True)
        ]
        ways: list[dict[frozenset[int], _Way]] = [{} for _ in range(count + 1)]
        ways[0][frozenset()] = _Way(0.0)
        for first in range(count):
            for cascade in self._cascades[first]:
                if cascade.passed and not any(is_crowded[first : cascade.end]):
                    # There is no need to work in stripes.
                    continue
                found = ways[cascade.end]
                capacity = min(capacities[first : cascade.end])
                for resident, before in ways[first].items():
                    for way in self._ways(cascade, resident, before, capacity, is_crowded):
                        left = self._needed_from(cascade.end, way.resident)
                        if left not in found or way.cycles < found[left].cycles:
                            found[left] = way
        if not ways[count]:
            stuck = max(first for first in range(count) if ways[first])
            raise self._refusal(stuck, ways[stuck], capacities[stuck])
        return min(ways[count].values(), key=lambda way: way.cycles)

    def _live_bytes(self) -> list[int]:
        """Return for each operation the bytes of all tensors that are needed then or later."""
        region = self._region
        found = [0] * len(region.operations)
        for tensor in dict.fromkeys(
            t for operation in region.operations for t in (*operation.inputs, operation.output)
        ):
            first, last = region.uses(tensor)
            for number in range(first, last + 1):
                found[number] += _aligned(region.tensor_bytes(tensor))
        return found

    def _ways(
        self,
        cascade: Cascade,
        resident: frozenset[int],
        before: _Way,
        capacity: int,
        is_crowded: Sequence[bool],
    ) -> Iterator[_Way]:
        """Try what can be resident or streamed anew."""
        for resident_now, streamed in self._options(cascade, resident, is_crowded):
            free = capacity - self._resident_bytes(cascade, resident_now)
            found = self._stripes(cascade, streamed, free) if free >= 0 else None
            if found is not None:
                cycles, striping = found
                fresh = {*self._fresh_inputs(cascade), cascade.output} & resident_now
                cycles += sum(self._move_cycles(tensor) for tensor in fresh)
                yield _Way(before.cycles + cycles, striping, resident_now, before)

    def _options(
        self, cascade: Cascade, resident: frozenset[int], is_crowded: Sequence[bool]
    ) -> Iterator[tuple[frozenset[int], frozenset[int]]]:
        """Yield what can be resident while a cascade runs, and what is then streamed."""
        region = self._region
        kept = self._needed_from(cascade.first, resident)
        fresh = self._fresh_inputs(cascade)
        options: list[tuple[bool, ...]] = [(True, False)] * len(fresh)
        fresh.append(cascade.output)
        first, last = region.uses(cascade.output)
        may_stream = cascade.output in region.stores or any(is_crowded[first : last + 1])
        options.append((True, False) if may_stream else (True,))
        if cascade.output in region.places:
            options[-1] = (False,)
        choices: Iterable[tuple[bool, ...]] = itertools.product(*options)
        if len(fresh) > MAX_CHOICES:
            # All inputs or none: there would be too many ways.
            count = len(fresh) - 1
            choices = [(*[stays] * count, last) for stays in (True, False) for last in options[-1]]
        for choice in choices:
            chosen = {tensor for tensor, stays in zip(fresh, choice, strict=True) if stays}
            now = kept | chosen
            streamed = frozenset({*cascade.inputs, cascade.output} - now)
            if all(region.is_streamable(tensor) for tensor in streamed):
                yield now, streamed

    def _fresh_inputs(self, cascade: Cascade) -> list[int]:
        """Return the inputs of a cascade that are not loaded before it."""
        loads = self._region.loads
        return [
            t for t in cascade.inputs if t in loads and self._region.uses(t)[0] >= cascade.first
        ]

    def _needed_from(self, number: int, resident: frozenset[int]) -> frozenset[int]:
        """Return the resident tensors that an operation of this number, or a later one, reads."""
        return frozenset(t for t in resident if self._region.uses(t)[1] >= number)

    def _refusal(
        self, number: int, states: Iterable[frozenset[int]], capacity: int
    ) -> RefusedError:
        """Return why an operation does not fit after any of these sets of resident tensors."""
        operation = self._region.operations[number]
        cascade = self._cascades[number][0]
        needs = []
        there: set[int] = {*operation.inputs, *(found.output for found in self._cascades[number])}
        for resident in states:
            there |= resident
            for now, streamed in self._options(cascade, resident, [True] * len(self._costs)):
                smallest = self._smallest_bytes(cascade, streamed)
                needs.append((self._resident_bytes(cascade, now) + smallest, len(streamed)))
        needed, streamed_count = min(needs, key=lambda need: (need[0], -need[1]))
        if needed > capacity:
            how = "even in its smallest stripes" if streamed_count else "and cannot be streamed"
            why = f"needs {needed:,} bytes of the scratchpad {how}; {capacity:,} are available"
        else:
            why = f"needs more jobs than the {MAX_REGION_JOBS:,} of a region"
        gaps = (tensor for tensor in there if self._region.has_gaps(tensor) and tensor >= 0)
        return RefusedError(operation.position, why, gaps)

    def _smallest_bytes(self, cascade: Cascade, streamed: frozenset[int]) -> int:
        """Return the bytes of the smallest stripes."""
        estimate = self._estimate(cascade, streamed)
        return min(estimate.bytes(Striping(cascade, cascade.heights[0], *mode)) for mode in MODES)

    def _resident_bytes(self, cascade: Cascade, resident: frozenset[int]) -> int:
        host = cascade.host(resident)
        counted = resident - {cascade.output} if host is not None else resident
        return sum(_aligned(self._region.tensor_bytes(tensor)) for tensor in counted)

    def _move_cycles(self, tensor: int) -> float:
        """Return what it takes to load or store a resident tensor, if it must be."""
        if tensor not in self._region.loads and tensor not in self._region.stores:
            return 0.0
        converts = tensor in self._region.tables
        return transfer_cycles(self._region.tensor_bytes(tensor), self._memory, converts=converts)

    def _stripes(
        self, cascade: Cascade, streamed: frozenset[int], free: int
    ) -> tuple[float, Striping] | None:
        """Return the best stripes that fit, and their cycles."""
        estimate = self._estimate(cascade, streamed)
        if estimate.is_whole:
            striping = Striping(cascade, cascade.heights[-1])
            # With many images even one stripe has many jobs.
            is_possible = striping.jobs(streamed) <= MAX_REGION_JOBS
            return (estimate.cycles(striping), striping) if is_possible else None
        counts = tuple(bisect.bisect_right(estimate.bytes_by_height(*mode), free) for mode in MODES)
        key = estimate, counts
        if key not in self._stripings:
            self._stripings[key] = self._best_stripes(cascade, estimate, counts)
        best = self._stripings[key]
        if estimate.can_group:
            for striping in grouped_stripings(cascade, free, estimate.bytes):
                cycles = estimate.cycles(striping)
                is_better = cycles < (math.inf if best is None else best[0])
                if is_better and striping.jobs(streamed) <= MAX_REGION_JOBS:
                    best = cycles, striping
        return best

    def _best_stripes(
        self, cascade: Cascade, estimate: Estimate, counts: Sequence[int]
    ) -> tuple[float, Striping] | None:
        """Return the same, given how many of the possible heights fit in each of the modes."""
        heights = cascade.heights
        rows, unit = heights[-1], heights[0]
        best: tuple[float, Striping] | None = None
        for (is_early, room), found in zip(MODES, counts, strict=True):
            if not found:
                continue
            if best is not None and room is Room.STORE and cascade.most_planes == 1:
                continue
            fewest = -(-rows // heights[found - 1])
            wanted = {-(-_share(rows, fewest + more) // unit) * unit for more in MORE_STRIPES}
            for height in sorted({min(height, heights[found - 1]) for height in wanted}):
                striping = Striping(cascade, height, is_early, room)
                cycles = estimate.cycles(striping)
                is_better = cycles < (math.inf if best is None else best[0])
                if is_better and striping.jobs(estimate.streamed) <= MAX_REGION_JOBS:
                    best = cycles, striping
        return best

    def _estimate(self, cascade: Cascade, streamed: frozenset[int]) -> Estimate:
        key = cascade, streamed
        if key not in self._estimates:
            self._estimates[key] = Estimate(self._arithmetic[cascade], streamed)
        return self._estimates[key]


def _share(rows: int, count: int) -> int:
    return -(-rows // count)


def _aligned(size: int) -> int:
    return -(-size // ALIGNMENT_BYTES) * ALIGNMENT_BYTES

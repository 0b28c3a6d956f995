"""Which tensors of a run stay in the scratchpad, and which layers work side by side.

Every tensor is *resident* (all of it in the scratchpad while it is needed), *streamed* (in the
arena; what writes or reads it works in stripes) or *passed on* within a cascade (only stripes of it
exist). The choice is the one of the least estimated cycles, found layer by layer: what was best up
to a layer depends only on which of the tensors that are still needed are resident.
"""

import bisect
import dataclasses
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from kiwicha.compiler.engine.ir.run import DoesNotFitError, Run
from kiwicha.compiler.engine.schedule.cascade import Cascade, Choice, Stage
from kiwicha.compiler.engine.schedule.estimate import Estimate, layer_costs, transfer_cycles
from kiwicha.contract.cfu import ALIGNMENT_BYTES
from kiwicha.contract.engine import MAX_JOBS

__all__ = ["Chooser"]

MAX_CASCADE_LAYERS = 8
"""Longer ones compute too many rows twice."""
MODES = ((True, True), (True, False), (False, False))
"""What is tried of ``is_early`` and ``keeps_output`` of a `Stage`."""
MORE_STRIPES = (0, 1, 2, 3, 5, 8)
"""More stripes than memory asks for, which are tried: small ones begin and end sooner."""


@dataclass(frozen=True)
class _Step:
    """The best way so far to the end of a cascade."""

    cycles: float
    stage: Stage | None = None
    resident: frozenset[int] = frozenset()
    before: "_Step | None" = None


class Chooser:
    """The choices for a run.

    Parameters
    ----------
    run : Run
        The layers.
    macs : int
        Products per cycle.
    """

    def __init__(self, run: Run, macs: int) -> None:
        self._run = run
        self._costs = layer_costs(run, macs)
        self._cascades = [list(self._possible(first)) for first in range(len(run.layers))]
        self._estimates: dict[tuple[Cascade, frozenset[int]], Estimate] = {}

    def choose(self, capacity: int, spared: Mapping[int, int] | None = None) -> Choice:
        """Return the best choice.

        Parameters
        ----------
        capacity : int
            Bytes of the scratchpad.
        spared : mapping of int to int
            Of these bytes, how many stay free while a layer of this number in the run works.

        Raises
        ------
        DoesNotFitError
            If a layer does not fit, even in stripes; names it.
        """
        left = spared or {}
        step = self._best([capacity - left.get(number, 0) for number in range(len(self._costs))])
        stages: list[Stage] = []
        outside: set[int] = set()
        resident: set[int] = set()
        while step.stage is not None:
            stages.append(step.stage)
            outside |= {*step.stage.cascade.inputs, step.stage.cascade.output}
            resident |= step.resident
            assert step.before is not None
            step = step.before
        return Choice(tuple(reversed(stages)), frozenset(outside - resident))

    def _possible(self, first: int) -> Iterator[Cascade]:
        for end in range(first + 1, min(first + MAX_CASCADE_LAYERS, len(self._run.layers)) + 1):
            cascade = Cascade(self._run, first, end)
            if cascade.is_possible:
                yield cascade

    def _best(self, capacities: Sequence[int]) -> _Step:
        """Return the last step of the best way, given the bytes that each layer may use."""
        run = self._run
        count = len(run.layers)
        is_crowded = [
            size > capacity for size, capacity in zip(self._live_bytes(), capacities, strict=True)
        ]
        steps: list[dict[frozenset[int], _Step]] = [{} for _ in range(count + 1)]
        steps[0][frozenset()] = _Step(0.0)
        for first in range(count):
            for cascade in self._cascades[first]:
                if cascade.passed and not any(is_crowded[first : cascade.end]):
                    # There is no need to work in stripes.
                    continue
                found = steps[cascade.end]
                capacity = min(capacities[first : cascade.end])
                for resident, before in steps[first].items():
                    for step in self._steps(cascade, resident, before, capacity, is_crowded):
                        left = frozenset(t for t in step.resident if run.uses(t)[1] >= cascade.end)
                        if left not in found or step.cycles < found[left].cycles:
                            found[left] = step
        if not steps[count]:
            stuck = max(first for first in range(count) if steps[first])
            raise DoesNotFitError(run.layers[stuck].position)
        return min(steps[count].values(), key=lambda step: step.cycles)

    def _live_bytes(self) -> list[int]:
        """Return for each layer the bytes of all tensors that are needed then or later."""
        run = self._run
        found = [0] * len(run.layers)
        for tensor in dict.fromkeys(
            t for layer in run.layers for t in (*layer.inputs, layer.output)
        ):
            first, last = run.uses(tensor)
            for number in range(first, last + 1):
                found[number] += _aligned(run.tensor_bytes(tensor))
        return found

    def _steps(
        self,
        cascade: Cascade,
        resident: frozenset[int],
        before: _Step,
        capacity: int,
        is_crowded: Sequence[bool],
    ) -> Iterator[_Step]:
        """Try what can be resident or streamed anew."""
        run = self._run
        kept = {t for t in resident if run.uses(t)[1] >= cascade.first}
        fresh = [
            tensor
            for tensor in cascade.inputs
            if tensor in run.loads and run.uses(tensor)[0] >= cascade.first
        ]
        options: list[tuple[bool, ...]] = [(True, False)] * len(fresh)
        fresh.append(cascade.output)
        first, last = run.uses(cascade.output)
        may_stream = cascade.output in run.stores or any(is_crowded[first : last + 1])
        options.append((True, False) if may_stream else (True,))
        for choice in itertools.product(*options):
            chosen = {tensor for tensor, stays in zip(fresh, choice, strict=True) if stays}
            now = frozenset(kept | chosen)
            streamed = frozenset({*cascade.inputs, cascade.output} - now)
            free = capacity - self._resident_bytes(cascade, now)
            if free < 0 or not all(run.is_streamable(tensor) for tensor in streamed):
                continue
            found = self._stripes(cascade, streamed, free)
            if found is not None:
                cycles, stage = found
                cycles += sum(self._move_cycles(tensor) for tensor in chosen)
                yield _Step(before.cycles + cycles, stage, now, before)

    def _resident_bytes(self, cascade: Cascade, resident: frozenset[int]) -> int:
        host = cascade.host(resident)
        counted = resident - {cascade.output} if host is not None else resident
        return sum(_aligned(self._run.tensor_bytes(tensor)) for tensor in counted)

    def _move_cycles(self, tensor: int) -> float:
        """Return what it takes to load or store a resident tensor, if it must be."""
        if tensor not in self._run.loads | self._run.stores:
            return 0.0
        return transfer_cycles(self._run.tensor_bytes(tensor))

    def _stripes(
        self, cascade: Cascade, streamed: frozenset[int], free: int
    ) -> tuple[float, Stage] | None:
        """Return the best stripes that fit, and their cycles."""
        key = cascade, streamed
        if key not in self._estimates:
            costs = self._costs[cascade.first : cascade.end]
            self._estimates[key] = Estimate(cascade, costs, streamed)
        estimate = self._estimates[key]
        layer = cascade.layers[-1]
        rows = layer.window.output_rows
        if estimate.is_whole:
            stage = Stage(cascade, rows)
            # With many images even one stripe has many jobs.
            return None if stage.jobs > MAX_JOBS else (estimate.cycles(stage), stage)
        # Where a stripe of the output starts must be aligned.
        unit = ALIGNMENT_BYTES // math.gcd(ALIGNMENT_BYTES, self._run.output_row_bytes(layer))
        best: tuple[float, Stage] | None = None
        for is_early, keeps_output in MODES:
            highest = Stage(cascade, rows, is_early, keeps_output)
            heights = [*range(unit, rows, unit), rows]
            found = bisect.bisect_right(
                heights, free, key=lambda h: estimate.bytes(dataclasses.replace(highest, height=h))
            )
            if not found:
                continue
            fewest = -(-rows // heights[found - 1])
            wanted = {-(-_share(rows, fewest + more) // unit) * unit for more in MORE_STRIPES}
            for height in sorted({min(height, heights[found - 1]) for height in wanted}):
                stage = dataclasses.replace(highest, height=height)
                if stage.jobs > MAX_JOBS:
                    continue
                cycles = estimate.cycles(stage)
                if best is None or cycles < best[0]:
                    best = cycles, stage
        return best


def _share(rows: int, count: int) -> int:
    return -(-rows // count)


def _aligned(size: int) -> int:
    return -(-size // ALIGNMENT_BYTES) * ALIGNMENT_BYTES

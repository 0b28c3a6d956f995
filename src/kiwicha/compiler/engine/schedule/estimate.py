"""What a cascade needs and takes, by its arithmetic and its traffic alone.

This is for choosing among many; `cycles` predicts what was chosen.
"""

from dataclasses import dataclass

from kiwicha.compiler.engine.codegen.jobs import Part, engine_job, stream_bytes
from kiwicha.compiler.engine.cost.job_work import job_work
from kiwicha.compiler.engine.cost.timeline import DRAM_BYTES_PER_CYCLE
from kiwicha.compiler.engine.ir.layers import EngineLayer
from kiwicha.compiler.engine.ir.run import Run
from kiwicha.compiler.engine.schedule.cascade import Cascade, Stage
from kiwicha.contract.cfu import ALIGNMENT_BYTES
from kiwicha.contract.engine import READ_BYTES as LINE_BYTES

__all__ = ["Estimate", "LayerCost", "layer_costs", "transfer_cycles"]

TRANSFER_CYCLES = 40
"""What a transfer takes besides its bytes."""
JOB_CYCLES = 60.0
"""What a job takes besides its work, and some more: few stripes are better than many."""


@dataclass(frozen=True)
class LayerCost:
    """What a layer takes.

    Parameters
    ----------
    row_cycles : float
        Cycles of an output row, on average.
    row_lines : float
        Those of them in which no result is written: lines that can be transferred meanwhile.
    weight_bytes : int
        Its weight stream, or streams, which every stripe reads.
    jobs : int
        Jobs of a stripe.
    """

    row_cycles: float
    row_lines: float
    weight_bytes: int
    jobs: int


def transfer_cycles(size: int) -> float:
    """Return what a transfer takes."""
    return TRANSFER_CYCLES + size / DRAM_BYTES_PER_CYCLE


def layer_costs(run: Run, macs: int) -> list[LayerCost]:
    """Return the cost of each layer of a run."""
    return [_layer_cost(run, layer, macs) for layer in run.layers]


@dataclass(frozen=True)
class _Sizes:
    """Of a stripe: bytes by tensor that is loaded, bytes and rows that each layer writes."""

    loaded: dict[int, int]
    written: list[int]
    rows: list[int]


class Estimate:
    """A cascade with some of its inputs, and perhaps its output, in the arena.

    Parameters
    ----------
    cascade : Cascade
        The layers.
    costs : list of LayerCost
        Of its layers.
    streamed : frozenset of int
        What is in the arena.
    """

    def __init__(self, cascade: Cascade, costs: list[LayerCost], streamed: frozenset[int]) -> None:
        self._cascade = cascade
        self._costs = costs
        self._known_sizes: dict[tuple[int, int], _Sizes] = {}
        self._known_bytes: dict[Stage, int] = {}
        self._known_cycles: dict[Stage, float] = {}
        self._inputs = [tensor for tensor in cascade.inputs if tensor in streamed]
        self._stores = cascade.output in streamed
        # Otherwise there is nothing to be gained by stripes.
        self.is_whole = not self._inputs and not self._stores and len(cascade.layers) == 1

    def bytes(self, stage: Stage) -> int:
        """Return the bytes of the scratchpad that its stripes need."""
        if stage not in self._known_bytes:
            self._known_bytes[stage] = 0 if self.is_whole else self._bytes(stage)
        return self._known_bytes[stage]

    def _bytes(self, stage: Stage) -> int:
        layers = self._cascade.layers
        rows = layers[-1].window.output_rows
        last = len(layers) - 1
        most = 0
        for first in range(0, rows, stage.height)[:3]:
            sizes = self._sizes(first, min(stage.height, rows - first))
            loaded, written = sizes.loaded, sizes.written
            for step in range(len(layers)):
                live = sum(
                    size
                    for tensor, size in loaded.items()
                    if self._cascade.readers(tensor)[-1] >= step
                )
                live += sum(
                    written[number]
                    for number in range(min(step + 1, last))
                    if self._cascade.readers(layers[number].output)[-1] >= step
                )
                live += written[last] if self._stores and step == last else 0
                if stage.height < rows:
                    # The next stripe's inputs are on their way, and so is the last one's output.
                    live += sum(
                        size for tensor, size in loaded.items() if stage.load_step(tensor) <= step
                    )
                    is_kept = self._stores and (step == 0 or stage.keeps_output)
                    live += written[last] if is_kept else 0
                most = max(most, live)
        return most

    def cycles(self, stage: Stage) -> float:
        """Return what it takes, from its first load to its last store."""
        if stage not in self._known_cycles:
            self._known_cycles[stage] = self._cycles(stage)
        return self._known_cycles[stage]

    def _cycles(self, stage: Stage) -> float:
        layers = self._cascade.layers
        weights = sum(cost.weight_bytes for cost in self._costs) / DRAM_BYTES_PER_CYCLE
        total = loads_before = store = 0.0
        free: list[float] = []
        rows = layers[-1].window.output_rows
        for number, first in enumerate(range(0, rows, stage.height)):
            sizes = self._sizes(first, min(stage.height, rows - first))
            loads = {tensor: transfer_cycles(size) for tensor, size in sizes.loaded.items()}
            before, free = free, []
            compute = JOB_CYCLES * sum(cost.jobs for cost in self._costs)
            for computed, cost in zip(sizes.rows, self._costs, strict=True):
                cycles = computed * cost.row_cycles
                waits = max(cost.weight_bytes / DRAM_BYTES_PER_CYCLE - cycles, 0.0)
                lines = computed * cost.row_lines * LINE_BYTES / DRAM_BYTES_PER_CYCLE
                compute += cycles + waits
                free.append(min(cycles, lines) + waits + JOB_CYCLES)
            # What of the loads is not hidden by jobs before their stripe, or before their reader.
            late = 0.0
            for tensor, cycles in loads.items():
                step = stage.load_step(tensor)
                reader = self._cascade.readers(tensor)[0]
                hidden = sum(before[step:]) if step < len(layers) else sum(free[:reader])
                late += max(cycles - (hidden if number else 0.0), 0.0)
            # The last store has the port first, and must end before its room is needed.
            blocked = 0.0 if stage.keeps_output else max(store - free[0], 0.0)
            moved = loads_before + store
            total += late + blocked + compute
            total += max(moved - sum(free) - blocked, moved + weights - compute, 0.0)
            loads_before = sum(loads.values())
            store = transfer_cycles(sizes.written[-1]) if self._stores else 0.0
        return total + store

    def _sizes(self, first: int, rows: int) -> "_Sizes":
        """Return the sizes of the stripe that starts with a row of the last layer."""
        key = first, rows
        if key not in self._known_sizes:
            run = self._cascade.run
            found = self._cascade.stripe(first, rows)
            loaded = {}
            for tensor in self._inputs:
                start, end = self._cascade.range_of(tensor, found)
                loaded[tensor] = _aligned(end - start // ALIGNMENT_BYTES * ALIGNMENT_BYTES)
            written = [
                _aligned(part.output_rows * run.output_row_bytes(layer))
                for layer, part in zip(self._cascade.layers, found, strict=True)
            ]
            computed = [part.output_rows for part in found]
            self._known_sizes[key] = _Sizes(loaded, written, computed)
        return self._known_sizes[key]


def _aligned(size: int) -> int:
    return -(-size // ALIGNMENT_BYTES) * ALIGNMENT_BYTES


def _layer_cost(run: Run, layer: EngineLayer, macs: int) -> LayerCost:
    pitch = run.input_pitch(layer)
    window = layer.window
    part = Part(
        (0,) * len(layer.inputs),
        *(pitch, 0, window.input_rows),
        *(0, run.output_pitch(layer), 0, window.output_rows),
    )
    blocks = [patch.layer for patch in layer.patches] if layer.is_in_blocks else [layer]
    cycles = lines = 0.0
    for block in blocks:
        work = job_work(engine_job(block, macs, layer.position, part), macs)
        share = work.groups / window.output_rows
        cycles += share * work.cycles
        lines += share * max(work.cycles - work.writes, 0.0)
    if layer.is_in_blocks:
        size = sum(stream_bytes(block, macs, pitch) for block in blocks)
        return LayerCost(cycles, lines, size, len(blocks))
    # Of a layer in patches: all rows of a stripe, and each column of its own. What it takes where
    # rows need jobs of their own comes once, and is left out.
    jobs = 1 + len({patch.column for patch in layer.patches} - {None})
    return LayerCost(cycles, lines, jobs * stream_bytes(layer, macs, pitch), jobs)

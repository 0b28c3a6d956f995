"""What a cascade needs and takes, by its arithmetic and its traffic alone.

This is for choosing among many; `engine.cost.cycles` predicts what was chosen.
"""

import math
from dataclasses import dataclass

from kiwicha.compiler.engine.codegen.jobs import engine_job
from kiwicha.compiler.engine.codegen.streams import stream_bytes
from kiwicha.compiler.engine.cost.job_work import JOB_CYCLES, job_work
from kiwicha.compiler.engine.cost.timeline import DRAM_BYTES_PER_CYCLE
from kiwicha.compiler.engine.ir.operations import DividedOperation, Operation
from kiwicha.compiler.engine.ir.plan import JobGeometry
from kiwicha.compiler.engine.ir.region import Region
from kiwicha.compiler.engine.ir.window import padded
from kiwicha.compiler.engine.schedule.cascade import Cascade, Striping
from kiwicha.contract.cfu import ALIGNMENT_BYTES
from kiwicha.contract.configs import Config
from kiwicha.contract.engine import LINE_BYTES, MAX_JOBS

__all__ = [
    "Estimate",
    "OperationCost",
    "operation_costs",
    "operation_cycles",
    "transfer_cycles",
]

TRANSFER_CYCLES = 40
"""What a transfer takes besides its bytes."""


@dataclass(frozen=True)
class OperationCost:
    """What an operation takes.

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


def operation_costs(region: Region, macs: int) -> list[OperationCost]:
    """Return the cost of each operation of a region."""
    return [_operation_cost(region, operation, macs) for operation in region.operations]


@dataclass(frozen=True)
class _Sizes:
    """Of a stripe: bytes by tensor that is loaded, bytes and rows that each operation writes."""

    loaded: dict[int, int]
    written: list[int]
    rows: list[int]


class Estimate:
    """A cascade with some of its inputs, and perhaps its output, in the arena.

    Parameters
    ----------
    cascade : Cascade
        The operations.
    costs : list of OperationCost
        Of its operations.
    streamed : frozenset of int
        What is in the arena.
    """

    def __init__(
        self, cascade: Cascade, costs: list[OperationCost], streamed: frozenset[int]
    ) -> None:
        self._cascade = cascade
        self._costs = costs
        self._known_sizes: dict[tuple[int, int], _Sizes] = {}
        self._known_bytes: dict[Striping, int] = {}
        self._known_cycles: dict[Striping, float] = {}
        self._inputs = [tensor for tensor in cascade.inputs if tensor in streamed]
        self._stores = cascade.output in streamed
        # Otherwise there is nothing to be gained by stripes.
        self.is_whole = not self._inputs and not self._stores and len(cascade.operations) == 1

    def bytes(self, striping: Striping) -> int:
        """Return the bytes of the scratchpad that its stripes need."""
        if striping not in self._known_bytes:
            self._known_bytes[striping] = 0 if self.is_whole else self._bytes(striping)
        return self._known_bytes[striping]

    def _bytes(self, striping: Striping) -> int:
        operations = self._cascade.operations
        rows = operations[-1].window.output_rows
        last = len(operations) - 1
        most = 0
        for first in range(0, rows, striping.height)[:3]:
            sizes = self._sizes(first, min(striping.height, rows - first))
            loaded, written = sizes.loaded, sizes.written
            for turn in range(len(operations)):
                live = sum(
                    size
                    for tensor, size in loaded.items()
                    if self._cascade.readers(tensor)[-1] >= turn
                )
                live += sum(
                    written[number]
                    for number in range(min(turn + 1, last))
                    if self._cascade.readers(operations[number].output)[-1] >= turn
                )
                live += written[last] if self._stores and turn == last else 0
                if striping.height < rows:
                    # The next stripe's inputs are on their way, and so is the last one's output.
                    live += sum(
                        size
                        for tensor, size in loaded.items()
                        if striping.load_turn(tensor) <= turn
                    )
                    is_kept = self._stores and (turn == 0 or striping.keeps_output)
                    live += written[last] if is_kept else 0
                most = max(most, live)
        return most

    def cycles(self, striping: Striping) -> float:
        """Return what it takes, from its first load to its last store."""
        if striping not in self._known_cycles:
            self._known_cycles[striping] = self._cycles(striping)
        return self._known_cycles[striping]

    def _cycles(self, striping: Striping) -> float:
        operations = self._cascade.operations
        weights = sum(cost.weight_bytes for cost in self._costs) / DRAM_BYTES_PER_CYCLE
        total = loads_before = store = 0.0
        free: list[float] = []
        rows = operations[-1].window.output_rows
        for number, first in enumerate(range(0, rows, striping.height)):
            sizes = self._sizes(first, min(striping.height, rows - first))
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
                turn = striping.load_turn(tensor)
                reader = self._cascade.readers(tensor)[0]
                hidden = sum(before[turn:]) if turn < len(operations) else sum(free[:reader])
                late += max(cycles - (hidden if number else 0.0), 0.0)
            # The last store has the port first, and must end before its room is needed.
            blocked = 0.0 if striping.keeps_output else max(store - free[0], 0.0)
            moved = loads_before + store
            total += late + blocked + compute
            total += max(moved - sum(free) - blocked, moved + weights - compute, 0.0)
            loads_before = sum(loads.values())
            store = transfer_cycles(sizes.written[-1]) if self._stores else 0.0
        return total + store

    def _sizes(self, first: int, rows: int) -> "_Sizes":
        """Return the sizes of the stripe that starts with a row of the last operation."""
        key = first, rows
        if key not in self._known_sizes:
            region = self._cascade.region
            found = self._cascade.stripe(first, rows)
            loaded = {}
            for tensor in self._inputs:
                start, end = self._cascade.range_of(tensor, found)
                loaded[tensor] = _aligned(end - start // ALIGNMENT_BYTES * ALIGNMENT_BYTES)
            written = [
                _aligned(part.output_rows * region.output_row_bytes(operation))
                for operation, part in zip(self._cascade.operations, found, strict=True)
            ]
            computed = [part.output_rows for part in found]
            self._known_sizes[key] = _Sizes(loaded, written, computed)
        return self._known_sizes[key]


def _aligned(size: int) -> int:
    return -(-size // ALIGNMENT_BYTES) * ALIGNMENT_BYTES


def _operation_cost(region: Region, operation: Operation, macs: int) -> OperationCost:
    pitch = region.input_pitch(operation)
    rows = operation.window.output_rows
    geometry = whole_geometry(operation, pitch, region.output_pitch(operation))
    is_in_blocks = isinstance(operation, DividedOperation) and operation.is_in_blocks
    # Of pieces that are not blocks of channels the first one stands for all rows.
    blocks = operation.job_operations if is_in_blocks else operation.job_operations[:1]
    cycles = lines = 0.0
    for block in blocks:
        work = job_work(engine_job(block, macs, operation.position, geometry), macs)
        share = work.groups / rows
        cycles += share * work.cycles
        lines += share * max(work.cycles - work.writes, 0.0)
    size = sum(stream_bytes(block, macs, pitch) for block in blocks)
    jobs = len(blocks)
    if isinstance(operation, DividedOperation) and not is_in_blocks:
        # All rows of a stripe, and each column of its own. What it takes where rows need jobs of
        # their own comes once, and is left out.
        jobs = 1 + len({piece.column for piece in operation.pieces} - {None})
        size *= jobs
    return OperationCost(cycles, lines, size, jobs)


def whole_geometry(operation: Operation, input_pitch: int, output_pitch: int) -> JobGeometry:
    """Return the geometry of a job that computes all rows of an operation, at address 0."""
    return JobGeometry(
        input_addresses=(0,) * len(operation.inputs),
        input_pitch=input_pitch,
        first_input_row=0,
        input_rows=operation.window.input_rows,
        output_address=0,
        output_pitch=output_pitch,
        first_output_row=0,
        output_rows=operation.window.output_rows,
    )


def operation_cycles(operation: Operation, config: Config) -> float:
    """Return about how many cycles an operation takes; infinite if no list has so many jobs."""
    window, macs = operation.window, config.engine_macs
    pitch, output_pitch = padded(window.channels), padded(operation.output_channels)
    geometry = whole_geometry(operation, pitch, output_pitch)
    size = window.input_pixels * pitch + window.output_pixels * output_pitch
    # Two stripes are there at a time, with rows that neighbours share.
    share = 1 if size <= config.scratchpad_bytes else 3
    stripes = -(-share * size // config.scratchpad_bytes)
    blocks = operation.job_operations
    jobs = stripes * window.images * len(blocks)
    if jobs > MAX_JOBS:
        return math.inf
    cycles = JOB_CYCLES * jobs
    for block in blocks:
        work = job_work(engine_job(block, macs, 0, geometry), macs, config.requantizer_cycles)
        weights = stripes * stream_bytes(block, macs, pitch) / DRAM_BYTES_PER_CYCLE
        cycles += max(work.groups * work.cycles, weights)
    return cycles

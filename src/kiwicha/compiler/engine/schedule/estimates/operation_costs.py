"""What operations take, by their arithmetic alone."""

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from kiwicha.compiler.engine.codegen.jobs import engine_job
from kiwicha.compiler.engine.codegen.short_elements import engine_short_elements
from kiwicha.compiler.engine.codegen.streams import stream_bytes
from kiwicha.compiler.engine.cost.job_work import JOB_CYCLES, job_work
from kiwicha.compiler.engine.ir.element_operations import RowAddition
from kiwicha.compiler.engine.ir.fused_operations import FusedSum
from kiwicha.compiler.engine.ir.move_jobs import MoveJob, move_jobs
from kiwicha.compiler.engine.ir.move_operations import MoveOperation
from kiwicha.compiler.engine.ir.operations import (
    ComputeOperation,
    DividedOperation,
    JobOperation,
    Operation,
)
from kiwicha.compiler.engine.ir.plan import MAX_REGION_JOBS, JobGeometry
from kiwicha.compiler.engine.ir.region import Region
from kiwicha.compiler.engine.ir.short_elements import ShortOperation
from kiwicha.compiler.engine.ir.window import padded
from kiwicha.contract.configs import Config
from kiwicha.contract.moves import AnyJob

__all__ = [
    "OperationCost",
    "move_cycles",
    "operation_costs",
    "operation_cycles",
    "sequence_cycles",
]

MEASURED_STRIPES = 4
"""Stripes of a move whose jobs stand for those of all."""


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
    of_rows : callable or None
        Gives all this of a stripe of so many rows, where their number counts; `row_cycles` and
        `row_lines` are then those of its rows.
    """

    row_cycles: float
    row_lines: float
    weight_bytes: int
    jobs: int
    of_rows: "Callable[[int], OperationCost] | None" = None


def operation_costs(region: Region, macs: int) -> list[OperationCost]:
    """Return the cost of each operation of a region."""
    return [_operation_cost(region, operation, macs) for operation in region.operations]


def _operation_cost(region: Region, operation: Operation, macs: int) -> OperationCost:
    if isinstance(operation, MoveOperation):
        return _move_cost(region, operation)
    pitch = region.input_pitch(operation)
    rows = operation.window.output_rows
    output_pitch = region.output_pitch(operation)
    is_in_parts = isinstance(operation, DividedOperation) and operation.is_in_parts
    is_in_parts |= isinstance(operation, FusedSum)
    # Of pieces that are about other rows or columns each the first one stands for all rows.
    blocks = operation.job_operations if is_in_parts else operation.job_operations[:1]
    cycles = lines = 0.0
    for block in blocks:
        geometry = whole_geometry(block, pitch, output_pitch)
        work = job_work(_job(block, macs, geometry), macs)
        share = work.groups / rows
        cycles += share * work.cycles
        lines += share * max(work.cycles - work.mean_writes, 0.0)
    size = sum(_stream_bytes(block, macs, pitch) for block in blocks)
    jobs = len(blocks)
    if isinstance(operation, DividedOperation) and not is_in_parts:
        # All rows of a stripe, and each column of its own. What it takes where rows need jobs of
        # their own comes once, and is left out.
        jobs = 1 + len({piece.columns for piece in operation.pieces} - {None})
        size *= jobs
    cost = OperationCost(cycles, lines, size, jobs)
    return _row_by_row(cost, rows) if _has_rows_of_their_own(operation) else cost


def _has_rows_of_their_own(operation: Operation) -> bool:
    """Whether each output row has jobs of its own, which no other row has."""
    return isinstance(operation, DividedOperation) and all(
        isinstance(part, RowAddition) for part in operation.job_operations
    )


def _row_by_row(cost: OperationCost, rows: int) -> OperationCost:
    """Return the cost of an operation as that of stripes, which have jobs in proportion."""

    def of_rows(count: int) -> OperationCost:
        weights, jobs = -(-cost.weight_bytes * count // rows), -(-cost.jobs * count // rows)
        return dataclasses.replace(cost, weight_bytes=weights, jobs=jobs)

    return dataclasses.replace(cost, of_rows=of_rows)


def _move_cost(region: Region, operation: MoveOperation) -> OperationCost:
    """Return the cost of a move: of its jobs for all rows, or for those of a stripe."""

    @lru_cache(maxsize=128)
    def of_rows(rows: int) -> OperationCost:
        # Some stripes begin within a dimension, and are cut there.
        count = min(MEASURED_STRIPES, max(operation.window.output_rows // rows, 1))
        jobs: list[MoveJob] = []
        for first in range(0, count * rows, rows):
            copies = region.copies(operation, first, first + rows)
            jobs += (job for copy in copies for job in move_jobs(copy))
        cycles = sum(job.cycles for job in jobs) / count
        lines = max(cycles - sum(job.lines for job in jobs) / count, 0.0)
        return OperationCost(cycles / rows, lines / rows, 0, -(-len(jobs) // count))

    return dataclasses.replace(of_rows(operation.window.output_rows), of_rows=of_rows)


def _job(operation: JobOperation, macs: int, geometry: JobGeometry) -> AnyJob:
    """Return a job of an operation, for what it takes."""
    if isinstance(operation, ShortOperation):
        return engine_short_elements(operation, 0, geometry)
    return engine_job(operation, macs, operation.position, geometry)


def _stream_bytes(operation: JobOperation, macs: int, pitch: int) -> int:
    """Return the bytes of the weight stream of an operation, which some have not."""
    if isinstance(operation, ShortOperation):
        return 0
    return stream_bytes(operation, macs, pitch)


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
        output_row_bytes=operation.window.output_columns * output_pitch,
    )


def sequence_cycles(operation: Operation, config: Config) -> float:
    """Return about how many cycles the steps of an operation take: moves, and what computes."""
    return sum(
        operation_cycles(step, config) if isinstance(step, ComputeOperation) else move_cycles(step)
        for step in operation.steps
    )


def move_cycles(operation: Operation) -> float:
    """Return about how many cycles the jobs of a move take; nothing if it is none."""
    if not isinstance(operation, MoveOperation):
        return 0.0
    jobs = [job for copy in operation.copies for job in move_jobs(copy)]
    return sum(job.cycles + JOB_CYCLES for job in jobs)


def operation_cycles(
    operation: ComputeOperation, config: Config, input_pitch: int | None = None
) -> float:
    """Return about how many cycles an operation takes; infinite if no list has so many jobs.

    Parameters
    ----------
    operation : ComputeOperation
        The operation.
    config : Config
        With an engine.
    input_pitch : int, optional
        Bytes of an input pixel; whole words where they are not known.
    """
    window, macs = operation.window, config.engine_macs
    pitch, output_pitch = padded(window.channels), padded(operation.output_channels)
    pitch = input_pitch or pitch
    if operation.is_flat:
        pitch = output_pitch = window.channels
    size = window.input_pixels * pitch + window.output_pixels * output_pitch
    # Two stripes are there at a time, with rows that neighbours share.
    share = 1 if size <= config.scratchpad_bytes else 3
    stripes = -(-share * size // config.scratchpad_bytes)
    blocks = operation.job_operations
    whole = sum(1 for _ in operation.within(0, window.image_rows))
    jobs = max(stripes * len(blocks), whole) * window.images
    if jobs > MAX_REGION_JOBS:
        return math.inf
    cycles = JOB_CYCLES * jobs
    for block in blocks:
        geometry = whole_geometry(block, pitch, output_pitch)
        work = job_work(_job(block, macs, geometry), macs, config.requantizer_cycles)
        weights = _stream_bytes(block, macs, pitch) / config.memory.bytes_per_cycle
        fills = stripes * max(weights, work.groups * work.fill_cycles)
        cycles += max(work.groups * work.cycles, fills)
    return cycles

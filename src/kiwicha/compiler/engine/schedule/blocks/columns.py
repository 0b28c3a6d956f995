"""Blocks of columns: how an operation is done of which not even one row fits the scratchpad.

Such an operation is a region of its own. Each block of its output columns reads some columns of the
input, as if they were an image of their own, and works in stripes of rows. Rows of a block lie
apart in DRAM: each is a transfer. So a stripe of a dilated convolution can have every so many-th
row: it reads no others.
"""

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from kiwicha.compiler.engine.codegen.jobs import engine_job
from kiwicha.compiler.engine.codegen.streams import stream_bytes
from kiwicha.compiler.engine.cost.job_work import JOB_CYCLES, job_work
from kiwicha.compiler.engine.ir.plan import (
    MAX_REGION_JOBS,
    BufferAddress,
    Compute,
    Plan,
    Transfer,
)
from kiwicha.compiler.engine.ir.region import Region
from kiwicha.compiler.engine.schedule.blocks.column_blocks import (
    Block,
    BlockStripe,
    block_stripes,
    blocks,
    can_be_divided,
    most_rows,
)
from kiwicha.compiler.engine.schedule.buffers import Builder
from kiwicha.compiler.engine.schedule.estimates.operation_costs import whole_geometry
from kiwicha.compiler.engine.schedule.plans import plan_of_one
from kiwicha.contract.configs import Config

__all__ = ["column_plan"]

MOST_BLOCKS = 32
"""More have more columns in common than of their own."""


def column_plan(region: Region, config: Config) -> Plan | None:
    """Return a plan in blocks of columns, about the fastest; None if there is none.

    Parameters
    ----------
    region : Region
        Of one operation.
    config : Config
        With an engine.
    """
    if not can_be_divided(region):
        return None
    operation = region.operations[0]
    columns = operation.window.output_columns
    counts = range(2, min(MOST_BLOCKS, columns) + 1)
    ways = {
        way.key: way
        for count in counts
        for is_early in (True, False)
        for way in _ways(region, config, count, is_early=is_early)
    }
    for way in sorted(ways.values(), key=lambda way: (way.cycles, way.key)):
        found = _plan(way, config.scratchpad_bytes)
        if found is not None:
            return found
    return None


@dataclass(frozen=True)
class _Way:
    """Blocks, the rows of their stripes, and whether the next stripe is loaded beside one."""

    region: Region
    config: Config
    blocks: tuple[Block, ...]
    height: int
    is_early: bool

    @property
    def key(self) -> tuple[int, int, bool]:
        """What tells it from others."""
        return len(self.blocks), self.height, self.is_early

    @cached_property
    def stripes(self) -> tuple[BlockStripe, ...]:
        """Stripes of a block."""
        return block_stripes(self.region.operations[0].window, self.height)

    @cached_property
    def jobs(self) -> int:
        """How many jobs there are."""
        return len(self.stripes) * sum(len(block.operation.job_operations) for block in self.blocks)

    @cached_property
    def cycles(self) -> float:
        """About how many cycles it takes."""
        memory, macs = self.config.memory, self.config.engine_macs
        operation = self.region.operations[0]
        pitch, output_pitch = self._pitches
        stripes, loads = len(self.stripes), sum(len(stripe.inputs) for stripe in self.stripes)
        compute = moved = 0.0
        for block in self.blocks:
            for part in block.operation.job_operations:
                geometry = whole_geometry(part, pitch, output_pitch)
                job = engine_job(part, macs, 0, geometry)
                work = job_work(job, macs, self.config.requantizer_cycles)
                compute += work.groups * work.cycles + stripes * JOB_CYCLES
                moved += stripes * stream_bytes(part, macs, pitch) / memory.bytes_per_cycle
            stores = operation.window.output_rows
            moved += (loads + stores) * memory.transfer_cycles
            size = loads * len(block.inputs) * pitch + stores * len(block.outputs) * output_pitch
            moved += size / memory.bytes_per_cycle
        return max(compute, moved) if self.is_early else compute + moved

    @property
    def _pitches(self) -> tuple[int, int]:
        operation = self.region.operations[0]
        return self.region.input_pitch(operation), self.region.output_pitch(operation)

    @property
    def bytes(self) -> int:
        """Bytes of the scratchpad that the largest stripe needs, with what is beside it."""
        pitch, output_pitch = self._pitches
        rows = max(len(stripe.inputs) for stripe in self.stripes)
        sizes = [
            rows * len(block.inputs) * pitch + self.height * len(block.outputs) * output_pitch
            for block in self.blocks
        ]
        return max(sizes) * (2 if self.is_early else 1)


def _ways(region: Region, config: Config, count: int, *, is_early: bool) -> Iterator[_Way]:
    """Yield what is done with about so many blocks: stripes as high as fit, and lower ones."""
    found = blocks(region, count)
    window = region.operations[0].window
    rows = most_rows(window)
    for height in range(rows, 0, -1):
        way = _Way(region, config, found, height, is_early)
        if found and way.bytes <= config.scratchpad_bytes:
            for lower in {height, -(-rows // (-(-rows // height) + 1))}:
                chosen = dataclasses.replace(way, height=lower)
                if chosen.jobs <= MAX_REGION_JOBS:
                    yield chosen
            return


def _plan(way: _Way, capacity: int) -> Plan | None:
    """Return the plan of a way; None if gaps between buffers leave too little room."""
    builder = Builder()
    stripes = [(block, found) for block in way.blocks for found in way.stripes]
    inputs: dict[int, int] = {}

    def load(number: int) -> None:
        if number < len(stripes) and number not in inputs:
            inputs[number] = _load(way.region, builder, *stripes[number])

    for number, (block, found) in enumerate(stripes):
        load(number)
        if way.is_early:
            load(number + 1)
        _compute(way.region, builder, block, found, inputs[number])
    return plan_of_one(way.region, builder, way.jobs, capacity)


def _load(region: Region, builder: Builder, block: Block, found: BlockStripe) -> int:
    """Add the transfers of a stripe's input rows, and return their buffer."""
    operation = region.operations[0]
    pitch = region.input_pitch(operation)
    row_bytes = region.input_row_bytes(operation, operation.inputs[0])
    size = len(block.inputs) * pitch
    rows = found.inputs
    name = f"columns {block.inputs.start} on of rows {rows.start} on of {operation.inputs[0]}"
    buffer = builder.buffer(name, len(rows) * size)
    for number, row in enumerate(rows):
        builder.add(
            Transfer(
                tensor=operation.inputs[0],
                tensor_offset=row * row_bytes + block.inputs.start * pitch,
                bytes=size,
                address=BufferAddress(buffer, number * size),
                is_store=False,
            )
        )
    return buffer


def _compute(
    region: Region, builder: Builder, block: Block, found: BlockStripe, source: int
) -> None:
    """Add the jobs of a stripe, and the transfers of its output rows."""
    operation = region.operations[0]
    pitch, output_pitch = region.input_pitch(operation), region.output_pitch(operation)
    row_bytes = region.output_row_bytes(operation)
    size = len(block.outputs) * output_pitch
    rows, first_row = found.outputs, found.first * operation.window.stride_rows
    name = f"columns {block.outputs.start} on of rows {rows.start} on of {operation.output}"
    buffer = builder.buffer(name, len(rows) * size)
    for piece in block.operation.within(found.first, len(rows)):
        builder.add(
            Compute(
                operation=piece.operation,
                inputs=(BufferAddress(source, piece.first_input_channel),),
                input_pitch=pitch,
                first_input_row=first_row + found.rows_above,
                input_rows=len(found.inputs),
                output=BufferAddress(buffer, piece.first_output_channel),
                output_pitch=output_pitch,
                first_output_row=piece.rows.start,
                output_rows=len(piece.rows),
                output_row_bytes=size,
                columns=piece.columns,
            )
        )
    for number, row in enumerate(rows):
        builder.add(
            Transfer(
                tensor=operation.output,
                tensor_offset=row * row_bytes + block.outputs.start * output_pitch,
                bytes=size,
                address=BufferAddress(buffer, number * size),
                is_store=True,
            )
        )

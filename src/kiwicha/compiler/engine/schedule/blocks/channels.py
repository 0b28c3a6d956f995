"""Blocks of channels: how an operation of separate channels is done whose images do not fit.

A pool over a whole image needs all of its rows for one output. Such an operation is a region of its
own. Of each block of channels all pixels are gathered in the scratchpad: each is a transfer, of as
many bytes as the block has channels.
"""

import dataclasses
from dataclasses import dataclass
from functools import cached_property

from kiwicha.compiler.engine.codegen.jobs import engine_job
from kiwicha.compiler.engine.cost.job_work import JOB_CYCLES, job_work
from kiwicha.compiler.engine.ir.plan import (
    MAX_REGION_JOBS,
    BufferAddress,
    Compute,
    Plan,
    Transfer,
)
from kiwicha.compiler.engine.ir.region import Region
from kiwicha.compiler.engine.ir.window_operations import DepthwiseConvolution, MaxPooling
from kiwicha.compiler.engine.schedule.buffers import Builder
from kiwicha.compiler.engine.schedule.estimates.operation_costs import whole_geometry
from kiwicha.compiler.engine.schedule.plans import plan_of_one
from kiwicha.contract.cfu import ALIGNMENT_BYTES
from kiwicha.contract.configs import Config
from kiwicha.contract.engine import MAX_U16
from kiwicha.program.weight_streams import Parameters

__all__ = ["channel_plan"]


def channel_plan(region: Region, config: Config) -> Plan | None:
    """Return a plan in blocks of channels, about the fastest; None if there is none.

    Parameters
    ----------
    region : Region
        Of one operation.
    config : Config
        With an engine.
    """
    (operation,) = region.operations
    if not isinstance(operation, DepthwiseConvolution | MaxPooling):
        return None
    has_aligned_channels = operation.window.channels % ALIGNMENT_BYTES == 0
    if operation.window.images > 1 or not has_aligned_channels:
        return None
    ways = [_Way(region, config, operation, is_early) for is_early in (True, False)]
    for way in sorted((way for way in ways if way.is_possible), key=lambda way: way.cycles):
        found = _plan(way)
        if found is not None:
            return found
    return None


@dataclass(frozen=True, eq=False)
class _Way:
    """Blocks as large as fit, and whether the next one is loaded beside one."""

    region: Region
    config: Config
    operation: DepthwiseConvolution | MaxPooling
    is_early: bool

    @cached_property
    def blocks(self) -> list[range]:
        """Channels of each block; none if not even the smallest one fits."""
        window = self.operation.window
        pixels = window.input_pixels + window.output_pixels
        room = self.config.scratchpad_bytes // (2 if self.is_early else 1)
        size = room // pixels // ALIGNMENT_BYTES * ALIGNMENT_BYTES
        if not size:
            return []
        # As large as each other.
        units = window.channels // ALIGNMENT_BYTES
        count = -(-window.channels // size)
        size = -(-units // count) * ALIGNMENT_BYTES
        channels = range(window.channels)
        return [channels[start : start + size] for start in range(0, len(channels), size)]

    @property
    def transfers(self) -> int:
        """How many transfers there are."""
        window = self.operation.window
        return len(self.blocks) * (window.input_pixels + window.output_pixels)

    @property
    def is_possible(self) -> bool:
        """Whether blocks fit, and a list can have so many jobs and transfers."""
        return 0 < len(self.blocks) <= MAX_REGION_JOBS and self.transfers <= MAX_U16

    @cached_property
    def cycles(self) -> float:
        """About how many cycles it takes."""
        memory, macs, window = self.config.memory, self.config.engine_macs, self.operation.window
        compute = JOB_CYCLES * len(self.blocks)
        for channels in self.blocks:
            part = _sliced(self.operation, channels)
            geometry = whole_geometry(part, len(channels), len(channels))
            work = job_work(
                engine_job(part, macs, 0, geometry), macs, self.config.requantizer_cycles
            )
            compute += work.groups * work.cycles
        size = (window.input_pixels + window.output_pixels) * window.channels
        moved = self.transfers * memory.transfer_cycles + size / memory.bytes_per_cycle
        return max(compute, moved) if self.is_early else compute + moved


def _sliced(
    operation: DepthwiseConvolution | MaxPooling, channels: range
) -> DepthwiseConvolution | MaxPooling:
    """Return the operation on some of its channels."""
    some = slice(channels.start, channels.stop)
    parameters = operation.parameters
    changed = dataclasses.replace(
        operation,
        window=dataclasses.replace(operation.window, channels=len(channels)),
        output_channels=len(channels),
        parameters=Parameters(
            parameters.bias[some], parameters.multiplier[some], parameters.shift[some]
        ),
    )
    if isinstance(changed, DepthwiseConvolution):
        return dataclasses.replace(changed, weights=changed.weights[:, :, some])
    return changed


def _plan(way: _Way) -> Plan | None:
    """Return the plan of a way; None if gaps between buffers leave too little room."""
    builder = Builder()
    window, source = way.operation.window, way.operation.inputs[0]
    inputs: dict[int, int] = {}

    def load(number: int) -> None:
        if number >= len(way.blocks) or number in inputs:
            return
        channels = way.blocks[number]
        name = f"channels {channels.start} on of {source}"
        inputs[number] = builder.buffer(name, window.input_pixels * len(channels))
        _move(builder, source, inputs[number], way, channels, is_store=False)

    for number, channels in enumerate(way.blocks):
        load(number)
        if way.is_early:
            load(number + 1)
        _compute(builder, way, channels, inputs[number])
    return plan_of_one(way.region, builder, len(way.blocks), way.config.scratchpad_bytes)


def _move(
    builder: Builder, tensor: int, buffer: int, way: _Way, channels: range, *, is_store: bool
) -> None:
    """Add the transfers of a block's channels of each pixel."""
    window = way.operation.window
    for pixel in range(window.output_pixels if is_store else window.input_pixels):
        builder.add(
            Transfer(
                tensor=tensor,
                tensor_offset=pixel * window.channels + channels.start,
                bytes=len(channels),
                address=BufferAddress(buffer, pixel * len(channels)),
                is_store=is_store,
            )
        )


def _compute(builder: Builder, way: _Way, channels: range, source: int) -> None:
    """Add the job of a block, and the transfers of its outputs."""
    operation = _sliced(way.operation, channels)
    window, size = operation.window, len(channels)
    name = f"channels {channels.start} on of {operation.output}"
    buffer = builder.buffer(name, window.output_pixels * size)
    builder.add(
        Compute(
            operation=operation,
            inputs=(BufferAddress(source),),
            input_pitch=size,
            first_input_row=0,
            input_rows=window.input_rows,
            output=BufferAddress(buffer),
            output_pitch=size,
            first_output_row=0,
            output_rows=window.output_rows,
            output_row_bytes=window.output_columns * size,
        )
    )
    _move(builder, operation.output, buffer, way, channels, is_store=True)

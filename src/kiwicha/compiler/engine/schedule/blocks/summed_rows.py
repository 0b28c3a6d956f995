"""Rows that come one part after the other: how a mean is done whose image does not fit.

A mean of whole images, or another depthwise operation with one output for each, needs all rows of
an image. Such an operation is a region of its own. Its rows are loaded in parts. A job for each
part adds to the sums that the one before it has kept; the next part is loaded beside it.
"""

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kiwicha.compiler.engine.ir.operations import Operation
from kiwicha.compiler.engine.ir.plan import BufferAddress, Compute, Plan, Transfer
from kiwicha.compiler.engine.ir.region import Region
from kiwicha.compiler.engine.ir.window import padded
from kiwicha.compiler.engine.ir.window_operations import DepthwiseConvolution
from kiwicha.compiler.engine.schedule.buffers import Builder
from kiwicha.compiler.engine.schedule.plans import plan_of_one
from kiwicha.contract.cfu import ALIGNMENT_BYTES
from kiwicha.contract.configs import Config
from kiwicha.contract.engine import (
    GROUP_WORDS,
    MAX_JOBS,
    MAX_KEPT_SUMS,
    MAX_KERNEL_ROWS,
    JobKind,
    SumFlag,
)

__all__ = ["summed_rows_plan"]


@dataclass(frozen=True)
class _Part:
    """Rows of an image, and whether they begin or end its sums."""

    image: int
    rows: range
    is_first: bool
    is_last: bool


def summed_rows_plan(region: Region, config: Config) -> Plan | None:
    """Return a plan in parts of the input's rows; None if there is none.

    Parameters
    ----------
    region : Region
        Of one operation.
    config : Config
        With an engine.
    """
    (operation,) = region.operations
    whole = _whole(operation)
    if whole is None:
        return None
    rows, unit = whole.window.kernel_rows, _unit(region, operation)
    most = min(MAX_KERNEL_ROWS, GROUP_WORDS // whole.window.stride_columns)
    for count in range(2, -(-rows // unit) + 1):
        height = -(-rows // (count * unit)) * unit
        parts = list(_parts(whole, height))
        if len(parts) > MAX_JOBS:
            break
        found = _plan(region, whole, parts, config) if height <= most else None
        if found is not None:
            return found
    return None


def _whole(operation: Operation) -> DepthwiseConvolution | None:
    """Return the sum over whole images that an operation is, as if one job did it; else None."""
    window = operation.window
    outputs, images = window.output_rows, window.images
    if (
        operation.kind is not JobKind.DEPTHWISE
        or window.output_columns != 1
        or window.input_rows != outputs * window.kernel_rows
        or (window.stride_rows != window.kernel_rows and images != outputs)
        or window.dilation_rows != 1
        or window.pad_top
        or padded(window.channels) > MAX_KEPT_SUMS
    ):
        return None
    parts = [part for part in operation.job_operations if isinstance(part, DepthwiseConvolution)]
    if any(part.window.kernel_columns != window.kernel_columns for part in parts):
        return None
    if sum(part.window.kernel_rows for part in parts) != window.kernel_rows:
        return None
    weights = np.concatenate([part.weights for part in parts])
    return dataclasses.replace(parts[-1], window=window, weights=weights, sums=SumFlag.NONE)


def _parts(whole: DepthwiseConvolution, height: int) -> Iterator[_Part]:
    rows = range(whole.window.kernel_rows)
    for image in range(whole.window.output_rows):
        for first in rows[::height]:
            yield _Part(image, rows[first : first + height], not first, first + height >= len(rows))


def _unit(region: Region, operation: Operation) -> int:
    """Return the rows of which parts have multiples, so that each begins at an aligned byte."""
    row_bytes = region.input_row_bytes(operation, operation.inputs[0])
    return ALIGNMENT_BYTES // int(np.gcd(ALIGNMENT_BYTES, row_bytes))


def _plan(
    region: Region, whole: DepthwiseConvolution, parts: list[_Part], config: Config
) -> Plan | None:
    """Return the plan with some parts; None if two of them do not fit."""
    builder = Builder()
    (operation,) = region.operations
    source, output = operation.inputs[0], operation.output
    pitch, output_pitch = region.input_pitch(operation), region.output_pitch(operation)
    row_bytes = region.input_row_bytes(operation, source)
    images = whole.window.output_rows
    target = builder.buffer(f"tensor {output}", images * output_pitch + padded(output_pitch))
    buffers: list[int] = []

    def load(part: _Part) -> None:
        size = len(part.rows) * row_bytes
        start = (part.image * whole.window.kernel_rows + part.rows.start) * row_bytes
        # DRAM and scratchpad count bytes of their lines alike.
        lead = start % ALIGNMENT_BYTES
        name = f"rows {part.rows.start} on of image {part.image} of {source}"
        buffers.append(builder.buffer(name, lead + size))
        address = BufferAddress(buffers[-1], lead)
        builder.add(Transfer(source, start, size, address, is_store=False))

    load(parts[0])
    for number, part in enumerate(parts):
        if number + 1 < len(parts):
            load(parts[number + 1])
        start = (part.image * whole.window.kernel_rows + part.rows.start) * row_bytes
        builder.add(
            Compute(
                operation=_step(whole, part),
                inputs=(BufferAddress(buffers[number], start % ALIGNMENT_BYTES),),
                input_pitch=pitch,
                first_input_row=0,
                input_rows=len(part.rows),
                output=BufferAddress(target, part.image * output_pitch),
                output_pitch=output_pitch,
                first_output_row=0,
                output_rows=1,
                output_row_bytes=output_pitch,
            )
        )
    size = region.output_bytes(operation)
    builder.add(Transfer(output, 0, size, BufferAddress(target), is_store=True))
    return plan_of_one(region, builder, len(parts), config.scratchpad_bytes)


def _step(whole: DepthwiseConvolution, part: _Part) -> DepthwiseConvolution:
    """Return the operation of a part: the last one requantizes what all have summed."""
    height = len(part.rows)
    window = dataclasses.replace(
        whole.window,
        input_rows=height,
        kernel_rows=height,
        output_rows=1,
        stride_rows=1,
        images=1,
    )
    sums = SumFlag.NONE if part.is_first else SumFlag.CONTINUE
    return dataclasses.replace(
        whole,
        window=window,
        weights=whole.weights[part.rows.start : part.rows.stop],
        sums=sums if part.is_last else sums | SumFlag.KEEP,
        is_wide=whole.is_wide and part.is_last,
    )

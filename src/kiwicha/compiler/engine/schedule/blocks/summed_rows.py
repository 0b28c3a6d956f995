"""Rows that come one part after the other: how a mean is done whose image does not fit.

A mean of a whole image, or another depthwise operation with one output, needs all of its rows. Such
an operation is a region of its own. Its rows are loaded in parts. A job for each part adds to the
sums that the one before it has kept; the next part is loaded beside it.
"""

import dataclasses
from collections.abc import Iterator

import numpy as np

from kiwicha.compiler.engine.ir.plan import BufferAddress, Compute, Plan, Transfer
from kiwicha.compiler.engine.ir.region import Region
from kiwicha.compiler.engine.ir.window import padded
from kiwicha.compiler.engine.ir.window_operations import DepthwiseConvolution
from kiwicha.compiler.engine.schedule.buffers import Builder
from kiwicha.compiler.engine.schedule.plans import plan_of_one
from kiwicha.contract.cfu import ALIGNMENT_BYTES
from kiwicha.contract.configs import Config
from kiwicha.contract.engine import MAX_JOBS, MAX_KEPT_SUMS, SumFlag

__all__ = ["summed_rows_plan"]


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
    if not isinstance(operation, DepthwiseConvolution) or not _can_be_divided(operation):
        return None
    rows, unit = operation.window.kernel_rows, _unit(region, operation)
    for count in range(2, -(-rows // unit) + 1):
        height = -(-rows // (count * unit)) * unit
        parts = [range(rows)[first : first + height] for first in range(0, rows, height)]
        if len(parts) > MAX_JOBS:
            break
        found = _plan(region, operation, parts, config)
        if found is not None:
            return found
    return None


def _can_be_divided(operation: DepthwiseConvolution) -> bool:
    window = operation.window
    return (
        (window.output_rows, window.output_columns) == (1, 1)
        and window.input_rows == window.kernel_rows
        and window.dilation_rows == 1
        and not window.pad_top
        and padded(window.channels) <= MAX_KEPT_SUMS
    )


def _unit(region: Region, operation: DepthwiseConvolution) -> int:
    """Return the rows of which parts have multiples, so that each begins at an aligned byte."""
    row_bytes = region.input_row_bytes(operation, operation.inputs[0])
    return ALIGNMENT_BYTES // int(np.gcd(ALIGNMENT_BYTES, row_bytes))


def _plan(
    region: Region, operation: DepthwiseConvolution, parts: list[range], config: Config
) -> Plan | None:
    """Return the plan with some parts; None if two of them do not fit."""
    builder = Builder()
    source, output = operation.inputs[0], operation.output
    pitch, output_pitch = region.input_pitch(operation), region.output_pitch(operation)
    row_bytes = region.input_row_bytes(operation, source)
    target = builder.buffer(f"tensor {output}", padded(output_pitch))
    buffers: list[int] = []

    def load(part: range) -> None:
        size = len(part) * row_bytes
        buffers.append(builder.buffer(f"rows {part.start} on of {source}", size))
        start = part.start * row_bytes
        builder.add(Transfer(source, start, size, BufferAddress(buffers[-1]), is_store=False))

    load(parts[0])
    for number, step in enumerate(_steps(operation, parts)):
        if number + 1 < len(parts):
            load(parts[number + 1])
        builder.add(
            Compute(
                operation=step,
                inputs=(BufferAddress(buffers[number]),),
                input_pitch=pitch,
                first_input_row=0,
                input_rows=step.window.input_rows,
                output=BufferAddress(target),
                output_pitch=output_pitch,
                first_output_row=0,
                output_rows=1,
                output_row_bytes=output_pitch,
            )
        )
    size = region.output_bytes(operation)
    builder.add(Transfer(output, 0, size, BufferAddress(target), is_store=True))
    return plan_of_one(region, builder, len(parts), config.scratchpad_bytes)


def _steps(operation: DepthwiseConvolution, parts: list[range]) -> Iterator[DepthwiseConvolution]:
    """Yield the operations of the parts: the last one requantizes what all have summed."""
    window = operation.window
    for number, part in enumerate(parts):
        is_last = number == len(parts) - 1
        sums = SumFlag.CONTINUE if number else SumFlag.NONE
        yield dataclasses.replace(
            operation,
            window=dataclasses.replace(window, input_rows=len(part), kernel_rows=len(part)),
            weights=operation.weights[part.start : part.stop],
            sums=sums if is_last else sums | SumFlag.KEEP,
            is_wide=operation.is_wide and is_last,
        )

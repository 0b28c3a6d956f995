"""Convolutions with some wide channels: the groups without any keep the narrow rate."""

import dataclasses
import itertools

import numpy as np

from kiwicha.compiler.engine.codegen.streams import group_channels
from kiwicha.compiler.engine.ir.operations import DividedOperation, JobOperation, Piece
from kiwicha.compiler.engine.ir.window_operations import (
    Convolution,
    DepthwiseConvolution,
    WeightedOperation,
)
from kiwicha.compiler.engine.schedule.estimates.operation_costs import operation_cycles
from kiwicha.compiler.engine.select.convolutions.packed_products import packed_if_faster
from kiwicha.compiler.optimize.ranges import narrow_channels, sum_range
from kiwicha.contract.configs import Config
from kiwicha.contract.engine import OUTPUT_BYTES
from kiwicha.program.weight_streams import Parameters

__all__ = ["split_by_width"]


def split_by_width(operation: JobOperation, config: Config) -> DividedOperation | None:
    """Return a wide operation in jobs of which only some are wide; None if that is not faster.

    A job is wide if one of its channels is (`optimize.ranges.is_narrow`). Jobs begin
    and end with groups of the array. Those of a depthwise convolution read what they write of each
    pixel.

    Parameters
    ----------
    operation : JobOperation
        The operation in one job.
    config : Config
        With an engine.
    """
    if not isinstance(operation, WeightedOperation) or not operation.is_wide:
        return None
    sums = sum_range(operation.flat_weights, operation.parameters.bias, operation.input_zero_point)
    is_narrow = narrow_channels(sums, operation.parameters.shift)
    size = max(group_channels(operation, config.engine_macs), OUTPUT_BYTES)
    firsts = range(0, len(is_narrow), size)
    pieces, first = [], 0
    for narrow, members in itertools.groupby(
        bool(is_narrow[start : start + size].all()) for start in firsts
    ):
        end = min(first + size * len(list(members)), operation.output_channels)
        pieces.append(_piece(operation, config, first, end, is_narrow=narrow))
        first = end
    if len(pieces) == 1:
        return None
    split = DividedOperation(
        position=operation.position,
        inputs=operation.inputs,
        output=operation.output,
        window=operation.window,
        output_channels=operation.output_channels,
        clamp=operation.clamp,
        merged=operation.merged,
        pieces=tuple(pieces),
    )
    is_faster = operation_cycles(split, config) < operation_cycles(operation, config)
    return split if is_faster else None


def _piece(
    operation: WeightedOperation, config: Config, first: int, end: int, *, is_narrow: bool
) -> Piece:
    """Return the job for the outputs from ``first`` up to ``end``."""
    p = operation.parameters
    is_depthwise = isinstance(operation, DepthwiseConvolution)
    weights = operation.weights.take(range(first, end), axis=operation.channel_axis)
    window = operation.window
    if is_depthwise:
        window = dataclasses.replace(window, channels=end - first)
    part: WeightedOperation = dataclasses.replace(
        operation,
        is_wide=not is_narrow,
        window=window,
        output_channels=end - first,
        parameters=Parameters(*(values[first:end] for values in (p.bias, p.multiplier, p.shift))),
        weights=np.ascontiguousarray(weights),
    )
    if isinstance(part, Convolution):
        part = dataclasses.replace(part, is_packed=False)
    return Piece(
        rows=range(window.image_rows),
        operation=packed_if_faster(part, config),
        first_input_channel=first if is_depthwise else 0,
        first_output_channel=first,
    )

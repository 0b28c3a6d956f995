"""Convolutions with some wide channels: the groups without any keep the narrow rate."""

import dataclasses
import itertools

import numpy as np

from kiwicha.compiler.engine.ir.layers import EngineLayer, Patch
from kiwicha.compiler.engine.select.channel_blocks import block_cycles
from kiwicha.compiler.engine.select.packed_products import packed_if_faster
from kiwicha.compiler.optimize.ranges import narrow_channels, sum_range
from kiwicha.contract.cfu import Config
from kiwicha.contract.engine import OUTPUT_BYTES, JobFlag, JobKind
from kiwicha.program.weight_streams import Parameters, channels_per_group

__all__ = ["split_by_width"]


def split_by_width(layer: EngineLayer, config: Config) -> EngineLayer | None:
    """Return a wide layer as jobs of which only some are wide; None if that is not faster.

    A job is wide if one of its channels is (`optimize.ranges.is_narrow`). Jobs begin
    and end with groups of the array. Those of DEPTHWISE read what they write of each pixel.

    Parameters
    ----------
    layer : EngineLayer
        The layer in one job.
    config : Config
        With an engine.
    """
    is_window = layer.kind in (JobKind.CONV, JobKind.DEPTHWISE)
    if not is_window or layer.patches or not layer.flags & JobFlag.WIDE:
        return None
    axis = _channel_axis(layer)
    flat = np.moveaxis(layer.weights, axis, 0).reshape(layer.output_channels, -1)
    sums = sum_range(flat, layer.parameters.bias, layer.input_zero_point)
    is_narrow = narrow_channels(sums, layer.parameters.shift)
    size = max(channels_per_group(config.engine_macs, layer.kind, layer.flags), OUTPUT_BYTES)
    firsts = range(0, len(is_narrow), size)
    patches, first = [], 0
    for narrow, members in itertools.groupby(
        bool(is_narrow[start : start + size].all()) for start in firsts
    ):
        end = min(first + size * len(list(members)), layer.output_channels)
        patches.append(_patch(layer, config, first, end, is_narrow=narrow))
        first = end
    if len(patches) == 1:
        return None
    split = dataclasses.replace(
        layer,
        flags=JobFlag(0),
        weights=np.zeros(0, np.int16),
        weight_zero_point=0,
        patches=tuple(patches),
    )
    return split if block_cycles(split, config) < block_cycles(layer, config) else None


def _patch(layer: EngineLayer, config: Config, first: int, end: int, *, is_narrow: bool) -> Patch:
    """Return the job for the outputs from ``first`` up to ``end``."""
    p = layer.parameters
    is_depthwise = layer.kind is JobKind.DEPTHWISE
    weights = layer.weights.take(range(first, end), axis=_channel_axis(layer))
    window = layer.window
    if is_depthwise:
        window = dataclasses.replace(window, channels=end - first)
    part = dataclasses.replace(
        layer,
        flags=layer.flags & ~(JobFlag.PACKED | (JobFlag.WIDE if is_narrow else JobFlag(0))),
        window=window,
        output_channels=end - first,
        parameters=Parameters(*(values[first:end] for values in (p.bias, p.multiplier, p.shift))),
        weights=np.ascontiguousarray(weights),
    )
    rows = range(layer.window.output_rows // layer.window.images)
    packed = packed_if_faster(part, config.engine_macs, config.requantizer_cycles)
    return Patch(rows, None, packed, first if is_depthwise else 0, first)


def _channel_axis(layer: EngineLayer) -> int:
    """Return which axis of the weights is that of the output channels."""
    return 2 if layer.kind is JobKind.DEPTHWISE else 0

"""Convolutions of separate channels in blocks, where one job would have to read all channels.

What no depthwise job can express, such as several outputs of a channel or wide dilated kernels, a
CONV job can, with weights of zero for the channels that an output does not read. A job for a block
of outputs reads a slice of each pixel and writes a slice: it multiplies fewer zeros, and its
weights fit a group.
"""

import dataclasses
import math
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.engine.codegen.jobs import Part, engine_job, stream_bytes
from kiwicha.compiler.engine.cost.job_work import job_work
from kiwicha.compiler.engine.cost.timeline import DRAM_BYTES_PER_CYCLE
from kiwicha.compiler.engine.ir.checks import checked, fits_fields
from kiwicha.compiler.engine.ir.layers import EngineLayer, Patch, padded
from kiwicha.compiler.engine.schedule.estimate import JOB_CYCLES
from kiwicha.compiler.engine.select.legalize import WindowCall, window_call
from kiwicha.compiler.lower.network import Layer, Network, weights_of
from kiwicha.contract.cfu import Config
from kiwicha.contract.engine import GROUP_WORDS, INPUT_LANES, MAX_JOBS, JobFlag, JobKind
from kiwicha.contract.program import Kernel
from kiwicha.kernels.conv import Conv
from kiwicha.program.weight_streams import Parameters

__all__ = ["block_cycles", "block_layers"]

BLOCKS = (8, 16, 32, 64, 128, 256)
"""Outputs of a block that are tried: more of them are fewer jobs, with more zeros."""

Taps = Callable[[int, int], tuple[int, NDArray[np.int16]]]


def block_layers(
    network: Network,
    position: int,
    config: Config,
    whole: EngineLayer | None,
    cpu_cycles: Callable[[int], float],
) -> list[EngineLayer]:
    """Return a layer in blocks of channels, the best first; none if all at once it is faster.

    Parameters
    ----------
    network : Network
        The model.
    position : int
        Position of the layer.
    config : Config
        With an engine.
    whole : EngineLayer or None
        The layer as the engine does it all at once; if it cannot, the CPU does.
    cpu_cycles : callable
        Gives what a layer takes on the CPU, by its position.
    """
    layer = network.layers[position]
    if layer.more or layer.ranges or (whole is not None and whole.kind is not JobKind.CONV):
        return []
    if layer.kernel is not Kernel.DEPTHWISE_CONV and not _has_groups(layer):
        return []
    call = window_call(network, position)
    if call is None or not fits_fields(call.window, layer.params.output_channels):
        return []
    limit = cpu_cycles(position) if whole is None else block_cycles(whole, config)
    found = [
        (block_cycles(blocks, config), blocks) for blocks in _candidates(position, layer, call)
    ]
    found.sort(key=lambda item: item[0])
    return [blocks for cycles, blocks in found if cycles < limit]


def _has_groups(layer: Layer) -> bool:
    """Whether most weights of a CONV are zero, such as those for the channels of other groups."""
    if layer.kernel is not Kernel.CONV:
        return False
    weights = weights_of(layer)
    return bool(2 * np.count_nonzero(weights) <= weights.size)


def _candidates(position: int, layer: Layer, call: WindowCall) -> Iterator[EngineLayer]:
    """Yield the layer in blocks of several sizes."""
    taps = _taps(layer)
    for size in BLOCKS:
        outputs = layer.params.output_channels
        if size >= outputs:
            return
        patches = []
        for first in range(0, outputs, size):
            patch = _patch(position, call, taps, first, min(first + size, outputs))
            if patch is None:
                break
            patches.append(patch)
        else:
            main = patches[0].layer
            yield dataclasses.replace(
                main,
                flags=JobFlag(0),
                window=call.window,
                output_channels=outputs,
                parameters=call.parameters,
                weights=np.zeros(0, np.int16),
                weight_zero_point=0,
                patches=tuple(patches),
            )


def _patch(position: int, call: WindowCall, taps: Taps, first: int, end: int) -> Patch | None:
    """Return the job for the outputs from ``first`` up to ``end``, None if it does not fit."""
    channel, weights = taps(first, end)
    channels = weights.shape[3]
    window = dataclasses.replace(call.window, channels=channels)
    words = window.kernel_rows * window.kernel_columns * (padded(channels) // INPUT_LANES)
    if words > GROUP_WORDS or channels == call.window.channels:
        return None
    p = call.parameters
    parameters = Parameters(*(values[first:end] for values in (p.bias, p.multiplier, p.shift)))
    found = checked(
        position,
        JobKind.CONV,
        call.stored,
        window,
        weights,
        parameters,
        call.offsets,
        call.weight_zero_point,
    )
    if found is None:
        return None
    rows = range(call.window.output_rows // call.window.images)
    return Patch(rows, None, found, channel, first)


def _taps(layer: Layer) -> Taps:
    """Return a function of the first output and the one behind the last.

    It gives the first input channel of the slice that these outputs read, whole words of it, and
    int16 [O, H, W, I] for the channels of the slice.
    """
    p: Conv = layer.params
    weights = weights_of(layer)
    shape = (p.kernel_height, p.kernel_width)
    if layer.kernel is Kernel.CONV:
        dense = weights.reshape(p.output_channels, *shape, p.input_channels)
        reads = (dense != 0).any(axis=(1, 2))

        def taps(first: int, end: int) -> tuple[int, NDArray[np.int16]]:
            used = np.flatnonzero(reads[first:end].any(axis=0))
            start, stop = _words(p, *(used[[0, -1]].tolist() if len(used) else (0, 0)))
            return start, np.ascontiguousarray(dense[first:end, :, :, start:stop])

        return taps
    apart = weights.reshape(*shape, p.output_channels)
    sources = np.arange(p.output_channels) // p.depth_multiplier

    def spread_taps(first: int, end: int) -> tuple[int, NDArray[np.int16]]:
        start, stop = _words(p, int(sources[first]), int(sources[end - 1]))
        full = np.zeros((end - first, *shape, stop - start), np.int16)
        block = apart[:, :, first:end].transpose(2, 0, 1)
        full[np.arange(end - first), :, :, sources[first:end] - start] = block
        return start, full

    return spread_taps


def _words(p: Conv, first: int, last: int) -> tuple[int, int]:
    """Return the slice of whole words that holds channels, and where it ends."""
    return first // INPUT_LANES * INPUT_LANES, min(padded(last + 1), p.input_channels)


def block_cycles(layer: EngineLayer, config: Config) -> float:
    """Return about how many cycles a layer takes; infinite if its jobs are too many for a list."""
    window, macs = layer.window, config.engine_macs
    pitch, output_pitch = padded(window.channels), padded(layer.output_channels)
    part = Part((0,), pitch, 0, window.input_rows, 0, output_pitch, 0, window.output_rows)
    size = window.input_pixels * pitch + window.output_pixels * output_pitch
    # Two stripes are there at a time, with rows that neighbours share.
    share = 1 if size <= config.scratchpad_bytes else 3
    stripes = -(-share * size // config.scratchpad_bytes)
    blocks = [patch.layer for patch in layer.patches] or [layer]
    jobs = stripes * window.images * len(blocks)
    if jobs > MAX_JOBS:
        return math.inf
    cycles = JOB_CYCLES * jobs
    for block in blocks:
        work = job_work(engine_job(block, macs, 0, part), macs, config.requantizer_cycles)
        weights = stripes * stream_bytes(block, macs, pitch) / DRAM_BYTES_PER_CYCLE
        cycles += max(work.groups * work.cycles, weights)
    return cycles

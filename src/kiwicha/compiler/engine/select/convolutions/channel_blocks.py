"""Convolutions of separate channels in blocks, where one job would have to read all channels.

What no depthwise job can express, such as several outputs of a channel or wide dilated kernels, a
CONV job can, with weights of zero for the channels that an output does not read. A job for a block
of outputs reads a slice of each pixel and writes a slice: it multiplies fewer zeros, and its
weights fit a group.
"""

import dataclasses
import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.engine.ir.limits import WINDOW_LIMITS, limit, require
from kiwicha.compiler.engine.ir.operations import (
    ComputeOperation,
    DividedOperation,
    Operation,
    Piece,
)
from kiwicha.compiler.engine.ir.plan import MAX_REGION_JOBS
from kiwicha.compiler.engine.ir.refusals import BrokenLimitError
from kiwicha.compiler.engine.ir.selection import Candidate, Refusal
from kiwicha.compiler.engine.ir.window import padded
from kiwicha.compiler.engine.ir.window_operations import Convolution
from kiwicha.compiler.engine.schedule.estimates.operation_costs import operation_cycles
from kiwicha.compiler.engine.select.convolutions.chunks import in_chunks
from kiwicha.compiler.engine.select.convolutions.weighted import WeightedLayer, convolution
from kiwicha.compiler.lower.network import Layer, weights_of
from kiwicha.contract.configs import Config
from kiwicha.contract.engine import INPUT_LANES
from kiwicha.contract.program import Kernel
from kiwicha.kernels.conv import Conv
from kiwicha.program.weight_streams import Parameters

__all__ = ["BLOCK_LIMITS", "block_candidates"]

BLOCKS = (8, 16, 32, 64, 128, 256)
"""Outputs of a block that are tried: more of them are fewer jobs, with more zeros."""

Taps = Callable[[int, int], tuple[int, NDArray[np.int16]]]


def block_candidates(
    call: Layer,
    layer: WeightedLayer,
    config: Config,
    whole: Operation | None,
    cpu_cycles: float,
) -> tuple[list[Candidate], list[Refusal]]:
    """Return a layer in blocks of channels, the best first, and why not in others.

    They are those that are faster than all at once; or than the CPU, if the engine cannot compute
    the layer all at once.

    Parameters
    ----------
    call : Layer
        The layer, whose weights are a constant.
    layer : WeightedLayer
        The same in the engine's terms.
    config : Config
        With an engine.
    whole : Operation or None
        What the engine computes all at once.
    cpu_cycles : float
        What the layer takes on the CPU.
    """
    assert whole is None or isinstance(whole, ComputeOperation)
    if whole is not None and not isinstance(whole.job_operations[0], Convolution):
        return [], []
    if call.kernel is not Kernel.DEPTHWISE_CONV and not _has_groups(call):
        return [], []
    try:
        require(WINDOW_LIMITS, layer)
    except BrokenLimitError as error:
        return [], [Refusal("in blocks of channels", error.why)]
    most = cpu_cycles if whole is None else operation_cycles(whole, config)
    rival = "the CPU" if whole is None else "all channels at once"
    taps = _taps(call)
    candidates: list[tuple[float, Candidate]] = []
    refusals: list[Refusal] = []
    for size in (size for size in BLOCKS if size < layer.output_channels):
        form = f"in blocks of {size} channels"
        try:
            operation = _in_blocks(layer, taps, size)
        except BrokenLimitError as error:
            refusals.append(Refusal(form, error.why))
        else:
            candidates.append((operation_cycles(operation, config), Candidate(form, operation)))
    candidates.sort(key=lambda item: item[0])
    faster = [candidate for cycles, candidate in candidates if cycles < most]
    if not faster and candidates:
        cycles, best = candidates[0]
        takes = f"takes about {cycles:,.0f} cycles, and {rival} about {most:,.0f}"
        if cycles == math.inf:
            takes = f"needs more jobs than the {MAX_REGION_JOBS:,} of a region"
        return [], [Refusal(best.form, takes)]
    # What breaks a limit in small blocks breaks it in larger ones, too.
    return faster, [] if faster else refusals[:1]


@limit("CONV_2D", "DEPTHWISE_CONV_2D")
def block_channels(item: tuple[WeightedLayer, int]) -> str | None:
    """A layer that needs a job for each block of channels is on the engine if that is faster.

    A block of output channels reads only a part of the input channels.
    """
    layer, channels = item
    if channels < layer.window.channels:
        return None
    return f"reads all {channels} input channels for one block of outputs"


BLOCK_LIMITS = (block_channels,)
"""What must hold for a block, besides the limits of windows."""


def _has_groups(layer: Layer) -> bool:
    """Whether most weights of a CONV are zero, such as those for the channels of other groups."""
    if layer.kernel is not Kernel.CONV:
        return False
    weights = weights_of(layer)
    return bool(2 * np.count_nonzero(weights) <= weights.size)


def _in_blocks(layer: WeightedLayer, taps: Taps, size: int) -> DividedOperation:
    """Return the layer in blocks of so many outputs."""
    outputs = layer.output_channels
    return DividedOperation(
        position=layer.position,
        inputs=(layer.input,),
        output=layer.output,
        window=layer.window,
        output_channels=outputs,
        clamp=layer.clamp,
        pieces=tuple(
            part
            for first in range(0, outputs, size)
            for part in in_chunks(_piece(layer, taps, first, min(first + size, outputs)))
        ),
    )


def _piece(layer: WeightedLayer, taps: Taps, first: int, end: int) -> Piece:
    """Return the job for the outputs from ``first`` up to ``end``."""
    channel, weights = taps(first, end)
    channels = weights.shape[3]
    require(BLOCK_LIMITS, (layer, channels))
    p = layer.parameters
    block = dataclasses.replace(
        layer,
        window=dataclasses.replace(layer.window, channels=channels),
        parameters=Parameters(*(values[first:end] for values in (p.bias, p.multiplier, p.shift))),
    )
    return Piece(
        rows=range(layer.window.image_rows),
        operation=convolution(block, weights),
        first_input_channel=channel,
        first_output_channel=first,
    )


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

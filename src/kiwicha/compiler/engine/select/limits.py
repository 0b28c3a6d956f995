"""Which limit of the engine keeps a layer on the CPU, in words."""

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.engine.ir.layers import EngineLayer, Window, padded, segment_shape
from kiwicha.compiler.engine.ir.run import MAX_LIST_CYCLES, DoesNotFitError, Run, TooSlowError
from kiwicha.compiler.engine.schedule.schedule import schedule
from kiwicha.compiler.engine.select.channel_blocks import block_layers
from kiwicha.compiler.engine.select.forms import forms
from kiwicha.compiler.engine.select.legalize import engine_layer, window_of
from kiwicha.compiler.engine.select.operators import ENGINE_OPERATORS
from kiwicha.compiler.lower.network import Layer, Network, weights_of
from kiwicha.compiler.optimize.ranges import NARROW_BITS, largest_sum
from kiwicha.contract.cfu import Config
from kiwicha.contract.engine import (
    GROUP_WORDS,
    INPUT_LANES,
    MAX_DEPTHWISE_COLUMNS,
    MAX_KERNEL_ROWS,
    JobKind,
)
from kiwicha.contract.program import Kernel

__all__ = ["broken_limit"]

_WINDOWS = {Kernel.CONV, Kernel.DEPTHWISE_CONV, Kernel.FULLY_CONNECTED}


def broken_limit(network: Network, position: int, config: Config) -> str:
    """Return why a layer that is on the CPU is not on the engine.

    Parameters
    ----------
    network : Network
        The model.
    position : int
        Of the layer.
    config : Config
        With an engine.
    """
    layer = network.layers[position]
    if layer.name not in ENGINE_OPERATORS:
        return f"the engine does no {layer.name}"
    found = engine_layer(network, position)
    if found is None:
        found = next(iter(block_layers(network, position, config, None, lambda _: math.inf)), None)
    if found is not None:
        return _trouble(found, config)
    limit = next(_window_limits(network, layer), None) if layer.kernel in _WINDOWS else None
    return limit or f"the engine takes {layer.name} of this kind: {ENGINE_OPERATORS[layer.name]}"


def _trouble(layer: EngineLayer, config: Config) -> str:
    """Return why a layer that the engine could do is in no run; see `partition`."""
    memory = f"the engine's scratchpad of {config.scratchpad_bytes // 1024} KiB"
    try:
        schedule(
            Run((layer,), frozenset(layer.inputs), frozenset()),
            config.engine_macs,
            config.scratchpad_bytes,
            config.requantizer_cycles,
        )
    except DoesNotFitError:
        return f"no stripe of its tensors fits {memory}"
    except TooSlowError:
        return f"it takes more than {MAX_LIST_CYCLES:,} cycles, half of what the watchdog allows"
    odd = next((c for c in (layer.output_channels, layer.window.channels) if c != padded(c)), None)
    if odd is None:
        return f"with its neighbours it does not fit {memory}"
    return (
        f"an image between the engine and the CPU, or a model output, has {odd} channels, "
        "the engine leaves multiples of 8"
    )


def _window_limits(network: Network, layer: Layer) -> Iterator[str]:
    """Yield what a convolution breaks; the first form is the one that says most."""
    if any(network.tensors[layer.tensors[name]].is_constant for name in ("input", "output")):
        yield f"{layer.name} has a constant input, the engine takes what is computed"
        return
    form = next(forms(layer, window_of(layer), weights_of(layer)), None)
    if form is None:
        yield from _blocks(layer)
        return
    kind, window, weights = form
    limits = [
        (window.kernel_rows, MAX_KERNEL_ROWS, "kernel rows"),
        (window.input_columns * padded(window.channels), 2**16 - 1, "bytes of an input row"),
        *(_conv(window) if kind is JobKind.CONV else _depthwise(layer, window, weights)),
    ]
    for value, limit, what in limits:
        if value > limit:
            yield f"{layer.name} has {value} {what}, the engine takes {limit}"


def _blocks(layer: Layer) -> Iterator[str]:
    """Yield what keeps a convolution of separate channels from being done in blocks of them."""
    count = layer.params.kernel_height * layer.params.kernel_width * INPUT_LANES
    limit = GROUP_WORDS * INPUT_LANES
    if count > limit:
        yield f"{layer.name} has {count} weights of a block of 8 channels, the engine takes {limit}"


def _conv(window: Window) -> Iterator[tuple[int, int, str]]:
    segments, words = segment_shape(window, padded(window.channels))
    count = window.kernel_rows * segments * words * INPUT_LANES
    yield count, GROUP_WORDS * INPUT_LANES, "weights of one output"


def _depthwise(
    layer: Layer, window: Window, weights: NDArray[np.signedinteger]
) -> Iterator[tuple[int, int, str]]:
    yield window.slots, MAX_DEPTHWISE_COLUMNS, "kernel columns for each column of stride"
    rows = window.stride_columns * window.kernel_rows
    yield rows, GROUP_WORDS, "kernel rows times columns of stride"
    flat = weights.reshape(-1, weights.shape[2]).T
    bits = largest_sum(flat, -layer.params.input_offset).bit_length() + 1
    yield bits, NARROW_BITS, "bits of its largest sum"

"""From a `Network` to a `Network` without channels that are constant or that nobody needs.

A constant channel folds into the bias of the layer that reads it. What computes it goes, then what
only that needed, up to a fixpoint. Outputs stay the same, bit for bit.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.lower.network import Layer, Network
from kiwicha.compiler.optimize.channel_dependencies import (
    Constants,
    Mixing,
    constants_of,
    folds,
    known_constants,
    mixed_weights,
    mixing,
    sources,
)
from kiwicha.compiler.tflite.shapes import broadcast_strides
from kiwicha.contract.program import Kernel
from kiwicha.numerics.requantization import wrap_int32

__all__ = ["eliminate_dead_channels"]

WHOLE_CHANNELS = 8
"""Channels that are left are a multiple of this, or all: fewer would not be faster."""
Kept = Mapping[int, NDArray[np.bool_]]


def eliminate_dead_channels(network: Network) -> Network:
    """Return the network with the channels that count."""
    constants = constants_of(network)
    kept = _kept_channels(network, constants)
    layers = tuple(_rewritten(network, layer, constants, kept) for layer in network.layers)
    tensors = list(network.graph.tensors)
    for index, tensor in enumerate(tensors):
        mask = kept.get(network.aliases.get(index, index))
        if mask is not None and not mask.all():
            # A view of the tensor may have its pixels in the last dimension, too.
            last = tensor.shape[-1] // len(mask) * int(mask.sum())
            tensors[index] = dataclasses.replace(tensor, shape=(*tensor.shape[:-1], last))
    graph = dataclasses.replace(network.graph, tensors=tuple(tensors))
    result = dataclasses.replace(network, graph=graph, layers=layers)
    result.verify()
    return result


class _Groups:
    """Tensors whose channels must be kept or dropped together."""

    def __init__(self) -> None:
        self._parents: dict[int, int] = {}

    def find(self, tensor: int) -> int:
        """Return the tensor that stands for the group."""
        while tensor in self._parents:
            tensor = self._parents[tensor]
        return tensor

    def join(self, first: int, second: int) -> None:
        """Make one group of two."""
        a, b = self.find(first), self.find(second)
        if a != b:
            self._parents[a] = b


def _kept_channels(network: Network, constants: Mapping[int, Constants]) -> Kept:
    """Return the channels to keep of every tensor that a layer writes."""
    groups = _Groups()
    calls = [
        (call, Mixing.UNKNOWN if layer.more else mixing(network, call))
        for layer in network.layers
        for call in layer.calls
    ]
    written = {layer.tensors["output"] for layer, _ in calls}
    whole = set(network.graph.inputs) | set(network.outputs) | network.shared
    for layer, kind in calls:
        output = layer.tensors["output"]
        if kind is Mixing.EACH:
            for tensor in sources(network, layer):
                groups.join(tensor, output)
        elif kind is Mixing.UNKNOWN:
            whole |= {output, *sources(network, layer)}
    whole |= _oddly_viewed(network)
    whole_groups = {groups.find(tensor) for tensor in whole}

    kept: dict[int, NDArray[np.bool_]] = {}
    for tensor in written:
        group = groups.find(tensor)
        kept[group] = np.ones(network.tensors[tensor].shape[-1:] or (1,), np.bool_)
    while True:
        needed = {
            group: mask.copy() if group in whole_groups else np.zeros_like(mask)
            for group, mask in kept.items()
        }
        for layer, kind in calls:
            if kind is Mixing.ALL:
                source = sources(network, layer)[0]
                output = layer.tensors["output"]
                if groups.find(source) in needed:
                    rows = kept[groups.find(output)]
                    known = known_constants(network, constants, source)
                    needed[groups.find(source)] |= _used(layer, rows, known)
        filled = {group: _filled(mask, kept[group]) for group, mask in needed.items()}
        if all((filled[group] == kept[group]).all() for group in kept):
            return {tensor: kept[groups.find(tensor)] for tensor in written}
        kept = filled


def _used(layer: Layer, outputs: NDArray[np.bool_], constants: Constants) -> NDArray[np.bool_]:
    """Return the input channels without which some kept output cannot be computed."""
    is_folded = constants.is_constant & folds(layer.params, constants.values)
    rows = mixed_weights(layer, len(is_folded))[outputs]
    used: NDArray[np.bool_] = (rows != 0).any(axis=(0, 1)) & ~is_folded
    return used


def _filled(needed: NDArray[np.bool_], kept: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the needed channels and as many others as make their number whole."""
    missing = max(-int(needed.sum()) % WHOLE_CHANNELS, 0 if needed.any() else WHOLE_CHANNELS)
    filled = needed.copy()
    filled[np.flatnonzero(kept & ~needed)[:missing]] = True
    return filled


def _oddly_viewed(network: Network) -> set[int]:
    """Return tensors of which a view does not have all channels in its last dimension."""
    odd = set()
    for alias, tensor in network.aliases.items():
        shape, viewed = network.tensors[tensor].shape, network.tensors[alias].shape
        if not shape or not viewed or viewed[-1] % shape[-1]:
            odd.add(tensor)
    return odd


def _rewritten(
    network: Network, layer: Layer, constants: Mapping[int, Constants], kept: Kept
) -> Layer:
    """Return a layer for the channels that are left."""
    if layer.kernel is None or layer.more or mixing(network, layer) is Mixing.UNKNOWN:
        return layer
    source = sources(network, layer)[0]
    output = layer.tensors["output"]
    channels = network.tensors[source].shape[-1]
    inputs = kept.get(source, np.ones(channels, np.bool_))
    outputs = kept[output]
    if inputs.all() and outputs.all():
        return layer
    count = int(outputs.sum())
    p = layer.params
    if "weights" in layer.constants:
        known = known_constants(network, constants, source)
        return _rewritten_window(layer, inputs, outputs, known)
    if layer.kernel is Kernel.LOOKUP:
        return layer
    if layer.kernel in {Kernel.AVERAGE_POOL, Kernel.MAX_POOL}:
        return dataclasses.replace(layer, params=dataclasses.replace(p, channels=count))
    shape = (*p.shape[:-1], count)
    changes: dict[str, Any] = {"shape": shape}
    if layer.kernel is not Kernel.MEAN:
        for name in ("1", "2"):
            is_one = network.tensors[layer.tensors[f"input_{name}"]].is_constant
            changes[f"strides_{name}"] = broadcast_strides((1,) if is_one else shape, shape)
    return dataclasses.replace(layer, params=dataclasses.replace(p, **changes))


def _rewritten_window(
    layer: Layer,
    inputs: NDArray[np.bool_],
    outputs: NDArray[np.bool_],
    constants: Constants,
) -> Layer:
    p = layer.params
    weights = layer.constants["weights"]
    bias = layer.constants["bias"].astype(np.int64)
    is_apart = layer.kernel is Kernel.DEPTHWISE_CONV
    if is_apart:
        # With one input channel, that one stays; else inputs and outputs are the same channels.
        weights = weights[..., outputs]
    else:
        taps = mixed_weights(layer, len(inputs))
        is_gone = constants.is_constant & ~inputs
        differences = np.where(is_gone, constants.values + p.input_offset, 0)
        bias += (taps.astype(np.int64) * differences).sum(axis=(1, 2))
        rest = taps[outputs][:, :, inputs]
        stored = (rest - np.int16(p.weight_offset)).astype(np.int8)
        weights = stored.reshape(_shape_without(weights.shape, rest.shape))
    names: Sequence[str] = ("multiplier", "shift")
    changed = {name: layer.constants[name][outputs] for name in names}
    changed["bias"] = wrap_int32(bias[outputs]).astype(np.int32)
    input_channels = p.input_channels // len(inputs) * int(inputs.sum())
    params = dataclasses.replace(
        p,
        input_channels=input_channels,
        output_channels=int(outputs.sum()),
        depth_multiplier=int(outputs.sum()) if is_apart and p.input_channels == 1 else 1,
    )
    constants_now = {**layer.constants, **changed, "weights": np.ascontiguousarray(weights)}
    return dataclasses.replace(layer, params=params, constants=constants_now)


def _shape_without(shape: Sequence[int], rest: Sequence[int]) -> tuple[int, ...]:
    """Return OHWI or OI of the weights that are left."""
    outputs, taps, channels = rest
    if len(shape) == 2:
        return outputs, taps * channels
    return outputs, shape[1], shape[2], channels

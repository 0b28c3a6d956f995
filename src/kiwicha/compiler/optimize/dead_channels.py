"""Dead channels: take out what is constant or not needed, from `Network` to `Network`.

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
    ChannelFlow,
    Constants,
    Mixing,
    channel_flows,
    mixed_weights,
)
from kiwicha.compiler.tflite.shapes import broadcast_strides
from kiwicha.contract.program import Kernel
from kiwicha.numerics.requantization import wrap_int32

__all__ = ["eliminate_dead_channels"]

CHANNEL_MULTIPLE = 8
"""Channels that are left are a multiple of this, or all: fewer would not be faster."""
Kept = Mapping[int, NDArray[np.bool_]]


def eliminate_dead_channels(network: Network) -> Network:
    """Return the network with the channels that count."""
    flows = channel_flows(network)
    kept = _kept_channels(network, flows)
    rewritten = {
        id(flow.call): _rewritten(network, flow, kept)
        for flow in flows
        if flow.mixing is not Mixing.UNKNOWN
    }
    tensors = list(network.tensors)
    for index, tensor in enumerate(tensors):
        mask = kept.get(network.aliases.get(index, index))
        if mask is not None and not mask.all():
            # A view of the tensor may have its pixels in the last dimension, too.
            last = tensor.shape[-1] // len(mask) * int(mask.sum())
            tensors[index] = dataclasses.replace(tensor, shape=(*tensor.shape[:-1], last))
    result = dataclasses.replace(
        network,
        graph=dataclasses.replace(network.graph, tensors=tuple(tensors)),
        layers=tuple(rewritten.get(id(layer), layer) for layer in network.layers),
    )
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


def _kept_channels(network: Network, flows: Sequence[ChannelFlow]) -> Kept:
    """Return the channels to keep of every tensor that a call writes."""
    groups = _Groups()
    whole = {*network.graph.inputs, *network.outputs, *network.shared, *_oddly_viewed(network)}
    for flow in flows:
        if flow.mixing is Mixing.EACH:
            for tensor in flow.sources:
                groups.join(tensor, flow.output)
        elif flow.mixing is Mixing.UNKNOWN:
            whole |= {flow.output, *flow.sources}
    whole_groups = {groups.find(tensor) for tensor in whole}
    written = {flow.output for flow in flows}
    mixed = [flow for flow in flows if flow.mixing is Mixing.ALL]

    kept: dict[int, NDArray[np.bool_]] = {}
    for tensor in written:
        group = groups.find(tensor)
        kept[group] = np.ones(network.tensors[tensor].shape[-1:] or (1,), np.bool_)
    while True:
        needed = {
            group: mask.copy() if group in whole_groups else np.zeros_like(mask)
            for group, mask in kept.items()
        }
        for flow in mixed:
            group = groups.find(flow.sources[0])
            if group in needed:
                needed[group] |= _used(flow, kept[groups.find(flow.output)])
        filled = {group: _filled(mask, kept[group]) for group, mask in needed.items()}
        if all((filled[group] == kept[group]).all() for group in kept):
            return {tensor: kept[groups.find(tensor)] for tensor in written}
        kept = filled


def _used(flow: ChannelFlow, outputs: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the input channels without which some kept output cannot be computed."""
    is_folded = flow.is_folded
    rows = mixed_weights(flow.call, len(is_folded))[outputs]
    used: NDArray[np.bool_] = (rows != 0).any(axis=(0, 1)) & ~is_folded
    return used


def _filled(needed: NDArray[np.bool_], kept: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the needed channels, and others up to a multiple of `CHANNEL_MULTIPLE`."""
    missing = max(-int(needed.sum()) % CHANNEL_MULTIPLE, 0 if needed.any() else CHANNEL_MULTIPLE)
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


def _rewritten(network: Network, flow: ChannelFlow, kept: Kept) -> Layer:
    """Return a layer for the channels that are left."""
    layer, source = flow.call, flow.sources[0]
    channels = network.tensors[source].shape[-1]
    inputs = kept.get(source, np.ones(channels, np.bool_))
    outputs = kept[flow.output]
    if inputs.all() and outputs.all():
        return layer
    count = int(outputs.sum())
    p = layer.params
    if "weights" in layer.constants:
        assert flow.constants is not None
        return _rewritten_window(layer, inputs, outputs, flow.constants)
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

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
from kiwicha.compiler.optimize.channel_groups import ChannelGroups, with_channels
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


def _kept_channels(network: Network, flows: Sequence[ChannelFlow]) -> Kept:
    """Return the channels to keep of every tensor that a call writes."""
    groups = ChannelGroups(network, flows)
    written = {flow.output for flow in flows}
    mixed = [flow for flow in flows if flow.mixing is Mixing.ALL]

    kept: dict[int, NDArray[np.bool_]] = {}
    for tensor in written:
        group = groups.find(tensor)
        kept[group] = np.ones(network.tensors[tensor].shape[-1:] or (1,), np.bool_)
    while True:
        needed = {
            group: mask.copy() if group in groups.whole else np.zeros_like(mask)
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
    bias = layer.constants["bias"].astype(np.int64)
    if layer.kernel is not Kernel.DEPTHWISE_CONV:
        is_gone = constants.is_constant & ~inputs
        differences = np.where(is_gone, constants.values + p.input_offset, 0)
        taps = mixed_weights(layer, len(inputs))
        bias += (taps.astype(np.int64) * differences).sum(axis=(1, 2))
    folded = {**layer.constants, "bias": wrap_int32(bias).astype(np.int32)}
    return with_channels(
        dataclasses.replace(layer, constants=folded),
        np.flatnonzero(inputs),
        np.flatnonzero(outputs),
        len(inputs),
    )

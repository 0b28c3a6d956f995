"""Order of channels: those with weights that are too large for a second product become first ones.

Two products per multiplier take nine bits of the first weight, and eight of the second. Models of
uint8 have weights of nine bits, a few in each tensor. Their output channels change places with
others, and so do the input channels of what reads them. Outputs of the model stay the same, bit for
bit.
"""

import dataclasses
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.lower.network import Layer, Network, weights_of
from kiwicha.compiler.optimize.channel_dependencies import ChannelFlow, Mixing, channel_flows
from kiwicha.compiler.optimize.channel_groups import ChannelGroups, with_channels
from kiwicha.contract.program import Kernel
from kiwicha.program.packed_weights import are_second, is_first

__all__ = ["order_for_packing"]

_MIXING = {Kernel.CONV, Kernel.FULLY_CONNECTED}
Order = NDArray[np.intp]


def order_for_packing(network: Network) -> Network:
    """Return the network with its channels in such an order, where they may change places.

    Parameters
    ----------
    network : Network
        For an engine with two products per multiplier.
    """
    if not any(_large(layer).any() for layer in network.layers if layer.kernel in _MIXING):
        return network
    flows = channel_flows(network)
    groups = ChannelGroups(network, flows)
    large: dict[int, NDArray[np.bool_]] = {}
    for flow in flows:
        group = groups.find(flow.output)
        if flow.mixing is Mixing.ALL and flow.call.kernel in _MIXING and group not in groups.whole:
            flags = _large(flow.call)
            large[group] = large[group] | flags if group in large else flags
    orders = {group: _order(its_flags) for group, its_flags in large.items()}
    rewritten = {
        id(flow.call): _reordered(network, flow, groups, orders)
        for flow in flows
        if "weights" in flow.call.constants and flow.mixing is not Mixing.UNKNOWN
    }
    layers = tuple(rewritten.get(id(layer), layer) for layer in network.layers)
    result = dataclasses.replace(network, layers=layers)
    result.verify()
    return result


def _large(layer: Layer) -> NDArray[np.bool_]:
    """Return which output channels have a weight that is too large."""
    large: NDArray[np.bool_] = ~are_second(
        weights_of(layer).reshape(layer.params.output_channels, -1)
    )
    return large


def _order(large: NDArray[np.bool_]) -> Order:
    """Return which channel comes where: large ones of second halves change places with others."""
    order = np.arange(len(large))
    first = is_first(len(large))
    free = np.flatnonzero(first & ~large)
    for channel in np.flatnonzero(~first & large)[: len(free)]:
        other = free[np.abs(free - channel).argmin()]
        order[[channel, other]] = other, channel
        free = free[free != other]
    return order


def _reordered(
    network: Network, flow: ChannelFlow, groups: ChannelGroups, orders: Mapping[int, Order]
) -> Layer:
    """Return a layer with weights for the order of its input and of its output."""
    source = flow.sources[0]
    channels = network.tensors[source].shape[-1]
    kept = np.arange(channels), np.arange(flow.call.params.output_channels)
    inputs, outputs = (
        orders.get(groups.find(tensor), usual)
        for tensor, usual in zip((source, flow.output), kept, strict=True)
    )
    if all(map(np.array_equal, (inputs, outputs), kept)):
        return flow.call
    return with_channels(flow.call, inputs, outputs, channels)

"""Tensors with the same channels, and layers for some of their channels, or in another order."""

import dataclasses
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.lower.network import Layer, Network
from kiwicha.compiler.optimize.channel_dependencies import ChannelFlow, Mixing, mixed_weights
from kiwicha.contract.program import Kernel

__all__ = ["ChannelGroups", "with_channels"]


class ChannelGroups:
    """Tensors whose channels are the same, in the same order.

    Parameters
    ----------
    network : Network
        The model.
    flows : sequence of ChannelFlow
        Of its calls.

    Attributes
    ----------
    whole : set of int
        Tensors that stand for groups whose channels must stay as they are.
    """

    def __init__(self, network: Network, flows: Sequence[ChannelFlow]) -> None:
        self._parents: dict[int, int] = {}
        whole = {*network.graph.inputs, *network.outputs, *network.shared, *_oddly_viewed(network)}
        for flow in flows:
            if flow.mixing is Mixing.EACH:
                for tensor in flow.sources:
                    self._join(tensor, flow.output)
            elif flow.mixing is Mixing.UNKNOWN:
                whole |= {flow.output, *flow.sources}
        self.whole = {self.find(tensor) for tensor in whole}

    def find(self, tensor: int) -> int:
        """Return the tensor that stands for the group."""
        while tensor in self._parents:
            tensor = self._parents[tensor]
        return tensor

    def _join(self, first: int, second: int) -> None:
        """Make one group of two."""
        a, b = self.find(first), self.find(second)
        if a != b:
            self._parents[a] = b


def _oddly_viewed(network: Network) -> set[int]:
    """Return tensors of which a view does not have all channels in its last dimension."""
    odd = set()
    for alias, tensor in network.aliases.items():
        shape, viewed = network.tensors[tensor].shape, network.tensors[alias].shape
        if not shape or not viewed or viewed[-1] % shape[-1]:
            odd.add(tensor)
    return odd


def with_channels(
    layer: Layer, inputs: NDArray[np.intp], outputs: NDArray[np.intp], channels: int
) -> Layer:
    """Return a layer with weights for some channels, in their order.

    Parameters
    ----------
    layer : Layer
        With one of the kernels CONV, FULLY_CONNECTED, DEPTHWISE_CONV.
    inputs, outputs : int array
        Channels of its input and of its output; of a depthwise convolution of several channels the
        same.
    channels : int
        How many its input has.
    """
    p = layer.params
    weights = layer.constants["weights"]
    is_apart = layer.kernel is Kernel.DEPTHWISE_CONV
    if is_apart:
        # With one input channel, that one stays; else inputs and outputs are the same channels.
        weights = weights[..., outputs]
    else:
        rest = mixed_weights(layer, channels)[outputs][:, :, inputs]
        stored = (rest - np.int16(p.weight_offset)).astype(np.int8)
        weights = stored.reshape(_shape_without(weights.shape, rest.shape))
    changed = {name: layer.constants[name][outputs] for name in ("bias", "multiplier", "shift")}
    params = dataclasses.replace(
        p,
        input_channels=p.input_channels // channels * len(inputs),
        output_channels=len(outputs),
        depth_multiplier=len(outputs) if is_apart and p.input_channels == 1 else 1,
    )
    constants = {**layer.constants, **changed, "weights": np.ascontiguousarray(weights)}
    return dataclasses.replace(layer, params=params, constants=constants)


def _shape_without(shape: Sequence[int], rest: Sequence[int]) -> tuple[int, ...]:
    """Return OHWI or OI of the weights that are left."""
    outputs, taps, channels = rest
    if len(shape) == 2:
        return outputs, taps * channels
    return outputs, shape[1], shape[2], channels

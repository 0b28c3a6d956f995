"""What layers do with the channels of their input: mix them or keep them apart."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.lower.network import Layer, Network, weights_of
from kiwicha.compiler.optimize.byte_tables import (
    PAIR_KERNELS,
    byte_table,
    lookup_table,
    pair_results,
)
from kiwicha.compiler.optimize.ranges import constant_outputs
from kiwicha.contract.program import MAX_RANK, Kernel
from kiwicha.kernels.conv import Conv
from kiwicha.kernels.elementwise import is_plain
from kiwicha.kernels.pool import Pool
from kiwicha.numerics.requantization import requantize, wrap_int32
from kiwicha.program.weight_streams import Parameters

__all__ = ["ChannelFlow", "Constants", "Mixing", "channel_flows", "mixed_weights"]

_WINDOWS = {Kernel.CONV, Kernel.FULLY_CONNECTED, Kernel.DEPTHWISE_CONV}
_POOLS = {Kernel.AVERAGE_POOL, Kernel.MAX_POOL}


class Mixing(enum.Enum):
    """How a layer treats channels."""

    ALL = 1
    """Each output channel is computed from all input channels."""
    EACH = 2
    """Output channel c is computed from the channels c of the inputs."""
    UNKNOWN = 3


@dataclass(frozen=True, eq=False)
class Constants:
    """Channels of a tensor that hold one number.

    Parameters
    ----------
    is_constant : bool [channels]
        Which they are.
    values : int64 [channels]
        The numbers; undefined elsewhere.
    """

    is_constant: NDArray[np.bool_]
    values: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ChannelFlow:
    """What a call does with channels.

    Parameters
    ----------
    call : Layer
        The call.
    mixing : Mixing
        How it treats channels.
    sources : tuple of int
        Tensors that it computes from.
    output : int
        Tensor that it writes.
    constants : Constants or None
        Constant channels of the first source; None if mixing is unknown.
    """

    call: Layer
    mixing: Mixing
    sources: tuple[int, ...]
    output: int
    constants: Constants | None = None

    @property
    def is_folded(self) -> NDArray[np.bool_]:
        """Which channels of the first source a convolution can have in its bias."""
        assert self.constants is not None
        return self.constants.is_constant & _folds(self.call.params, self.constants.values)


def channel_flows(network: Network) -> list[ChannelFlow]:
    """Return what every call does with channels, in order of execution."""
    known: dict[int, Constants] = {}
    flows = []
    for layer in network.layers:
        for call in layer.calls:
            sources, output = _sources(network, call), call.tensors["output"]
            mixing = Mixing.UNKNOWN if layer.more else _mixing(network, call)
            if mixing is Mixing.UNKNOWN:
                flows.append(ChannelFlow(call, mixing, sources, output))
                continue
            inputs = [known.get(t) or _nothing_constant(network, t) for t in sources]
            flow = ChannelFlow(call, mixing, sources, output, inputs[0])
            flows.append(flow)
            is_window = call.kernel in _WINDOWS
            known[output] = (
                _window_constants(flow) if is_window else _each_constants(network, call, inputs)
            )
    return flows


def _nothing_constant(network: Network, tensor: int) -> Constants:
    channels = network.tensors[tensor].shape[-1]
    return Constants(np.zeros(channels, np.bool_), np.zeros(channels, np.int64))


def _sources(network: Network, layer: Layer) -> tuple[int, ...]:
    """Return the tensors that a layer computes from."""
    inputs = [network.tensors[t] for name, t in layer.tensors.items() if name != "output"]
    return tuple(dict.fromkeys(tensor.index for tensor in inputs if not tensor.is_constant))


def _mixing(network: Network, layer: Layer) -> Mixing:
    """Return how a layer treats channels."""
    tensors = [network.tensors[tensor] for tensor in layer.tensors.values()]
    if (
        layer.more
        or layer.ranges
        or any(not tensor.shape or tensor.elements == 0 for tensor in tensors)
        # What is computed from constants alone has no channels that come from anywhere.
        or not _sources(network, layer)
    ):
        return Mixing.UNKNOWN
    channels = {n: network.tensors[t].shape[-1] for n, t in layer.tensors.items()}
    p = layer.params
    if layer.kernel in _WINDOWS:
        return _window_mixing(layer, channels, tensors[0].is_constant)
    if layer.kernel in _POOLS or lookup_table(layer) is not None:
        return Mixing.EACH if channels["input"] == channels["output"] else Mixing.UNKNOWN
    if layer.kernel is Kernel.MEAN:
        is_apart = not p.is_reduced[MAX_RANK - 1] and p.shape[-1] == channels["input"]
        return Mixing.EACH if is_apart and channels["output"] == p.shape[-1] else Mixing.UNKNOWN
    if layer.kernel in PAIR_KERNELS:
        variable = _sources(network, layer)
        is_whole = all(network.tensors[t].shape[-1] == p.shape[-1] for t in variable)
        is_same = channels["output"] == p.shape[-1] and is_whole
        has_table = byte_table(network, layer) is not None
        if is_same and (has_table or (is_plain(p) and not any(t.is_constant for t in tensors))):
            return Mixing.EACH
    return Mixing.UNKNOWN


def _window_mixing(layer: Layer, channels: Mapping[str, int], is_constant: bool) -> Mixing:
    p: Conv = layer.params
    if is_constant or p.output_channels != channels["output"]:
        return Mixing.UNKNOWN
    if layer.kernel is Kernel.FULLY_CONNECTED:
        return Mixing.ALL if p.input_channels % channels["input"] == 0 else Mixing.UNKNOWN
    if p.input_channels != channels["input"]:
        return Mixing.UNKNOWN
    if layer.kernel is Kernel.CONV or p.input_channels == 1:
        return Mixing.ALL
    return Mixing.EACH if p.depth_multiplier == 1 else Mixing.UNKNOWN


def _conv_parameters(layer: Layer) -> Parameters:
    """Return bias, multiplier and shift of a layer with weights."""
    return Parameters(
        *(layer.constants[name].astype(np.int32) for name in ("bias", "multiplier", "shift"))
    )


def mixed_weights(layer: Layer, channels: int) -> NDArray[np.int16]:
    """Return the weights of a layer that mixes channels, int16 [outputs, taps, channels]."""
    weights = weights_of(layer)
    if layer.kernel is Kernel.DEPTHWISE_CONV:
        weights = np.ascontiguousarray(weights.transpose(3, 1, 2, 0))
    return weights.reshape(layer.params.output_channels, -1, channels)


def _folds(p: Conv, values: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which constants mean the same for every window.

    Outside the image is the zero point: another constant counts only where windows stay inside.
    """
    rows = (p.output_height - 1) * p.stride_height + (p.kernel_height - 1) * p.dilation_height
    columns = (p.output_width - 1) * p.stride_width + (p.kernel_width - 1) * p.dilation_width
    is_inside = not p.pad_top and not p.pad_left and rows < p.input_height
    if is_inside and columns < p.input_width:
        return np.ones(len(values), np.bool_)
    is_zero_point: NDArray[np.bool_] = values == -p.input_offset
    return is_zero_point


def _window_constants(flow: ChannelFlow) -> Constants:
    layer, inputs, is_folded = flow.call, flow.constants, flow.is_folded
    assert inputs is not None
    p: Conv = layer.params
    parameters = _conv_parameters(layer)
    differences = np.where(is_folded, inputs.values + p.input_offset, 0)
    if flow.mixing is Mixing.ALL:
        weights = mixed_weights(layer, len(is_folded))
        # Only of these: int64 of all weights would be eight times as much memory as the model.
        folded = weights[..., is_folded].astype(np.int64)
        sums = (folded * differences[is_folded]).sum(axis=(1, 2))
        rest = np.where(is_folded, 0, weights)
    else:
        weights = weights_of(layer)
        taps = weights.reshape(-1, p.output_channels).T
        sums = taps.astype(np.int64).sum(axis=1) * differences
        rest = np.where(is_folded[:, None], 0, taps)
    bias = wrap_int32(parameters.bias + sums).astype(np.int32)
    return Constants(
        *constant_outputs(
            rest.reshape(p.output_channels, -1).astype(np.int16),
            Parameters(bias, parameters.multiplier, parameters.shift),
            -p.input_offset,
            p.output_offset,
            (p.activation_min, p.activation_max),
        )
    )


def _each_constants(network: Network, layer: Layer, inputs: list[Constants]) -> Constants:
    p = layer.params
    first = inputs[0]
    is_constant = np.logical_and.reduce([item.is_constant for item in inputs])
    if isinstance(p, Pool):
        values = first.values.clip(p.activation_min, p.activation_max)
    elif layer.kernel is Kernel.MEAN:
        sizes = [size for size, flag in zip(p.shape, p.is_reduced, strict=False) if flag]
        sums = wrap_int32((first.values + p.input_offset) * int(np.prod(sizes)))
        values = requantize(sums, p.multiplier, p.shift, p.output_offset, -128, 127)
    else:
        table = byte_table(network, layer)
        if table is not None:
            values = table[first.values & 0xFF]
        else:
            values = pair_results(layer.kernel, p, first.values, inputs[-1].values)
    return Constants(is_constant, values)

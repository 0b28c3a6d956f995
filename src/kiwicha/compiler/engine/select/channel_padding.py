"""Channel padding: convolutions whose pixels are not whole words, for the engine.

The engine writes pixels of whole words. Where a reader needs them without gaps, a convolution gets
further output channels, which are not used, and a copy leaves them out: the CPU copies the results,
but does not compute them.
"""

import dataclasses
from collections.abc import Sequence

import numpy as np

from kiwicha.compiler.engine.ir.window import padded
from kiwicha.compiler.engine.select.legalize import legalize
from kiwicha.compiler.lower.byte_copies import byte_copy
from kiwicha.compiler.lower.network import Layer, Network, Values
from kiwicha.compiler.lower.views import View
from kiwicha.compiler.tflite.graph import Operator, Options
from kiwicha.compiler.tflite.tensor import Tensor
from kiwicha.contract.engine import TABLE_ENTRIES
from kiwicha.contract.program import Kernel

__all__ = ["pad_channels"]

_COPY = "STRIDED_SLICE"
"""Name in reports of what leaves the added channels out: TFLite would call it so."""
_WINDOWS = {Kernel.CONV, Kernel.TRANSPOSE_CONV, Kernel.DEPTHWISE_CONV}
_WIDENED = {Kernel.CONV, Kernel.TRANSPOSE_CONV}


def pad_channels(network: Network) -> Network:
    """Return a network in which such convolutions have whole words of output channels.

    A table that alone reads such a tensor looks all channels up, and the copy comes behind it.
    """
    added = _Added(network)
    layers: list[Layer] = []
    replaced: dict[int, Layer] = {}
    for position, layer in enumerate(network.layers):
        if not _is_meant(network, position):
            layers.append(_with_calls(layer, [replaced.get(id(c), c) for c in layer.calls]))
            continue
        dense = network.graph.tensors[layer.tensors["output"]]
        number, wide = added.wide(dense, dense.index)
        layers.append(_widened(layer, wide))
        lookup = _only_lookup(network, dense)
        if lookup is None:
            layers.append(_copy(number, wide, dense, dense.index, 0))
            continue
        # The first of the two operators has nothing to do: its tensor is the convolution's.
        layers.append(Layer(number, _COPY))
        number, looked_up = added.wide(dense, wide.index)
        tables = {"input": wide.index, "output": looked_up.index}
        layers.append(
            dataclasses.replace(lookup, operator=number, tensors=tables, ranges={}, more=())
        )
        first, _ = lookup.ranges.get("output", (0, 0))
        copy = _copy(lookup.operator, looked_up, dense, lookup.tensors["output"], first)
        replaced[id(lookup)] = dataclasses.replace(copy, name=lookup.name)
    result = dataclasses.replace(network, graph=added.graph, layers=tuple(layers))
    result.verify()
    return result


class _Added:
    """A graph with further tensors and operators."""

    def __init__(self, network: Network) -> None:
        self.graph = network.graph

    def wide(self, dense: Tensor, source: int) -> tuple[int, Tensor]:
        """Add a tensor of whole words, and the operator that makes it from ``source``."""
        tensors, operators = self.graph.tensors, self.graph.operators
        shape = (*dense.shape[:-1], padded(dense.shape[-1]))
        tensor = dataclasses.replace(dense, index=len(tensors), shape=shape)
        operator = Operator(len(operators), _COPY, (source,), (tensor.index,), Options())
        self.graph = dataclasses.replace(
            self.graph, tensors=(*tensors, tensor), operators=(*operators, operator)
        )
        return operator.index, tensor


def _with_calls(layer: Layer, calls: Sequence[Layer]) -> Layer:
    """Return a layer that makes these calls."""
    if list(calls) == list(layer.calls):
        return layer
    first, *others = calls
    return dataclasses.replace(first, more=tuple(others))


def _only_lookup(network: Network, dense: Tensor) -> Layer | None:
    """Return the call that looks a whole tensor up, if nothing else reads it."""
    found = [
        call
        for layer in network.layers
        for call in layer.calls
        for name, tensor in call.tensors.items()
        if name != "output" and tensor == dense.index
    ]
    if dense.index in network.outputs or dense.index in network.shared or len(found) != 1:
        return None
    (call,) = found
    is_whole = call.ranges.get("input", (0, dense.elements)) == (0, dense.elements)
    is_bytes = (
        call.kernel is Kernel.LOOKUP and len(call.constants["table"].tobytes()) == TABLE_ENTRIES
    )
    return call if is_bytes and is_whole else None


def _is_meant(network: Network, position: int) -> bool:
    """Whether a layer could be on the engine if its readers took pixels with gaps."""
    layer = network.layers[position]
    if layer.kernel not in _WIDENED or layer.params.output_channels == padded(
        layer.params.output_channels
    ):
        return False
    output = layer.tensors["output"]
    readers = [
        call
        for other in network.layers
        for call in other.calls
        for name, tensor in call.tensors.items()
        if name != "output" and tensor == output
    ]
    movers = [
        call
        for call in readers
        if call.kernel is Kernel.COPY
        or call.ranges
        or (call.kernel is Kernel.LOOKUP and call.tensors["output"] in network.outputs)
    ]
    others = {call.kernel for call in readers if call not in movers}
    wants_dense = output in network.outputs or output in network.shared or movers
    pixels = layer.params.output_height * layer.params.output_width
    return (
        bool(wants_dense)
        and others <= _WINDOWS
        and pixels > 1
        and legalize(network, position).chosen is not None
    )


def _widened(layer: Layer, wide: Tensor) -> Layer:
    count = wide.shape[-1]
    fills = {"weights": -layer.params.weight_offset}
    constants = {
        name: _extended(values, count, fills.get(name, 0))
        for name, values in layer.constants.items()
    }
    return dataclasses.replace(
        layer,
        params=dataclasses.replace(layer.params, output_channels=count),
        tensors={**layer.tensors, "output": wide.index},
        constants=constants,
    )


def _extended(values: Values, count: int, fill: int) -> Values:
    """Return values for ``count`` output channels, which are the first dimension."""
    extended = np.full((count, *values.shape[1:]), fill, values.dtype)
    extended[: len(values)] = values
    return extended


def _copy(operator: int, wide: Tensor, dense: Tensor, target: int, first: int) -> Layer:
    """Return a copy of the channels of ``dense`` to the bytes of a tensor from ``first`` on."""
    channels = dense.shape[-1]
    pixels = dense.elements // channels
    source = View.of((pixels, wide.shape[-1])).sliced(1, 0, channels)
    goal = View((pixels, channels), (channels, 1), first)
    copy = byte_copy(source, goal, 1)
    return Layer(
        operator,
        _COPY,
        kernel=Kernel.COPY,
        params=copy.params,
        tensors={"input": wide.index, "output": target},
        ranges={"input": copy.source, "output": copy.target},
        purpose=(
            f"copies {channels} of the {wide.shape[-1]} channels that the engine computed, which "
            "are whole words"
        ),
    )

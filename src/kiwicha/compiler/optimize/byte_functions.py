"""Layers whose outputs depend on single bytes of one tensor become tables of that tensor.

Such are chains of layers with one input, and layers on two tensors that come from the same bytes:
LOGISTIC and the MUL with its own input, which are SiLU, or the ADD, RELU6 and MUL of which a hard
swish can be made. A table holds exactly what the layers would give for each byte.
"""

import dataclasses
from collections import defaultdict
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.lower.network import Layer, Network
from kiwicha.compiler.lower.tables import ALL_BYTES
from kiwicha.compiler.optimize.byte_tables import PAIR_KERNELS, lookup_table, pair_results
from kiwicha.contract.layout import Ref
from kiwicha.contract.program import Kernel
from kiwicha.kernels.lookup import Lookup

__all__ = ["merge_byte_functions"]

Int64s = NDArray[np.int64]


@dataclasses.dataclass(frozen=True, eq=False)
class _Function:
    """What a tensor is of another one.

    Parameters
    ----------
    root : int
        That tensor, as large as this one.
    values : ndarray of int64 [256]
        This one's int8 by the unsigned byte of the root.
    """

    root: int
    values: Int64s


def merge_byte_functions(network: Network) -> Network:
    """Return the network with one LOOKUP for each tensor of a chain that others read.

    Parameters
    ----------
    network : Network
        From `kiwicha.compiler.lower.lower.lower`.
    """
    readers = _readers(network)
    kept = {*network.outputs, *network.shared}
    while True:
        found = _functions(network, kept)
        mixed = {
            tensor
            for tensor in found.keys() - kept
            if not readers[tensor] or any(reader not in found for reader in readers[tensor])
        }
        if not mixed:
            break
        kept |= mixed
    layers = tuple(_merged(network, layer, found, kept) for layer in network.layers)
    merged = dataclasses.replace(network, layers=layers)
    merged.verify()
    return merged


def _readers(network: Network) -> Mapping[int, list[int]]:
    """Return the first tensor that each reader of a tensor writes."""
    readers: defaultdict[int, list[int]] = defaultdict(list)
    for layer in network.layers:
        for call in layer.calls:
            for name, tensor in call.tensors.items():
                if name != "output":
                    readers[tensor].append(call.tensors["output"])
    return readers


def _functions(network: Network, kept: set[int]) -> dict[int, _Function]:
    """Return what tensors are of others; those ``kept`` are their own roots."""
    found: dict[int, _Function] = {}
    for layer in network.layers:
        if not layer.calls or layer.more or layer.ranges:
            continue
        function = _function_of(network, layer, found, kept)
        if function is not None:
            found[layer.tensors["output"]] = function
    return found


def _function_of(
    network: Network, layer: Layer, found: Mapping[int, _Function], kept: set[int]
) -> _Function | None:
    """Return what a layer's output is, or None."""

    def operand(name: str) -> _Function:
        tensor = layer.tensors[name]
        if tensor in found and tensor not in kept:
            return found[tensor]
        return _Function(tensor, ALL_BYTES)

    table = lookup_table(layer)
    if table is not None and not network.tensors[layer.tensors["input"]].is_constant:
        source = operand("input")
        return _Function(source.root, table[source.values & 0xFF])
    if layer.kernel not in PAIR_KERNELS:
        return None
    pair = [network.tensors[layer.tensors[name]] for name in ("input_1", "input_2")]
    output = network.tensors[layer.tensors["output"]]
    roots, values = set(), []
    for name, tensor in zip(("input_1", "input_2"), pair, strict=True):
        if tensor.is_constant:
            if tensor.elements != 1:
                return None
            values.append(tensor.int8s().reshape(-1).astype(np.int64))
            continue
        if tensor.elements != output.elements:
            return None
        source = operand(name)
        roots.add(source.root)
        values.append(source.values)
    if len(roots) != 1:
        return None
    results = pair_results(layer.kernel, layer.params, *np.broadcast_arrays(*values))
    return _Function(roots.pop(), np.broadcast_to(results, ALL_BYTES.shape))


def _merged(
    network: Network, layer: Layer, found: Mapping[int, _Function], kept: set[int]
) -> Layer:
    """Return a layer as the LOOKUP that it is, or without a call where nothing reads its output."""
    output = layer.tensors.get("output")
    if output not in found or layer.more or layer.ranges:
        return layer
    if output not in kept:
        return Layer(layer.operator, layer.name)
    function = found[output]
    return dataclasses.replace(
        layer,
        kernel=Kernel.LOOKUP,
        params=Lookup(input=Ref(), output=Ref(), table=Ref()),
        tensors={"input": function.root, "output": output},
        constants={"table": function.values.astype(np.int8)},
    )

"""QUANTIZE behind a function of pairs becomes a part of its table."""

import dataclasses
from collections import Counter

from kiwicha.compiler.lower.network import Layer, Network
from kiwicha.contract.program import Kernel
from kiwicha.kernels.requantize import requantized

__all__ = ["merge_pair_functions"]


def merge_pair_functions(network: Network) -> Network:
    """Return the network without numbers of pairs that only a QUANTIZE reads.

    Parameters
    ----------
    network : Network
        From `kiwicha.compiler.lower.lower.lower`.
    """
    if all(layer.kernel is not Kernel.PAIRS for layer in network.layers):
        return network
    reads = Counter(
        tensor
        for layer in network.layers
        for call in layer.calls
        for name, tensor in call.tensors.items()
        if name != "output"
    )
    kept = {*network.outputs, *network.shared}
    layers = list(network.layers)
    for position, layer in enumerate(layers):
        if layer.kernel is not Kernel.REQUANTIZE:
            continue
        source = layer.tensors["input"]
        maker = next(
            (place for place, other in enumerate(layers) if _gives_pairs(other, source)), None
        )
        if maker is None or source in kept or reads[source] > 1:
            continue
        layers[position] = _merged(layers[maker], layer)
        layers[maker] = Layer(layers[maker].operator, layers[maker].name)
    merged = dataclasses.replace(network, layers=tuple(layers))
    merged.verify()
    return merged


def _gives_pairs(layer: Layer, tensor: int) -> bool:
    return layer.kernel is Kernel.PAIRS and layer.tensors["output"] == tensor


def _merged(pairs: Layer, quantize: Layer) -> Layer:
    """Return a QUANTIZE as a function of the pairs that another layer reads."""
    table = requantized(quantize.params, pairs.constants["table"])
    return dataclasses.replace(
        quantize,
        kernel=Kernel.PAIRS,
        params=dataclasses.replace(pairs.params, output_bytes=quantize.params.output_bytes),
        tensors={"input": pairs.tensors["input"], "output": quantize.tensors["output"]},
        constants={"table": table},
    )

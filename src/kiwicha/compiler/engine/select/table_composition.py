"""Tables that others can do: those of tables, and those that only limit what a layer gives.

A table whose only reader is a table job goes into that job's tables. A table that leaves bytes as
they are, but for the least and the largest ones, such as that of a RELU with its input's scale,
becomes the clamp of the layer before.
"""

import dataclasses
from collections.abc import Mapping

import numpy as np

from kiwicha.compiler.engine.ir.layers import EngineLayer
from kiwicha.compiler.lower.network import Network
from kiwicha.contract.engine import TABLE_KINDS, JobKind

__all__ = ["compose_tables"]


def compose_tables(network: Network, layers: Mapping[int, EngineLayer]) -> dict[int, EngineLayer]:
    """Return the layers for the engine without tables that others can do.

    Parameters
    ----------
    network : Network
        The model.
    layers : mapping of int to EngineLayer
        Layers for the engine, by position.
    """
    composed = dict(layers)
    for position in sorted(layers):
        layer = composed[position]
        if layer.kind is JobKind.TABLE and layer.is_flat:
            producer = _only_for(network, composed, layer.inputs[0])
            if producer is not None and _limits(layer, producer):
                composed[position] = _limited(producer, layer)
                del composed[producer.position]
                continue
        for number in range(len(layer.inputs) if layer.kind in TABLE_KINDS else 0):
            source = _only_for(network, composed, composed[position].inputs[number])
            if source is not None and source.kind is JobKind.TABLE and source.is_flat:
                composed[position] = _composed(source, composed[position], number)
                del composed[source.position]
    return composed


def _only_for(
    network: Network, layers: Mapping[int, EngineLayer], tensor: int
) -> EngineLayer | None:
    """Return the layer that writes a tensor with a single reader."""
    used = [*network.outputs, *network.shared]
    for layer in network.layers:
        for call in layer.calls:
            used += [t for name, t in call.tensors.items() if name != "output"]
    if used.count(tensor) != 1:
        return None
    return next((layer for layer in layers.values() if layer.output == tensor), None)


def _limits(layer: EngineLayer, producer: EngineLayer) -> bool:
    """Whether a TABLE only limits what its producer, whose results are clamped, can give."""
    if producer.kind is JobKind.TABLE:
        return False
    values = np.arange(producer.clamp[0], producer.clamp[1] + 1)
    results = layer.tables[values.astype(np.int8).view(np.uint8), 0]
    return np.array_equal(results, values.clip(results[0], results[-1]))


def _limited(producer: EngineLayer, layer: EngineLayer) -> EngineLayer:
    """Return the producer with the limits of a TABLE, in whose place it is."""
    low, high = (int(layer.tables[value & 0xFF, 0]) for value in producer.clamp)

    def limited(part: EngineLayer) -> EngineLayer:
        return dataclasses.replace(
            part, position=layer.position, output=layer.output, clamp=(low, high)
        )

    return dataclasses.replace(
        limited(producer),
        merged=(*layer.merged, *producer.merged, producer.position),
        patches=tuple(
            dataclasses.replace(patch, layer=limited(patch.layer)) for patch in producer.patches
        ),
    )


def _composed(first: EngineLayer, second: EngineLayer, number: int) -> EngineLayer:
    """Return ``second`` with ``first`` in place of its input ``number``."""
    tables = second.tables.copy()
    tables[:, number] = second.tables[first.tables[:, 0].astype(np.int8).view(np.uint8), number]
    inputs = list(second.inputs)
    inputs[number] = first.inputs[0]
    merged = (*first.merged, first.position, *second.merged)
    return dataclasses.replace(second, tables=tables, inputs=tuple(inputs), merged=merged)

"""Transpositions of large matrices in two passes, whose transfers have long parts.

The engine transposes in the scratchpad what it loads and stores in planes: a transfer for each row
of the matrix, or for each column, however few bytes of it have room. Where there are many of both,
these are short. Then groups of rows are transposed first, each alone: whole rows are read, and all
is written that lies behind each other. What is left is a transposition of groups, in pieces of as
many bytes as a group has rows.
"""

import dataclasses
import math

from kiwicha.compiler.lower.byte_copies import byte_copy
from kiwicha.compiler.lower.network import Layer, Network
from kiwicha.compiler.lower.views import View
from kiwicha.compiler.optimize.transposed_tensors import Uses
from kiwicha.compiler.tflite.tensor import Tensor
from kiwicha.contract.program import Kernel

__all__ = ["transpose_in_two_passes"]

_FEWEST, _MOST = 8, 32
"""Rows of a group: pieces of fewer bytes are slow, and with more of them few groups fit."""
_TRANSFER_CYCLES = 46
"""What a transfer takes besides its bytes."""
_BYTE_CYCLES = 2 / 14.2
"""What a byte takes to the scratchpad and from there, at best."""
_MARGIN = 1.1
"""By what two passes must be faster: one hides some of its transfers."""
_TILE, _LINE = 4, 16
"""Rows of a tile, and bytes of a line: what a move writes at a time."""


def transpose_in_two_passes(network: Network, scratchpad_bytes: int) -> Network:
    """Return the network with large transpositions as two calls each, with a tensor between them.

    Parameters
    ----------
    network : Network
        The model.
    scratchpad_bytes : int
        Of the engine.
    """
    uses = Uses(network)
    for item in uses.transpositions.values():
        dimensions = item.order.dimensions
        if len(dimensions) != 2 or item.order.cost < network.tensors[item.output].stored_bytes:
            continue
        (columns, _, _), (rows, _, _) = dimensions
        size = _group(rows, columns, scratchpad_bytes)
        if size:
            network = _divided(network, item.position, (rows, columns), size)
    return network


def _group(rows: int, columns: int, scratchpad_bytes: int) -> int:
    """Return the rows of a group; 0 if one pass is faster, or none divides them."""
    if rows * columns <= scratchpad_bytes:
        return 0
    # Two groups in, two out.
    most = min(_MOST, scratchpad_bytes // (4 * columns))
    sizes = [size for size in range(_FEWEST, most + 1) if rows % size == 0]
    part = 0.8 * scratchpad_bytes
    alone = 1 / _TILE + _TRANSFER_CYCLES * min(rows, columns) / part
    cycles = {
        size: _BYTE_CYCLES
        + (-(-size // _TILE) + _lines(size)) / size
        + _TRANSFER_CYCLES * rows / size / part
        for size in sizes
    }
    best = min(sizes, key=cycles.__getitem__, default=0)
    return best if best and _MARGIN * cycles[best] < alone else 0


def _lines(size: int) -> float:
    """Return the lines that a piece touches, on average."""
    unit = math.gcd(size, _LINE)
    places = range(0, _LINE, unit)
    return sum(-(-(place + size) // _LINE) for place in places) / len(places)


def _divided(network: Network, position: int, shape: tuple[int, int], size: int) -> Network:
    """Return the network with a layer as a transposition of groups, and one of their rows."""
    (rows, columns), layer = shape, network.layers[position]
    groups = rows // size
    output = network.tensors[layer.tensors["output"]]
    between = dataclasses.replace(
        output,
        index=len(network.tensors),
        name=f"groups of {size} rows of {output.name}",
        shape=(groups, columns, size),
        shape_signature=(),
    )
    whole = View.of((groups, columns, size))
    rows_first = View((groups, columns, size), (size * columns, 1, columns))
    groups_last = View((groups, columns, size), (size, rows, 1))
    first = _copy(layer, rows_first, whole, layer.tensors["input"], between)
    second = _copy(layer, whole, groups_last, between.index, output)
    layers = list(network.layers)
    layers[position] = dataclasses.replace(first, more=(second,), is_shared=layer.is_shared)
    graph = dataclasses.replace(network.graph, tensors=(*network.tensors, between))
    return dataclasses.replace(network, graph=graph, layers=tuple(layers))


def _copy(layer: Layer, view: View, target: View, source: int, output: Tensor) -> Layer:
    copy = byte_copy(view, target, 1)
    return Layer(
        layer.operator,
        layer.name,
        kernel=Kernel.COPY,
        params=copy.params,
        tensors={"input": source, "output": output.index},
        ranges={"input": copy.source, "output": copy.target},
    )

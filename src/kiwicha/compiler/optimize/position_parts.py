"""ARG_MAX and ARG_MIN of more positions than a job can tell apart, part by part.

The engine finds the extreme byte of each part, and its position there, in two layers. What is left
for the CPU is to compare the parts: a byte for each of them, instead of one for each position.
"""

import dataclasses
import math

from kiwicha.compiler.lower.network import Layer, Network
from kiwicha.compiler.tflite.graph import Operator, Options
from kiwicha.compiler.tflite.tensor import Tensor, TensorType
from kiwicha.contract.engine import MAX_KERNEL_ROWS, MAX_POSITIONS
from kiwicha.contract.layout import Ref
from kiwicha.contract.program import MAX_RANK, Kernel
from kiwicha.kernels.arg_max import ArgMax
from kiwicha.kernels.mean import Mean
from kiwicha.kernels.part_positions import ArgMaxOfParts

__all__ = ["find_positions_in_parts"]

FEWEST = 16
"""Positions of a part that are worth two layers more."""


def find_positions_in_parts(network: Network) -> Network:
    """Return the network with such layers as three: bytes, their positions, and the parts.

    Parameters
    ----------
    network : Network
        The model; returned as it is if no layer has too many positions, or none can be divided.
    """
    tensors, operators = list(network.tensors), list(network.graph.operators)
    layers: list[Layer] = []
    for layer in network.layers:
        size = _part(layer)
        layers += _divided(layer, size, tensors, operators) if size else [layer]
    if len(layers) == len(network.layers):
        return network
    graph = dataclasses.replace(network.graph, tensors=tuple(tensors), operators=tuple(operators))
    divided = dataclasses.replace(network, graph=graph, layers=tuple(layers))
    divided.verify()
    return divided


def _part(layer: Layer) -> int:
    """Return the positions of a part, as many as a window can have; 0 if it stays as it is."""
    if layer.kernel is not Kernel.ARG_MAX or layer.ranges:
        return 0
    p: ArgMax = layer.params
    # Where the last dimension is searched, it becomes rows.
    most = MAX_POSITIONS if p.inner > 1 else MAX_KERNEL_ROWS
    if p.depth <= most:
        return 0
    sizes = range(most, FEWEST - 1, -1)
    return next((size for size in sizes if p.depth % size == 0), 0)


def _divided(
    layer: Layer, size: int, tensors: list[Tensor], operators: list[Operator]
) -> list[Layer]:
    """Return the layers that find positions in parts of a size; adds what they need."""
    p: ArgMax = layer.params
    parts = p.depth // size
    source, output = layer.tensors["input"], layer.tensors["output"]
    shape = (p.outer, parts, p.inner)
    largest = _tensor(tensors, tensors[source], "bytes", shape)
    places = _tensor(tensors, tensors[output], "positions", shape)
    tensors[places] = dataclasses.replace(tensors[places], type=TensorType.INT32)
    reduced = (p.outer * parts, size, p.inner)
    leading = MAX_RANK - len(reduced)
    flags = [0] * 8
    flags[leading + 1] = 1
    is_smallest = bool(p.flip)
    first = Layer(
        _operator(operators, "REDUCE_MIN" if is_smallest else "REDUCE_MAX", source, largest),
        "REDUCE_MIN" if is_smallest else "REDUCE_MAX",
        kernel=Kernel.REDUCE_MIN if is_smallest else Kernel.REDUCE_MAX,
        params=Mean(Ref(), Ref(), (*(1,) * leading, *reduced), tuple(flags), 0, 0, 0, 0),
        tensors={"input": source, "output": largest},
    )
    second = Layer(
        _operator(operators, layer.name, source, places),
        layer.name,
        kernel=Kernel.ARG_MAX,
        params=dataclasses.replace(p, outer=reduced[0], depth=size, words=1),
        tensors={"input": source, "output": places},
    )
    last = dataclasses.replace(
        layer,
        kernel=Kernel.ARG_MAX_OF_PARTS,
        params=ArgMaxOfParts(Ref(), Ref(), Ref(), *shape, size, p.flip, p.words),
        tensors={"input": largest, "positions": places, "output": output},
    )
    return [first, second, last]


def _tensor(tensors: list[Tensor], like: Tensor, what: str, shape: tuple[int, ...]) -> int:
    index = len(tensors)
    name = f"{what} of parts of {like.name}"
    new = dataclasses.replace(like, index=index, name=name, shape=shape, shape_signature=())
    tensors.append(new)
    assert math.prod(shape) == new.elements
    return index


def _operator(operators: list[Operator], name: str, source: int, target: int) -> int:
    operators.append(Operator(len(operators), name, (source,), (target,), Options()))
    return operators[-1].index

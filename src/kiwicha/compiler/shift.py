"""uint8 models as int8 models: all values and zero points less by 128.

Inside, everything is int8; `Tensor.is_shifted` remembers which tensors were not, because LiteRT's
arithmetic for them differs in places. At the model's edges the bytes stay those of the model: an
input passes an exchange of its top bits first, an output after it was computed.
"""

import dataclasses

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.graph import Graph, Operator, Options, Quantization, Tensor, TensorType

__all__ = ["FLIP", "FLIP_TABLE", "SHIFT", "shifted", "with_flipped_edges"]

SHIFT = 128
FLIP = "QUANTIZE"
"""Name in reports of what exchanges the top bits: TFLite would call it so."""
_TOP_BIT = 0x80
FLIP_TABLE: NDArray[np.int64] = np.arange(256) - SHIFT
"""The int8 of every byte with its top bit exchanged."""
_FREE_AT_THE_EDGE = "SOFTMAX"
"""Operator that can write uint8 by itself."""


def shifted(graph: Graph) -> Graph:
    """Return a model whose uint8 tensors are int8."""
    return dataclasses.replace(graph, tensors=tuple(_shifted(t) for t in graph.tensors))


def _shifted(tensor: Tensor) -> Tensor:
    if tensor.type is not TensorType.UINT8:
        return tensor
    return dataclasses.replace(
        tensor,
        type=TensorType.INT8,
        quantization=_moved(tensor.quantization, -SHIFT),
        data=None if tensor.data is None else tensor.data ^ np.uint8(_TOP_BIT),
        is_shifted=True,
    )


def _moved(quantization: Quantization | None, distance: int) -> Quantization | None:
    if quantization is None:
        return None
    return dataclasses.replace(
        quantization, zero_points=quantization.zero_points + distance, is_single=distance < 0
    )


def with_flipped_edges(graph: Graph) -> tuple[Graph, tuple[Operator, ...]]:
    """Return a model whose inputs and outputs are uint8 again, and its operators in order.

    Parameters
    ----------
    graph : Graph
        From `shifted`, and supported.

    Returns
    -------
    graph : Graph
        New operators are behind those of the model, so that these keep their numbers.
    order : tuple of Operator
        All operators as they are executed.
    """
    tensors = list(graph.tensors)
    added: list[Operator] = []
    edges: dict[int, int] = {}

    def edge_of(index: int) -> int:
        """Return the uint8 tensor that stands for a shifted one."""
        if index not in edges:
            inside = tensors[index]
            edges[index] = len(tensors)
            tensors.append(
                dataclasses.replace(
                    inside,
                    index=len(tensors),
                    type=TensorType.UINT8,
                    quantization=_moved(inside.quantization, SHIFT),
                    is_shifted=False,
                )
            )
        return edges[index]

    def flip(source: int, target: int) -> Operator:
        number = len(graph.operators) + len(added)
        added.append(Operator(number, FLIP, (source,), (target,), Options()))
        return added[-1]

    first = [flip(edge_of(i), i) for i in graph.inputs if tensors[i].is_shifted]
    inputs = tuple(edges.get(index, index) for index in graph.inputs)
    producers = {index: o for o in graph.operators for index in o.outputs}
    last = []
    operators = list(graph.operators)
    readers = {index for operator in graph.operators for index in operator.inputs}
    for index in dict.fromkeys(graph.outputs):
        if not tensors[index].is_shifted or index in graph.inputs:
            continue
        producer = producers[index]
        target = edge_of(index)
        if producer.name == _FREE_AT_THE_EDGE and index not in readers:
            operators[producer.index] = dataclasses.replace(producer, outputs=(target,))
        else:
            last.append(flip(index, target))
    outputs = tuple(edges.get(index, index) for index in graph.outputs)
    result = dataclasses.replace(
        graph,
        tensors=tuple(tensors),
        operators=(*operators, *added),
        inputs=inputs,
        outputs=outputs,
    )
    return result, (*first, *operators, *last)

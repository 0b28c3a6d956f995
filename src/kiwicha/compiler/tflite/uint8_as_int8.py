"""uint8 models as int8 models: all values and zero points less by 128.

Inside, everything is int8; `Tensor.is_shifted` remembers which tensors were not, because LiteRT's
arithmetic for them differs in places. At the model's edges and at its custom operators the bytes
stay those of the model: an exchange of their top bits stands between them and what is inside, or a
QUANTIZE of the model's own, which a table does from any bytes to any others.
"""

import dataclasses

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.tflite.graph import Graph, Operator, Options
from kiwicha.compiler.tflite.tensor import Quantization, Tensor, TensorType
from kiwicha.custom import MODEL_PREFIX

__all__ = ["FLIP", "FLIP_TABLE", "SHIFT", "shifted", "with_flipped_edges"]

SHIFT = 128
FLIP = "QUANTIZE"
"""Name in reports of what exchanges the top bits: TFLite would call it so."""
_TOP_BIT = 0x80
FLIP_TABLE: NDArray[np.int64] = np.arange(256) - SHIFT
"""The int8 of every byte with its top bit exchanged."""
_RESCALING = "QUANTIZE"
"""Operator that can read and write uint8 by itself, unless it reads numbers of float32."""
_WRITES_BOTH = frozenset({"LOG_SOFTMAX", "SOFTMAX"})
"""Operators that can write uint8 by themselves."""


def shifted(graph: Graph) -> Graph:
    """Return a model whose uint8 tensors are int8."""
    return dataclasses.replace(
        graph,
        tensors=tuple(_shifted(t) for t in graph.tensors),
        others=tuple(shifted(other) for other in graph.others),
    )


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
    """Return a model with uint8 again at its edges and custom operators; its operators in order.

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
                    data=None if inside.data is None else inside.data ^ np.uint8(_TOP_BIT),
                    is_shifted=False,
                )
            )
        return edges[index]

    def flip(source: int, target: int) -> Operator:
        number = len(graph.operators) + len(added)
        added.append(Operator(number, FLIP, (source,), (target,), Options()))
        return added[-1]

    operators = list(graph.operators)
    # Readers of a tensor as it is inside: all but the model's edges and their readers.
    readers = {
        i
        for operator in operators
        if not _is_custom(operator) and not _reads_edge(operator, graph)
        for i in operator.inputs
    }
    order = [flip(edge_of(i), i) for i in graph.inputs if tensors[i].is_shifted and i in readers]
    inputs = tuple(edge_of(i) if tensors[i].is_shifted else i for i in graph.inputs)
    written = set(inputs)
    for operator in graph.operators:
        if not _is_custom(operator):
            sources, targets = operator.inputs, operator.outputs
            if _reads_edge(operator, graph):
                sources = (edge_of(operator.inputs[0]),)
            if _writes_edge(operator, graph, readers):
                targets = (edge_of(operator.outputs[0]),)
                written.update(targets)
            operators[operator.index] = dataclasses.replace(
                operator, inputs=sources, outputs=targets
            )
            order.append(operators[operator.index])
            continue
        for index in dict.fromkeys(operator.inputs):
            if tensors[index].is_shifted and edge_of(index) not in written:
                written.add(edge_of(index))
                order += [] if tensors[index].is_constant else [flip(index, edge_of(index))]
        operators[operator.index] = dataclasses.replace(
            operator,
            inputs=tuple(edge_of(i) if tensors[i].is_shifted else i for i in operator.inputs),
            outputs=tuple(edge_of(i) if tensors[i].is_shifted else i for i in operator.outputs),
        )
        order.append(operators[operator.index])
        for index in operator.outputs:
            if tensors[index].is_shifted:
                written.add(edge_of(index))
                order += [flip(edge_of(index), index)] if index in readers else []
    for index in dict.fromkeys(graph.outputs):
        if tensors[index].is_shifted and edge_of(index) not in written:
            order.append(flip(index, edge_of(index)))
    outputs = tuple(edges.get(index, index) for index in graph.outputs)
    result = dataclasses.replace(
        graph,
        tensors=tuple(tensors),
        operators=(*operators, *added),
        inputs=inputs,
        outputs=outputs,
    )
    return result, tuple(order)


def _is_custom(operator: Operator) -> bool:
    return operator.name.startswith(MODEL_PREFIX)


def _reads_edge(operator: Operator, graph: Graph) -> bool:
    """Whether an operator reads uint8 from the model's edge by itself."""
    is_input = operator.name == _RESCALING and operator.inputs[0] in graph.inputs
    return is_input and graph.input(operator).is_shifted


def _writes_edge(operator: Operator, graph: Graph, readers: set[int]) -> bool:
    """Whether an operator's uint8 output is needed at the edge only, and it can write that."""
    is_able = operator.name in _WRITES_BOTH or (
        operator.name == _RESCALING and graph.input(operator).type is TensorType.INT8
    )
    if not is_able:
        return False
    (output, *_) = operator.outputs
    is_only_there = output in graph.outputs and output not in readers
    return is_only_there and graph.tensors[output].is_shifted

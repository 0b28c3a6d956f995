"""int4 weights as int8: two of a byte become a byte each.

Inside, everything is int8; values of 4 bits stay what they are, so no arithmetic differs. Where
weights are coded, their code makes them short again.
"""

import dataclasses
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.tflite.graph import Graph
from kiwicha.compiler.tflite.operators import OPERATORS
from kiwicha.compiler.tflite.tensor import Tensor, TensorType

__all__ = ["widened"]

_BITS = 4
_SIGN = 1 << _BITS - 1
_WEIGHTS = 1
"""Position among the inputs of an operator."""


def widened(graph: Graph, spend: Callable[[int], None]) -> Graph:
    """Return a model whose int4 weights are int8, where all their readers have kernels for them.

    Parameters
    ----------
    graph : Graph
        The model as it is stored.
    spend : callable
        Gets the bytes of new constants, before they are made; may raise. Tensors that are stored
        in one place share them.
    """
    weights = {
        tensor.index
        for tensor in graph.tensors
        if tensor.type is TensorType.INT4 and tensor.is_constant and not tensor.is_sparse
    }
    for operator in graph.operators:
        is_able = operator.name in OPERATORS and OPERATORS[operator.name].has_int4_weights
        for position, index in enumerate(operator.inputs):
            if not is_able or position != _WEIGHTS:
                weights.discard(index)
    weights -= set(graph.outputs)
    made: dict[tuple[int, int], NDArray[np.uint8]] = {}

    def bytes_of(tensor: Tensor) -> NDArray[np.uint8]:
        assert tensor.data is not None
        place = tensor.data.ctypes.data, tensor.elements
        if place not in made:
            spend(tensor.elements)
            made[place] = _unpacked(tensor.data, tensor.elements)
        return made[place]

    tensors = tuple(
        dataclasses.replace(tensor, type=TensorType.INT8, data=bytes_of(tensor))
        if tensor.index in weights
        else tensor
        for tensor in graph.tensors
    )
    return dataclasses.replace(graph, tensors=tensors)


def _unpacked(data: NDArray[np.uint8], elements: int) -> NDArray[np.uint8]:
    """Return the bytes of int8 values; the first one of a byte has its low bits."""
    nibbles = np.stack([data & ((1 << _BITS) - 1), data >> _BITS], axis=1).reshape(-1)
    signed = (nibbles[:elements] ^ np.uint8(_SIGN)).view(np.int8) - np.int8(_SIGN)
    return signed.view(np.uint8)

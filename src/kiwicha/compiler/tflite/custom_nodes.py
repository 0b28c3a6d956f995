"""Custom operators of a graph as their definitions see them."""

from typing import Any

import numpy as np

from kiwicha.compiler.tflite.graph import Graph, Operator
from kiwicha.compiler.tflite.tensor import Tensor, TensorType
from kiwicha.custom import CustomNode, CustomTensor

__all__ = ["DTYPES", "custom_node"]

DTYPES: dict[TensorType, "np.dtype[Any]"] = {
    TensorType.INT8: np.dtype(np.int8),
    TensorType.UINT8: np.dtype(np.uint8),
    TensorType.INT32: np.dtype(np.int32),
}
"""Types that their tensors can have."""


def custom_node(graph: Graph, operator: Operator) -> CustomNode:
    """Return an operator with what its definition may know of it."""
    return CustomNode(
        tuple(_described(graph.tensors[index]) for index in operator.inputs),
        _described(graph.output(operator)),
        operator.options.custom,
    )


def _described(tensor: Tensor) -> CustomTensor:
    """Return a tensor as it is in the model; `tflite.uint8_as_int8` keeps its bytes so."""
    dtype = np.dtype(np.uint8) if tensor.is_shifted else DTYPES[tensor.type]
    parameters = tensor.quantization
    value = None
    if tensor.data is not None:
        # The top bit of a byte is what 128 less changes.
        value = (tensor.data ^ np.uint8(tensor.shift)).view(dtype).reshape(tensor.shape)
    return CustomTensor(
        tensor.shape,
        dtype,
        0.0 if parameters is None else parameters.scale,
        0 if parameters is None else parameters.zero_point + tensor.shift,
        value,
    )

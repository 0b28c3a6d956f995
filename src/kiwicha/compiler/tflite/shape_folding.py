"""Arithmetic on shapes, which converters leave in models whose batch they do not know.

Keras' Flatten without a fixed batch becomes SHAPE, STRIDED_SLICE and PACK before a RESHAPE. As the
file gives every tensor a shape, all of that is done when the model is compiled, and so is whatever
else depends on integers or booleans that are constants.
"""

import dataclasses

import numpy as np

from kiwicha.compiler.tflite.element_types import DTYPES
from kiwicha.compiler.tflite.folded_operations import FOLDED, Values, folded
from kiwicha.compiler.tflite.graph import NO_TENSOR, Graph, Operator
from kiwicha.compiler.tflite.operators import OPERATORS
from kiwicha.compiler.tflite.tensor import Tensor, TensorType
from kiwicha.kernels.element_types import numpy_type

__all__ = ["FOLDED_ONLY", "FOLDED_SHAPES", "fold_shapes", "with_folded"]

_TYPES = frozenset({TensorType.INT32, TensorType.INT64, TensorType.BOOL})
_OF_SHAPES = ("RANK", "SHAPE", "ZEROS_LIKE")
"""Operators that read nothing of a tensor but its shape."""
FOLDED_ONLY = frozenset({*_OF_SHAPES, *FOLDED} - {*OPERATORS})
"""Operators that are supported only where they can be computed when the model is compiled."""


def fold_shapes(graph: Graph) -> Graph:
    """Return a graph in which numbers that follow from shapes and constants are constants.

    Operators keep their places; those that are done (`Graph.is_done`) read nothing any more.

    Parameters
    ----------
    graph : Graph
        From `kiwicha.compiler.tflite.reader.read`.
    """
    for operator in graph.operators:
        done = with_folded(graph, operator)
        if done is None:
            continue
        tensors, operators = list(graph.tensors), list(graph.operators)
        tensors[done.index] = done
        operators[operator.index] = dataclasses.replace(operator, inputs=())
        graph = dataclasses.replace(graph, tensors=tuple(tensors), operators=tuple(operators))
    graph.verify(is_folded=True)
    return graph


def with_folded(graph: Graph, operator: Operator) -> Tensor | None:
    """Return an operator's output as the constant that it is, and None if that cannot be told."""
    values = _values(graph, operator)
    if values is None:
        return None
    output = graph.output(operator)
    stored = values.astype(_numpy_type(output).newbyteorder("<"))
    return dataclasses.replace(output, data=np.frombuffer(stored.tobytes(), np.uint8))


def _values(graph: Graph, operator: Operator) -> Values | None:
    """Return an operator's output if it can be told, and None if not."""
    if not _is_about_integers(graph, operator):
        return None
    try:
        if operator.name in _OF_SHAPES:
            found = _of_shape(graph, operator)
        else:
            found = folded(graph, operator, [_array(graph.tensors[i]) for i in operator.inputs])
    except (IndexError, TypeError, ValueError):
        # Its operands contradict each other; the rules say how.
        return None
    return found if found is not None and found.shape == graph.output(operator).shape else None


def _is_about_integers(graph: Graph, operator: Operator) -> bool:
    """Whether an operator gives integers, from constants or the shape of a tensor."""
    is_of_shape = operator.name in _OF_SHAPES
    if not (is_of_shape or operator.name in FOLDED) or len(operator.outputs) != 1:
        return False
    output = graph.output(operator)
    # An output of the model stays what it is, and is refused.
    if output.type not in _TYPES or output.index in graph.outputs:
        return False
    if NO_TENSOR in operator.inputs or not operator.inputs:
        return False
    sources = [graph.tensors[index] for index in operator.inputs]
    return is_of_shape or all(
        t.is_constant and not t.is_sparse and t.type in _TYPES for t in sources
    )


def _of_shape(graph: Graph, operator: Operator) -> Values | None:
    if len(operator.inputs) != 1:
        return None
    source = graph.input(operator)
    if operator.name == "RANK":
        return np.array(len(source.shape), np.int64)
    if -1 in source.shape_signature[1:] or min(source.shape, default=1) < 1:
        return None
    shape = np.array(source.shape, np.int64)
    return shape if operator.name == "SHAPE" else np.zeros(shape, np.int64)


def _array(tensor: Tensor) -> Values:
    assert tensor.data is not None
    kind = _numpy_type(tensor)
    values: Values = tensor.data.view(kind.newbyteorder("<")).astype(kind).reshape(tensor.shape)
    return values


def _numpy_type(tensor: Tensor) -> np.dtype[np.generic]:
    return numpy_type(DTYPES[tensor.type])


_NAMES = sorted(FOLDED)
FOLDED_SHAPES = (
    f"{', '.join(_OF_SHAPES[:-1])} and {_OF_SHAPES[-1]}, and what {', '.join(_NAMES[:-1])} and "
    f"{_NAMES[-1]} compute from constants of int32, int64 or bool, is computed when the model is "
    "compiled, for the batch size in the file."
)
"""Text of `docs/supported.md`."""

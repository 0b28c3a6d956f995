"""Arithmetic on shapes, which converters leave in models whose batch they do not know.

Keras' Flatten without a fixed batch becomes SHAPE, STRIDED_SLICE and PACK before a RESHAPE. As the
file gives every tensor a shape, all of that is done when the model is compiled.
"""

import dataclasses
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.tflite.graph import NO_TENSOR, Activation, Graph, Operator
from kiwicha.compiler.tflite.slices import from_end, strided_ranges
from kiwicha.compiler.tflite.tensor import Tensor, TensorType

__all__ = ["FOLDED_SHAPES", "fold_shapes"]

_TYPES = {TensorType.INT32: "<i4", TensorType.INT64: "<i8"}
_SHAPE = "SHAPE"
_Values = NDArray[np.signedinteger]


def fold_shapes(graph: Graph) -> Graph:
    """Return a graph in which numbers that follow from shapes and constants are constants.

    Operators keep their places; those that are done (`Graph.is_done`) read nothing any more.

    Parameters
    ----------
    graph : Graph
        From `kiwicha.compiler.tflite.reader.read`.
    """
    for operator in graph.operators:
        values = _values(graph, operator)
        if values is None:
            continue
        output = graph.output(operator)
        data = np.frombuffer(values.astype(_TYPES[output.type]).tobytes(), np.uint8)
        tensors, operators = list(graph.tensors), list(graph.operators)
        tensors[output.index] = dataclasses.replace(output, data=data)
        operators[operator.index] = dataclasses.replace(operator, inputs=())
        graph = dataclasses.replace(graph, tensors=tuple(tensors), operators=tuple(operators))
    graph.verify(is_folded=True)
    return graph


def _values(graph: Graph, operator: Operator) -> _Values | None:
    """Return an operator's output if it can be told, and None if not."""
    if not _is_about_integers(graph, operator):
        return None
    try:
        if operator.name == _SHAPE:
            found = _shape(graph, operator)
        else:
            values = [_array(graph.tensors[index]) for index in operator.inputs]
            found = _OPERATIONS[operator.name](graph, operator, values)
    except (IndexError, ValueError):
        # Its operands contradict each other; the rules say how.
        return None
    return found if found is not None and found.shape == graph.output(operator).shape else None


def _is_about_integers(graph: Graph, operator: Operator) -> bool:
    """Whether an operator gives integers, from constants or the shape of a tensor."""
    if operator.name not in (_SHAPE, *_OPERATIONS) or len(operator.outputs) != 1:
        return False
    output = graph.output(operator)
    # An output of the model stays what it is, and is refused.
    if output.type not in _TYPES or output.index in graph.outputs:
        return False
    if NO_TENSOR in operator.inputs or operator.options.activation is not Activation.NONE:
        return False
    sources = [graph.tensors[index] for index in operator.inputs]
    return operator.name == _SHAPE or (
        bool(sources) and all(t.is_constant and t.type in _TYPES for t in sources)
    )


def _shape(graph: Graph, operator: Operator) -> _Values | None:
    if len(operator.inputs) != 1:
        return None
    source = graph.input(operator)
    is_fixed = -1 not in source.shape_signature[1:] and min(source.shape, default=1) >= 1
    return np.array(source.shape, np.int64) if is_fixed else None


def _array(tensor: Tensor) -> _Values:
    assert tensor.data is not None
    values: _Values = tensor.data.view(_TYPES[tensor.type]).reshape(tensor.shape)
    return values


def _strided_slice(graph: Graph, operator: Operator, values: list[_Values]) -> _Values | None:
    if len(values) != 4 or operator.options.is_offset or len({v.size for v in values[1:]}) > 1:
        return None
    ranges = strided_ranges(graph, operator)
    if ranges is None:
        return None
    taken, axis = values[0], 0
    for item in ranges:
        if item is None:
            taken = np.expand_dims(taken, axis)
            axis += 1
            continue
        positions = [item.first + k * item.step for k in range(item.count)]
        if not positions or min(positions) < 0:
            return None
        taken = taken.take(positions, axis)
        taken, axis = (taken.squeeze(axis), axis) if item.is_dropped else (taken, axis + 1)
    return taken


def _pack(graph: Graph, operator: Operator, values: list[_Values]) -> _Values:
    return np.stack(values, from_end(operator.options.axis, len(graph.output(operator).shape)))


def _concatenation(graph: Graph, operator: Operator, values: list[_Values]) -> _Values:
    return np.concatenate(values, from_end(operator.options.axis, values[0].ndim))


def _pair(operation: np.ufunc) -> Callable[[Graph, Operator, list[_Values]], _Values | None]:
    def computed(graph: Graph, operator: Operator, values: list[_Values]) -> _Values | None:
        # Arrays of one type wrap around, as TFLite's numbers do.
        return operation(*values) if len(values) == 2 else None

    return computed


_OPERATIONS: dict[str, Callable[[Graph, Operator, list[_Values]], _Values | None]] = {
    "STRIDED_SLICE": _strided_slice,
    "PACK": _pack,
    "CONCATENATION": _concatenation,
    "ADD": _pair(np.add),
    "SUB": _pair(np.subtract),
    "MUL": _pair(np.multiply),
}
_FIRST, _LAST = ", ".join(sorted(_OPERATIONS)[:-1]), max(_OPERATIONS)

FOLDED_SHAPES = (
    f"{_SHAPE}, and what {_FIRST} and {_LAST} compute from int32 or int64 constants, is computed "
    "when the model is compiled, for the batch size in the file."
)
"""Text of `docs/supported.md`."""

"""What operators make of constants that are integers or booleans, when the model is compiled."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.tflite.element_types import DTYPES
from kiwicha.compiler.tflite.graph import Activation, Graph, Operator
from kiwicha.compiler.tflite.slices import from_end, slice_ranges, strided_ranges
from kiwicha.contract.integers import IntegerOperation
from kiwicha.kernels.element_types import numpy_type
from kiwicha.numerics import integers

__all__ = ["FOLDED", "Values", "folded"]

Values = NDArray[Any]
_Fold = Callable[[Graph, Operator, Sequence[Values]], Values | None]
_SWAPPED = {
    "GREATER": IntegerOperation.LESS,
    "GREATER_EQUAL": IntegerOperation.LESS_EQUAL,
}


def folded(graph: Graph, operator: Operator, values: Sequence[Values]) -> Values | None:
    """Return what an operator of `FOLDED` gives for constants, None if that cannot be told.

    Raises
    ------
    IndexError, ValueError
        If its operands contradict each other.
    """
    if operator.options.activation is not Activation.NONE:
        return None
    return FOLDED[operator.name](graph, operator, values)


def _strided_slice(graph: Graph, operator: Operator, values: Sequence[Values]) -> Values | None:
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


def _slice(graph: Graph, operator: Operator, values: Sequence[Values]) -> Values | None:
    taken = values[0]
    for axis, item in enumerate(slice_ranges(graph, operator)):
        if item.first < 0 or item.count < 1:
            return None
        taken = taken.take(range(item.first, item.first + item.count), axis)
    return taken


def _pack(graph: Graph, operator: Operator, values: Sequence[Values]) -> Values:
    return np.stack(values, from_end(operator.options.axis, len(graph.output(operator).shape)))


def _concatenation(graph: Graph, operator: Operator, values: Sequence[Values]) -> Values:
    return np.concatenate(values, from_end(operator.options.axis, values[0].ndim))


def _pair(operation: IntegerOperation, *, is_swapped: bool = False) -> _Fold:
    def computed(graph: Graph, operator: Operator, values: Sequence[Values]) -> Values | None:
        first, second = (item.astype(np.int64) for item in values[:: -1 if is_swapped else 1])
        if operation.divides and not second.all():
            return None
        return integers.OPERATIONS[operation](first, second)

    return computed


def _of_one(function: Callable[[Values], Values]) -> _Fold:
    return lambda graph, operator, values: function(values[0])


def _like_output(graph: Graph, operator: Operator, values: Sequence[Values]) -> Values:
    return values[0].reshape(graph.output(operator).shape)


def _cast(graph: Graph, operator: Operator, values: Sequence[Values]) -> Values:
    return integers.cast(values[0], numpy_type(DTYPES[graph.output(operator).type]))


def _gather(graph: Graph, operator: Operator, values: Sequence[Values]) -> Values | None:
    source, indices = values
    if operator.options.batch_dims or indices.min(initial=0) < 0:
        return None
    return source.take(indices, from_end(operator.options.axis, source.ndim))


def _range(graph: Graph, operator: Operator, values: Sequence[Values]) -> Values:
    return np.arange(*(int(value.reshape(())) for value in values))


def _broadcast_shape(graph: Graph, operator: Operator, values: Sequence[Values]) -> Values:
    return np.array(np.broadcast_shapes(*(tuple(value) for value in values)), np.int64)


def _reduction(function: Callable[..., Values]) -> _Fold:
    def computed(graph: Graph, operator: Operator, values: Sequence[Values]) -> Values:
        source, axes = values
        # Whether dimensions are kept is what the output's shape says.
        reduced = function(source.astype(np.int64), axis=tuple(axes.reshape(-1).tolist()))
        return np.asarray(reduced).reshape(graph.output(operator).shape)

    return computed


_OF_NAME = {item.name: item for item in IntegerOperation}
FOLDED: dict[str, _Fold] = {
    **{name: _pair(item) for name, item in _OF_NAME.items()},
    **{name: _pair(item, is_swapped=True) for name, item in _SWAPPED.items()},
    "BROADCAST_ARGS": _broadcast_shape,
    "BROADCAST_TO": lambda graph, operator, values: np.broadcast_to(values[0], values[1]),
    "CAST": _cast,
    "CONCATENATION": _concatenation,
    "EXPAND_DIMS": _like_output,
    "FILL": lambda graph, operator, values: np.full(values[0], values[1].reshape(())),
    "GATHER": _gather,
    "LOGICAL_AND": _pair(IntegerOperation.MINIMUM),
    "LOGICAL_NOT": _of_one(np.logical_not),
    "LOGICAL_OR": _pair(IntegerOperation.MAXIMUM),
    "NEG": _of_one(np.negative),
    "PACK": _pack,
    "RANGE": _range,
    "REDUCE_ALL": _reduction(np.min),
    "REDUCE_ANY": _reduction(np.max),
    "REDUCE_MAX": _reduction(np.max),
    "REDUCE_MIN": _reduction(np.min),
    "REDUCE_PROD": _reduction(np.prod),
    "RESHAPE": _like_output,
    "SELECT_V2": lambda graph, operator, values: integers.selected(*values),
    "SLICE": _slice,
    "SQUEEZE": _like_output,
    "STRIDED_SLICE": _strided_slice,
    "SUM": _reduction(np.sum),
}
"""By operator, a function of the model, the operator and its operands."""

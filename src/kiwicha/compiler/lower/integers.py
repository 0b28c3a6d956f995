"""Lowering of operators on integers and booleans, element by element."""

from collections.abc import Mapping

import numpy as np

from kiwicha.compiler.lower.network import Layer, Values
from kiwicha.compiler.lower.tables import ALL_BYTES
from kiwicha.compiler.quantization.scales import comparison_scale
from kiwicha.compiler.tflite.element_types import DTYPES
from kiwicha.compiler.tflite.graph import Graph, Operator
from kiwicha.compiler.tflite.shapes import broadcast_strides, leading_ones
from kiwicha.compiler.tflite.tensor import Tensor, TensorType, quantization
from kiwicha.contract.integers import IntegerOperation
from kiwicha.contract.layout import Ref
from kiwicha.contract.program import Kernel
from kiwicha.kernels.element_types import numpy_type
from kiwicha.kernels.integers import Integers, Select
from kiwicha.numerics.requantization import multiply_by_quantized_multiplier

__all__ = ["COMPARISON_LEFT_SHIFT", "lower_integers", "lower_select"]

COMPARISON_LEFT_SHIFT = 8
"""Headroom bits of scaled bytes that are compared."""
_OPERATIONS = {
    **{item.name: item for item in IntegerOperation},
    "LOGICAL_AND": IntegerOperation.MINIMUM,
    "LOGICAL_OR": IntegerOperation.MAXIMUM,
    # Of an element and 0.
    "LOGICAL_NOT": IntegerOperation.EQUAL,
    "NEG": IntegerOperation.SUB,
    "GREATER": IntegerOperation.LESS,
    "GREATER_EQUAL": IntegerOperation.LESS_EQUAL,
}
_FROM_ZERO = frozenset({"NEG", "LOGICAL_NOT"})
"""Operators with one input, the second of what they become; the first is 0."""
_SWAPPED = frozenset({"GREATER", "GREATER_EQUAL"})


def lower_integers(graph: Graph, operator: Operator) -> Layer:
    """Return the layer of an operator on integers or booleans."""
    operation, output = _OPERATIONS[operator.name], graph.output(operator)
    tensors = {"output": output.index}
    constants: dict[str, Values] = {}
    sources: list[Tensor | None] = [graph.tensors[index] for index in operator.inputs]
    if operator.name in _FROM_ZERO:
        sources = [None, *sources]
    if operator.name in _SWAPPED:
        sources.reverse()
    dtype = DTYPES[graph.input(operator).type]
    strides = []
    for number, source in enumerate(sources, 1):
        if source is None:
            constants[f"input_{number}"] = np.zeros(1, numpy_type(dtype))
            strides.append((0,) * len(leading_ones(())))
        else:
            tensors[f"input_{number}"] = source.index
            strides.append(broadcast_strides(source.shape, output.shape))
    if graph.input(operator).type is TensorType.INT8:
        constants |= _tables([source for source in sources if source is not None])
    first, second = strides
    return Layer(
        operator.index,
        operator.name,
        kernel=Kernel.INTEGERS,
        params=Integers(
            *(Ref(), Ref(), Ref(), Ref(), Ref()),
            shape=leading_ones(output.shape),
            strides_1=first,
            strides_2=second,
            operation=operation,
            dtype=dtype,
        ),
        tensors=tensors,
        constants=constants,
    )


def _tables(sources: list[Tensor]) -> Mapping[str, Values]:
    """Return what is compared instead of the bytes of two tensors; nothing if bytes can be.

    Notes
    -----
    Ref: tensorflow/lite/kernels/internal/reference/comparisons.h, ComparisonWithScaling.
    """
    tables = []
    for source in sources:
        parameters = quantization(source)
        scale = comparison_scale(parameters)
        raised = (ALL_BYTES - parameters.zero_point) << COMPARISON_LEFT_SHIFT
        scaled = multiply_by_quantized_multiplier(raised, scale.multiplier, scale.shift)
        tables.append(scaled.astype(np.int32))
    first, second = tables
    is_one = (first == second).all() and len(np.unique(first)) == len(first)
    return {} if is_one else {"table_1": first, "table_2": second}


def lower_select(graph: Graph, operator: Operator) -> Layer:
    """Return the layer of a SELECT or SELECT_V2."""
    output = graph.output(operator)
    assert output.type.bits is not None
    condition, first, second = (graph.tensors[index] for index in operator.inputs)
    # SELECT has a condition for each part of the first dimension, SELECT_V2 broadcasts.
    shape = condition.shape
    if operator.name == "SELECT" and shape != first.shape and len(shape) == 1:
        shape = (*shape, *(1,) * (len(output.shape) - 1))
    return Layer(
        operator.index,
        operator.name,
        kernel=Kernel.SELECT,
        params=Select(
            *(Ref(), Ref(), Ref(), Ref()),
            shape=leading_ones(output.shape),
            strides=broadcast_strides(shape, output.shape),
            strides_1=broadcast_strides(first.shape, output.shape),
            strides_2=broadcast_strides(second.shape, output.shape),
            element_bytes=output.type.bits // 8,
        ),
        tensors={
            "condition": condition.index,
            "input_1": first.index,
            "input_2": second.index,
            "output": output.index,
        },
    )

"""Lowering of CAST, CUMSUM, and reductions of booleans."""

import math

import numpy as np

from kiwicha.compiler.lower.network import Layer
from kiwicha.compiler.lower.tables import ALL_BYTES, table_layer
from kiwicha.compiler.quantization.scales import Scale, cumulative_scale
from kiwicha.compiler.tflite.element_types import DTYPES, dtype_in_file
from kiwicha.compiler.tflite.graph import Graph, Operator
from kiwicha.compiler.tflite.shapes import leading_ones, reduced_axes
from kiwicha.compiler.tflite.tensor import TensorType, quantization
from kiwicha.contract.layout import Ref
from kiwicha.contract.program import Kernel
from kiwicha.kernels.cast import Cast
from kiwicha.kernels.element_types import numpy_type
from kiwicha.kernels.mean import Mean
from kiwicha.kernels.ordered import CumulativeSum
from kiwicha.numerics.integers import cast

__all__ = ["keeps_bits", "lower_booleans", "lower_cast", "lower_cumulative_sum"]


_WORDS = {TensorType.INT32, TensorType.UINT32}


def keeps_bits(graph: Graph, operator: Operator) -> bool:
    """Whether an operator is a CAST after which a tensor has the same bytes."""
    return (
        operator.name == "CAST"
        and {graph.input(operator).type, graph.output(operator).type} == _WORDS
    )


def lower_cast(graph: Graph, operator: Operator) -> Layer:
    """Return the layer of a CAST; from bytes to bytes it is a table."""
    source, output = graph.input(operator), graph.output(operator)
    before, after = dtype_in_file(source), dtype_in_file(output)
    if before.size_bytes == after.size_bytes == 1:
        values = (ALL_BYTES + source.shift).astype(numpy_type(before))
        entries = cast(values, numpy_type(after)).astype(np.int64)
        return table_layer(operator, entries - output.shift)
    return Layer(
        operator.index,
        operator.name,
        kernel=Kernel.CAST,
        params=Cast(Ref(), Ref(), count=source.elements, input_dtype=before, output_dtype=after),
        tensors={"input": source.index, "output": output.index},
    )


def lower_cumulative_sum(graph: Graph, operator: Operator) -> Layer:
    """Return the layer of a CUMSUM."""
    source, output = graph.input(operator), graph.output(operator)
    (axis,) = reduced_axes(graph, operator)
    scale, offsets = Scale(0, 0), (0, 0)
    if source.type is TensorType.INT8:
        parameters = quantization(source), quantization(output)
        scale = cumulative_scale(*parameters)
        offsets = -parameters[0].zero_point, parameters[1].zero_point
    return Layer(
        operator.index,
        operator.name,
        kernel=Kernel.CUMULATIVE_SUM,
        params=CumulativeSum(
            Ref(),
            Ref(),
            outer=math.prod(source.shape[:axis]),
            depth=source.shape[axis],
            inner=math.prod(source.shape[axis + 1 :]),
            dtype=DTYPES[source.type],
            is_exclusive=int(operator.options.is_exclusive),
            is_reverse=int(operator.options.is_reverse),
            input_offset=offsets[0],
            output_offset=offsets[1],
            multiplier=scale.multiplier,
            shift=scale.shift,
        ),
        tensors={"input": source.index, "output": output.index},
    )


def lower_booleans(graph: Graph, operator: Operator) -> Layer:
    """Return the layer of a REDUCE_ALL or REDUCE_ANY: the smallest or largest byte, 0 or 1."""
    source, axes = graph.input(operator), reduced_axes(graph, operator)
    flags = leading_ones([int(axis in axes) for axis in range(len(source.shape))], fill=0)
    if math.prod(source.shape[axis] for axis in axes) == 1:
        return table_layer(operator, ALL_BYTES)
    return Layer(
        operator.index,
        operator.name,
        kernel=Kernel.REDUCE_MIN if operator.name == "REDUCE_ALL" else Kernel.REDUCE_MAX,
        params=Mean(
            Ref(), Ref(), leading_ones(source.shape), (*flags, 0, 0), 0, 0, multiplier=0, shift=0
        ),
        tensors={"input": source.index, "output": operator.outputs[0]},
    )

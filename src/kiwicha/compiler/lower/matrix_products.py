"""Products of matrices: BATCH_MATMUL, and FULLY_CONNECTED whose weights are computed.

Kernels multiply rows by rows. So what the file adjoins otherwise is transposed: a constant here, a
tensor by a TRANSPOSE of its own. With a constant matrix for all batches a product is a
FULLY_CONNECTED.
"""

import dataclasses
import math
from collections.abc import Sequence

from kiwicha.compiler.lower.added_parts import AddedParts
from kiwicha.compiler.lower.convolutions import lower_fully_connected
from kiwicha.compiler.lower.network import Layer, Values
from kiwicha.compiler.lower.shorts import fused_range
from kiwicha.compiler.quantization.scales import channel_scales
from kiwicha.compiler.tflite.graph import Graph, Operator, Options
from kiwicha.compiler.tflite.shapes import broadcast_strides, leading_ones
from kiwicha.compiler.tflite.tensor import Tensor, quantization
from kiwicha.contract.layout import Ref
from kiwicha.contract.program import Kernel
from kiwicha.kernels.matrix_product import BATCH_DIMENSIONS, MatrixProduct

__all__ = ["PRODUCT", "lower_matrix_product", "with_rows_by_rows"]

PRODUCT = "BATCH_MATMUL"


def with_rows_by_rows(
    graph: Graph, order: Sequence[Operator]
) -> tuple[Graph, tuple[Operator, ...]]:
    """Return a model in which each BATCH_MATMUL multiplies rows by rows, and its operators.

    Parameters
    ----------
    graph : Graph
        A model that `kiwicha.compiler.check.check.check` accepts.
    order : sequence of Operator
        Its operators as they are executed.

    Returns
    -------
    graph : Graph
        New operators are behind those that were there.
    order : tuple of Operator
        All operators as they are executed.
    """
    if all(operator.name != PRODUCT for operator in graph.operators):
        return graph, tuple(order)
    parts = AddedParts(graph)
    executed: list[Operator] = []
    for operator in order:
        executed += _by_rows(parts, operator) if operator.name == PRODUCT else [operator]
    return parts.graph(), tuple(executed)


def _by_rows(parts: AddedParts, operator: Operator) -> list[Operator]:
    first, second = (parts.model.input(operator, position) for position in range(2))
    added: list[Operator] = []
    inputs = [first.index, second.index]
    if operator.options.is_first_adjoint:
        inputs[0] = _transposed(parts, first, added)
    if second.is_constant:
        inputs[1] = _constant(parts, second, is_by_rows=bool(operator.options.is_second_adjoint))
    elif not operator.options.is_second_adjoint:
        inputs[1] = _transposed(parts, second, added)
    changed = dataclasses.replace(operator, inputs=tuple(inputs), options=Options())
    parts.replace(changed)
    return [*added, changed]


def _transposed(parts: AddedParts, tensor: Tensor, added: list[Operator]) -> int:
    """Return a tensor whose last two dimensions are exchanged, and add what computes it."""
    if tensor.is_constant:
        return _constant(parts, tensor, is_by_rows=False)
    *batches, rows, columns = tensor.shape
    rank = len(tensor.shape)
    order = parts.integers([*range(rank - 2), rank - 1, rank - 2])
    shape, parameters = (*batches, columns, rows), quantization(tensor)
    target = parts.tensor(_named(tensor), shape, parameters.scale, parameters.zero_point)
    added.append(parts.operator("TRANSPOSE", [tensor.index, order], target, Options()))
    return target


def _constant(parts: AddedParts, tensor: Tensor, *, is_by_rows: bool) -> int:
    """Return a constant whose rows are multiplied; of one matrix it has no more dimensions."""
    values, parameters = tensor.int8s(), quantization(tensor)
    rows = values if is_by_rows else values.swapaxes(-1, -2)
    *batches, count, depth = rows.shape
    shape = (*(batches if math.prod(batches) > 1 else ()), count, depth)
    return parts.constant(
        _named(tensor), rows.reshape(shape), parameters.scale, parameters.zero_point
    )


def _named(tensor: Tensor) -> str:
    return f"{tensor.name} by rows"


def lower_matrix_product(graph: Graph, operator: Operator) -> Layer:
    """Return the layer of a FULLY_CONNECTED, or of a BATCH_MATMUL of rows by rows."""
    source, other, output = graph.input(operator), graph.input(operator, 1), graph.output(operator)
    columns, depth = other.shape[-2:]
    is_one = other.elements == columns * depth
    if other.is_constant and is_one:
        return lower_fully_connected(graph, operator)
    # Rows of all batches that meet one matrix are rows of one.
    shape = () if is_one else output.shape[:-2]
    rows = output.elements // (math.prod(shape) * columns)
    input_steps, other_steps = (
        broadcast_strides(() if is_one else tensor.shape[:-2], shape)[-BATCH_DIMENSIONS:]
        for tensor in (source, other)
    )
    multipliers, shifts = channel_scales(
        quantization(source), quantization(other), quantization(output), 1
    )
    low, high = fused_range(graph, operator)
    bias = graph.operand(operator, 2)
    constants: dict[str, Values] = {} if bias is None else {"bias": bias.int32s().reshape(-1)}
    return Layer(
        operator.index,
        operator.name,
        macs=output.elements * depth,
        kernel=Kernel.MATRIX_PRODUCT,
        params=MatrixProduct(
            *(Ref(), Ref(), Ref(), Ref(), Ref()),
            batches=leading_ones(shape)[-BATCH_DIMENSIONS:],
            input_steps=input_steps,
            other_steps=other_steps,
            rows=rows,
            columns=columns,
            depth=depth,
            tile_rows=4,
            input_offset=-quantization(source).zero_point,
            other_offset=-quantization(other).zero_point,
            output_offset=quantization(output).zero_point,
            multiplier=int(multipliers[0]),
            shift=int(shifts[0]),
            activation_min=low,
            activation_max=high,
        ),
        tensors={"input": source.index, "other": other.index, "output": output.index},
        constants=constants,
    )

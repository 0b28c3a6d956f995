"""Concat: what has other scales is rounded to those of the result first."""

from collections.abc import Sequence

import numpy as np

from kiwicha.compiler.onnx.arithmetic import common_order
from kiwicha.compiler.onnx.layout import arranged, settled
from kiwicha.compiler.onnx.model import Node
from kiwicha.compiler.onnx.operands import axes_of, shape_of
from kiwicha.compiler.onnx.operators import Operands, onnx_operator
from kiwicha.compiler.onnx.values import (
    Activation,
    Constant,
    Pending,
    Quantized,
    Refusal,
    Scale,
    Value,
)
from kiwicha.compiler.onnx.writer import Writer, quantization_of
from kiwicha.compiler.tflite.tensor import TensorType

__all__: list[str] = []


@onnx_operator("Concat")
def concat(writer: Writer, node: Node, inputs: Operands) -> Value:
    """Concat joins quantized tensors and constants of any scales."""
    values = [value for value in inputs if value is not None]
    shapes = [shape_of(value) for value in values]
    (axis,) = axes_of([int(node.get("axis", 0))], len(shapes[0]), "axis")
    rests = {(*shape[:axis], *shape[axis + 1 :]) for shape in shapes}
    if len(rests) != 1:
        texts = ", ".join(str(list(shape)) for shape in shapes)
        raise Refusal(f"inputs must differ in dimension {axis} only, not be {texts}")
    total = sum(shape[axis] for shape in shapes)
    shape = (*shapes[0][:axis], total, *shapes[0][axis + 1 :])
    name = node.outputs[0]
    same = _same_scale(writer, values)
    if same is not None:
        joined = _joined(writer, name, values, axis, same)
        first = values[0]
        if isinstance(first, Quantized):
            return Quantized(joined, first.scale)
        return joined
    if any(isinstance(value, Quantized) for value in values):
        raise Refusal("inputs must be all float32, or all bytes of one scale")
    return Pending(name, shape, lambda scale: _joined(writer, name, values, axis, scale))


def _same_scale(writer: Writer, values: Sequence[Value]) -> Scale | None:
    """Return the scale that all values have already, None if there is none."""
    found = []
    for value in values:
        inside = value.inside if isinstance(value, Quantized) else value
        if not isinstance(inside, Activation) or not writer.is_plain(inside):
            return None
        found.append(writer.scale_of(inside))
    kinds = {isinstance(value, Quantized) for value in values}
    is_one = len(kinds) == 1 and all(scale.is_same(found[0]) for scale in found)
    return found[0] if is_one else None


def _joined(
    writer: Writer, name: str, values: Sequence[Value], axis: int, scale: Scale
) -> Activation:
    """Return values one behind the other, all of one scale."""
    parts: list[Activation | Constant] = []
    for value in values:
        inside = value.inside if isinstance(value, Quantized) else value
        if isinstance(inside, Pending):
            parts.append(settled(writer, inside.at(scale)))
        elif isinstance(inside, Activation):
            rounded = writer.quantized(inside, scale, writer.name_of(inside))
            parts.append(settled(writer, rounded))
        else:
            assert isinstance(inside, Constant)
            parts.append(inside)
    activations = [part for part in parts if isinstance(part, Activation)]
    if not activations:
        raise Refusal("an input must be computed")
    order = common_order(activations)
    tensors = []
    for part in parts:
        if isinstance(part, Activation):
            tensors.append(arranged(writer, part, order).tensor)
            continue
        data = scale.codes(part.values).astype(np.int8).transpose(order)
        tensors.append(writer.tensor("", data.shape, TensorType.INT8, quantization_of(scale), data))
    shape = list(activations[0].shape)
    shape[axis] = sum(shape_of(value)[axis] for value in values)
    output = writer.bytes(name, [shape[k] for k in order], scale)
    writer.operator("CONCATENATION", tensors, (output,), axis=order.index(axis))
    return Activation(output, tuple(shape), order, scale.reals)

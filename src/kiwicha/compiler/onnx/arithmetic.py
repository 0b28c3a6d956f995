"""Arithmetic on two tensors."""

import math
from collections.abc import Sequence

import numpy as np

from kiwicha.compiler.onnx.functions import of_one_tensor
from kiwicha.compiler.onnx.layout import arranged, reshaped, settled
from kiwicha.compiler.onnx.model import Node
from kiwicha.compiler.onnx.operands import activation, bytes_of, shape_of
from kiwicha.compiler.onnx.operators import Operands, onnx_operator
from kiwicha.compiler.onnx.values import (
    Activation,
    Constant,
    Pending,
    Refusal,
    Scale,
    Value,
)
from kiwicha.compiler.onnx.writer import Writer, quantization_of
from kiwicha.compiler.tflite.tensor import TensorType

__all__ = ["common_order"]

_NAMES = {"Add": "ADD", "Mul": "MUL", "Sub": "SUB"}


@onnx_operator("Add", "Mul", "Sub")
def pair(writer: Writer, node: Node, inputs: Operands) -> Value:
    """Add, Mul and Sub work on quantized tensors that broadcast.

    Constants of more than one number are quantized, too. With a single number they are a table.
    """
    known = of_one_tensor(node, inputs)
    if known is not None:
        return known
    values = list(inputs)
    for number, value in enumerate(values, 1):
        if not isinstance(value, Constant):
            activation(writer, value, f"input {number}")
    shape = _broadcast([shape_of(value) for value in values if value is not None])
    constants = [
        bytes_of(value, f"input {number}") if isinstance(value, Constant) else None
        for number, value in enumerate(values, 1)
    ]

    def emit(scale: Scale) -> Activation:
        present = [
            _ranked(writer, value, len(shape)) for value in values if isinstance(value, Activation)
        ]
        order = common_order(present)
        tensors = []
        for value, known in zip(values, constants, strict=True):
            if known is None:
                assert isinstance(value, Activation)
                ranked = _ranked(writer, value, len(shape))
                tensors.append(arranged(writer, ranked, order).tensor)
            else:
                codes, of_codes = known
                ones = [1] * (len(shape) - codes.ndim)
                data = codes.reshape([*ones, *codes.shape]).transpose(order).astype(np.int8)
                quantization = quantization_of(of_codes)
                tensors.append(writer.tensor("", data.shape, TensorType.INT8, quantization, data))
        stored = [shape[axis] for axis in order]
        output = writer.bytes(node.outputs[0], stored, scale)
        writer.operator(_NAMES[node.kind], tensors, (output,))
        return Activation(output, shape, order, scale.reals)

    return Pending(node.outputs[0], shape, emit)


def _broadcast(shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    try:
        return tuple(int(size) for size in np.broadcast_shapes(*shapes))
    except ValueError:
        texts = " and ".join(str(list(shape)) for shape in shapes)
        raise Refusal(f"input shapes must broadcast, not {texts}") from None


def _ranked(writer: Writer, value: Activation, rank: int) -> Activation:
    return reshaped(
        writer, settled(writer, value), (*[1] * (rank - len(value.shape)), *value.shape)
    )


def common_order(present: Sequence[Activation]) -> tuple[int, ...]:
    """Return the order in which most elements of some activations of one rank are stored."""
    sizes: dict[tuple[int, ...], int] = {}
    for item in present:
        sizes[item.order] = sizes.get(item.order, 0) + math.prod(item.shape)
    return max(sizes, key=lambda order: sizes[order])


@onnx_operator("Div", "Pow", "Max", "Min")
def pair_as_table(writer: Writer, node: Node, inputs: Operands) -> Value:
    """Div, Pow, Max and Min work on a tensor and single numbers: they are a table."""
    known = of_one_tensor(node, inputs)
    if known is None:
        for number, value in enumerate(inputs, 1):
            if not isinstance(value, Constant):
                activation(writer, value, f"input {number}")
        raise Refusal("all inputs but one must be constants of a single number")
    return known

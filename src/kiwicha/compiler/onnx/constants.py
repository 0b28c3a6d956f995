"""What is known before anything runs: constants, shapes, and what is computed from them."""

import numpy as np

from kiwicha.compiler.onnx.model import Node, evaluate
from kiwicha.compiler.onnx.operands import operand, shape_of
from kiwicha.compiler.onnx.operators import Operands, onnx_operator
from kiwicha.compiler.onnx.values import Activation, Constant, Pending, Refusal, Value
from kiwicha.compiler.onnx.writer import Writer

__all__ = ["computed", "is_known"]

_OWN = frozenset({
    "QuantizeLinear",
    "DequantizeLinear",
    "com.microsoft:QuantizeLinear",
    "com.microsoft:DequantizeLinear",
})
"""Operators that do more with constants than compute."""
_KEEP_CODES = frozenset({"Flatten", "Identity", "Reshape", "Squeeze", "Transpose", "Unsqueeze"})
"""Operators that keep what a constant is quantized to."""
_FLOAT = 1
"""ONNX's number of float32."""


def is_known(node: Node, inputs: Operands) -> bool:
    """Return whether an operator only computes with constants."""
    present = [value for value in inputs if value is not None]
    if node.kind in _OWN or not all(isinstance(value, Constant) for value in present):
        return False
    is_quantized = any(isinstance(v, Constant) and v.codes is not None for v in present)
    return not (is_quantized and node.kind in _KEEP_CODES)


def computed(node: Node, inputs: Operands) -> list[Constant]:
    """Return what an operator gives for constants."""
    operands = [value.values if isinstance(value, Constant) else None for value in inputs]
    results = evaluate(node, operands)
    if results is None:
        raise Refusal("operator on constants must be one that the onnx package can evaluate")
    return [Constant(values) for values in results]


@onnx_operator("Constant", "ConstantOfShape", "Range")
def constants(writer: Writer, node: Node, inputs: Operands) -> list[Constant]:
    """Constant, ConstantOfShape, Range, and all operators on constants, are computed beforehand."""
    del writer
    return computed(node, inputs)


@onnx_operator("Shape", "Size")
def shape(writer: Writer, node: Node, inputs: Operands) -> Constant:
    """Shape and Size are constants, as all shapes are known."""
    del writer
    value = operand(inputs, 0)
    if value is None:
        raise Refusal("input must be there")
    sizes = shape_of(value)
    if node.kind == "Size":
        return Constant(np.array(np.prod(sizes, dtype=np.int64)))
    end = node.get("end", None)
    return Constant(np.array(sizes[int(node.get("start", 0)) : end], np.int64))


@onnx_operator("Cast")
def cast(writer: Writer, node: Node, inputs: Operands) -> Value:
    """Cast gives float32 from float32, or works on constants."""
    del writer
    value = operand(inputs, 0)
    if isinstance(value, Activation | Pending) and node.get("to", 0) == _FLOAT:
        return value
    raise Refusal("only constants can be cast to other types")

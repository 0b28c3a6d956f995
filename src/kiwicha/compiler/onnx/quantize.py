"""QuantizeLinear and DequantizeLinear: they become scales of tensors, or a table."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.onnx.model import Node
from kiwicha.compiler.onnx.operands import constant, operand
from kiwicha.compiler.onnx.operators import Operands, onnx_operator
from kiwicha.compiler.onnx.values import (
    Activation,
    Codes,
    Constant,
    Pending,
    Quantized,
    Refusal,
    Scale,
    Value,
)
from kiwicha.compiler.onnx.writer import Writer

__all__ = ["scale_of"]

_BYTES = (np.dtype(np.int8), np.dtype(np.uint8))
_INT32 = np.dtype(np.int32)
_SHIFT = 128


def _parameters(node: Node, inputs: Operands) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Return scales and zero points as they are in the file."""
    scales = constant(operand(inputs, 1), "scale").astype(np.float32)
    if not (np.isfinite(scales).all() and (scales > 0).all()):
        raise Refusal("scale must be finite and more than 0")
    if node.get("block_size", 0):
        raise Refusal("scales must be of a tensor or of a channel, not of blocks")
    zero_points = operand(inputs, 2)
    return scales, None if zero_points is None else constant(zero_points, "zero point")


def scale_of(node: Node, inputs: Operands) -> Scale:
    """Return the scale of an activation's QuantizeLinear or DequantizeLinear."""
    scales, zero_points = _parameters(node, inputs)
    kind = np.dtype(np.uint8) if zero_points is None else zero_points.dtype
    if kind not in _BYTES:
        raise Refusal(f"activations must be quantized to int8 or uint8, not {kind}")
    if scales.size != 1:
        raise Refusal(f"activations must have one scale, not {scales.size}")
    is_unsigned = kind == np.uint8
    zero_point = 0 if zero_points is None else int(zero_points.reshape(-1)[0])
    return Scale(float(scales.reshape(-1)[0]), zero_point - _SHIFT * is_unsigned, is_unsigned)


@onnx_operator("QuantizeLinear", "com.microsoft:QuantizeLinear")
def quantize(writer: Writer, node: Node, inputs: Operands) -> Value:
    """QuantizeLinear gives int8 or uint8; scale and zero point are constants, one of each."""
    value = operand(inputs, 0)
    if isinstance(value, Constant):
        return _quantized_constant(node, inputs, value)
    scale = scale_of(node, inputs)
    if isinstance(value, Pending):
        inside = value.at(scale)
    elif isinstance(value, Activation):
        inside = writer.quantized(value, scale, node.outputs[0])
    else:
        raise Refusal("input must be float32, not bytes")
    return Quantized(inside, scale)


def _quantized_constant(node: Node, inputs: Operands, value: Constant) -> Constant:
    scales, zero_points = _parameters(node, inputs)
    kind = np.dtype(np.uint8) if zero_points is None else zero_points.dtype
    if kind not in _BYTES:
        raise Refusal(f"constants must be quantized to int8 or uint8, not {kind}")
    axis = _axis(node, value.values.ndim)
    sizes = _sizes(scales, value.values.shape, axis)
    zeros = np.zeros(1) if zero_points is None else zero_points.astype(np.float64)
    limits = np.iinfo(kind)
    steps = np.rint(value.values.astype(np.float32) / scales.reshape(sizes))
    steps = steps.astype(np.float64) + zeros.reshape(sizes if zeros.size > 1 else [1] * len(sizes))
    return Constant(steps.clip(limits.min, limits.max).astype(kind))


def _axis(node: Node, rank: int) -> int:
    axis = int(node.get("axis", 1))
    return axis % rank if rank else 0


def _sizes(scales: NDArray[Any], shape: tuple[int, ...], axis: int) -> list[int]:
    """Return the shape in which scales belong to values."""
    sizes = [1] * len(shape)
    if scales.size > 1:
        if not shape or shape[axis] != scales.size:
            raise Refusal(f"scales must be 1, or as many as axis {axis} is long, not {scales.size}")
        sizes[axis] = scales.size
    return sizes


@onnx_operator("DequantizeLinear", "com.microsoft:DequantizeLinear")
def dequantize(writer: Writer, node: Node, inputs: Operands) -> Value:
    """DequantizeLinear reads int8 or uint8, or constants, also of int32.

    Constants can have a scale and a zero point for each channel.
    """
    value = operand(inputs, 0)
    if isinstance(value, Constant):
        return _dequantized_constant(node, inputs, value)
    if not isinstance(value, Quantized):
        raise Refusal("input must be bytes, not float32")
    scale = scale_of(node, inputs)
    inside = value.inside
    if scale.is_same(value.scale):
        return inside
    return Activation(
        inside.tensor, inside.shape, inside.order, scale.reals, inside.features, inside.source
    )


def _dequantized_constant(node: Node, inputs: Operands, value: Constant) -> Constant:
    kind = value.values.dtype
    if kind not in {*_BYTES, _INT32}:
        raise Refusal(f"constants must be int8, uint8 or int32, not {kind}")
    scales, zero_points = _parameters(node, inputs)
    axis = _axis(node, value.values.ndim)
    sizes = _sizes(scales, value.values.shape, axis)
    zeros = np.zeros(1, np.int64) if zero_points is None else zero_points.astype(np.int64)
    zeros = np.broadcast_to(zeros.reshape(-1), (scales.size,))
    numbers = value.values.astype(np.int64)
    reals = (numbers - zeros.reshape(sizes)).astype(np.float32) * scales.reshape(sizes)
    shift = _SHIFT if kind == np.uint8 else 0
    codes = Codes(
        numbers - shift, scales.reshape(-1), zeros - shift, axis, 32 if kind == _INT32 else 8
    )
    return Constant(reals.astype(np.float32), codes)

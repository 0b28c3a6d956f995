"""Conv, ConvTranspose, Gemm and MatMul: layers with constant weights."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.onnx.layout import last, reshaped
from kiwicha.compiler.onnx.model import Node
from kiwicha.compiler.onnx.operands import activation, operand, weights
from kiwicha.compiler.onnx.operators import Operands, onnx_operator
from kiwicha.compiler.onnx.values import (
    Activation,
    Codes,
    Constant,
    Pending,
    Refusal,
    Scale,
    Value,
)
from kiwicha.compiler.onnx.windows import as_image, padded, window_of
from kiwicha.compiler.onnx.writer import Writer
from kiwicha.compiler.tflite.graph import NO_TENSOR
from kiwicha.compiler.tflite.tensor import Quantization, TensorType

__all__ = ["Parts", "bias_of", "parts_of", "pending"]

_INT32 = np.iinfo(np.int32)
_Emit = Callable[[Activation, tuple[int, ...], Scale], Activation]
"""From image, shape of the result and scale to the result."""


def bias_of(
    writer: Writer,
    value: Value | None,
    source: Activation,
    codes: Codes,
    outputs: int,
    factor: float = 1.0,
) -> int:
    """Add a bias to the graph and return its tensor; `NO_TENSOR` without one.

    Parameters
    ----------
    writer : Writer
        Gets it.
    value : Value or None
        As in the file: int32 behind a DequantizeLinear, or float32.
    source : Activation
        What the weights multiply.
    codes : Codes
        The weights.
    outputs : int
        How many it must have.
    factor : float
        It is multiplied by this.
    """
    if value is None:
        return NO_TENSOR
    if not isinstance(value, Constant):
        raise Refusal("bias must be a constant")
    if value.values.size not in {1, outputs}:
        raise Refusal(f"bias must have {outputs} values, not {list(value.values.shape)}")
    scale = np.float32(writer.scale_of(source).scale)
    scales = np.asarray(scale * codes.scales, np.float32)
    integers = _integers(value, scales, factor)
    data = np.broadcast_to(integers, (outputs,)).clip(_INT32.min, _INT32.max).astype(np.int32)
    quantization = Quantization(scales, np.zeros(len(scales), np.int64), 0)
    return writer.tensor("", (outputs,), TensorType.INT32, quantization, data)


def _integers(value: Constant, scales: NDArray[np.float32], factor: float) -> NDArray[np.int64]:
    """Return a bias in steps of the sums: as the file holds it, if it has the same scales."""
    codes = value.codes
    if codes is not None and codes.bits == 32 and factor == 1.0:
        given = codes.scales.astype(np.float64)
        if given.size in {1, scales.size} and np.allclose(given, scales, rtol=1e-5, atol=0):
            return (codes.values - codes.zero_points).reshape(-1)
    reals = value.values.reshape(-1).astype(np.float64) * factor
    with np.errstate(divide="ignore", invalid="ignore"):
        steps = np.nan_to_num(np.rint(reals / scales.astype(np.float64)))
    return steps.clip(_INT32.min, _INT32.max).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Parts:
    """A convolution's operands."""

    node: Node
    source: Activation
    weights: Constant
    bias: Value | None
    groups: int

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the weights."""
        return self.weights.values.shape


def parts_of(writer: Writer, node: Node, inputs: Operands) -> Parts:
    """Return a convolution's operands, weights as those of images.

    Parameters
    ----------
    writer : Writer
        Knows the scales.
    node : Node
        With its groups.
    inputs : sequence of Value
        Input, weights, and perhaps a bias.
    """
    source, kernel = activation(writer, operand(inputs, 0)), operand(inputs, 1)
    if not isinstance(kernel, Constant):
        raise Refusal("weights must be constants")
    groups = int(node.get("group", 1))
    first = source.shape[1] if len(source.shape) > 1 else 0
    if kernel.values.ndim != len(source.shape) or groups < 1 or first % groups:
        raise Refusal(
            f"weights {list(kernel.values.shape)} in {groups} groups must fit the input "
            f"{list(source.shape)}"
        )
    return Parts(node, source, _images(kernel), operand(inputs, 2), groups)


def _images(kernel: Constant) -> Constant:
    """Return weights of signals as weights of images of one row."""
    if kernel.values.ndim != 3:
        return kernel
    codes = kernel.codes
    if codes is not None:
        axis = codes.axis + (codes.axis > 1)
        values = np.expand_dims(codes.values, 2)
        codes = Codes(values, codes.scales, codes.zero_points, axis, codes.bits)
    return Constant(np.expand_dims(kernel.values, 2), codes)


def _as_before(writer: Writer, result: Activation, source: Activation) -> Activation:
    """Return images as signals again, if the layer reads signals."""
    if len(source.shape) == 4:
        return result
    return reshaped(writer, result, (*result.shape[:2], result.shape[3]))


def pending(
    writer: Writer, parts: Parts, sizes: tuple[int, int], outputs: int, emit: _Emit
) -> Pending:
    """Return what waits for the scale of a convolution's output.

    Parameters
    ----------
    writer : Writer
        Gets the layer.
    parts : Parts
        Its operands.
    sizes : tuple of int
        Height and width of the result.
    outputs : int
        Channels of the result.
    emit : callable
        From image, shape of the result and scale to the result.
    """
    shape = (parts.source.shape[0], outputs, *sizes[4 - len(parts.source.shape) :])

    def emitted(scale: Scale) -> Activation:
        image = as_image(writer, parts.source)
        result = emit(image, (image.shape[0], outputs, *sizes), scale)
        return _as_before(writer, result, parts.source)

    return Pending(parts.node.outputs[0], shape, emitted)


_ORDER = (0, 2, 3, 1)


@onnx_operator("Conv")
def conv(writer: Writer, node: Node, inputs: Operands) -> Value:
    """Conv works on images or signals, in groups of equal size.

    Weights are constants of int8 or uint8 with one scale or one for each output channel; a bias of
    float32 is rounded to steps of the sums.
    """
    parts = parts_of(writer, node, inputs)
    outputs, window_channels = parts.shape[:2]
    channels = parts.source.shape[1]
    if window_channels * parts.groups != channels or outputs % parts.groups:
        raise Refusal(
            f"weights {list(parts.shape)} in {parts.groups} groups must fit {channels} channels"
        )
    is_depthwise = parts.groups == channels and parts.groups > 1
    window = window_of(node, parts.source.shape, _kernel(parts))
    permutation = (1, 2, 3, 0) if is_depthwise else (0, 2, 3, 1)
    tensor, codes = weights(writer, parts.weights, permutation, 0, node.inputs[1])
    bias = bias_of(writer, parts.bias, parts.source, codes, outputs)

    def emit(image: Activation, shape: tuple[int, ...], scale: Scale) -> Activation:
        image, padding = padded(writer, image, window)
        output = writer.bytes(node.outputs[0], [shape[axis] for axis in _ORDER], scale)
        writer.operator(
            "DEPTHWISE_CONV_2D" if is_depthwise else "CONV_2D",
            (image.tensor, tensor, bias),
            (output,),
            padding=padding,
            stride_height=window.strides[0],
            stride_width=window.strides[1],
            dilation_height=window.dilations[0],
            dilation_width=window.dilations[1],
            depth_multiplier=outputs // channels if is_depthwise else 1,
        )
        return Activation(output, shape, _ORDER, scale.reals)

    return pending(writer, parts, window.outputs, outputs, emit)


def _kernel(parts: Parts) -> tuple[int, ...]:
    """Return the window's sides, one for signals."""
    return parts.shape[2:] if len(parts.source.shape) == 4 else parts.shape[3:]


@onnx_operator("Gemm", "MatMul")
def matrix(writer: Writer, node: Node, inputs: Operands) -> Value:
    """Gemm and MatMul multiply a tensor by a constant matrix.

    It has one scale, or one for each output; a bias of float32 is rounded to steps of the sums.
    """
    is_gemm = node.kind == "Gemm"
    if is_gemm and node.get("transA", 0):
        raise Refusal("transA must be 0")
    source = activation(writer, operand(inputs, 0), "first input")
    second = operand(inputs, 1)
    if not isinstance(second, Constant):
        activation(writer, second, "second input")
        raise Refusal("second input must be a constant matrix: weights")
    is_turned = bool(is_gemm and node.get("transB", 0))
    kernel = _features_first(_flat(second), is_turned=is_turned)
    depth, outputs = kernel.values.shape[1], kernel.values.shape[0]
    if not source.shape or source.shape[-1] != depth:
        raise Refusal(f"matrix of {depth} rows must fit the input {list(source.shape)}")
    alpha, beta = float(node.get("alpha", 1.0)), float(node.get("beta", 1.0))
    codes = kernel.codes
    if codes is not None and alpha != 1.0:
        scales = np.asarray(codes.scales * np.float32(alpha), np.float32)
        codes = Codes(codes.values, scales, codes.zero_points, codes.axis, codes.bits)
    if codes is not None and source.features is not None:
        # Column k of the input is what the image has at that place.
        values = np.empty_like(codes.values)
        values[:, source.features] = codes.values
        codes = Codes(values, codes.scales, codes.zero_points, codes.axis, codes.bits)
    tensor, codes = weights(writer, Constant(kernel.values, codes), (0, 1), 0, node.inputs[1])
    bias = bias_of(writer, operand(inputs, 2), source, codes, outputs, beta)
    shape = (*source.shape[:-1], outputs)

    def emit(scale: Scale) -> Activation:
        rows = source if source.features is not None else last(writer, source, -1)
        output = writer.bytes(node.outputs[0], [shape[axis] for axis in rows.order], scale)
        writer.operator("FULLY_CONNECTED", (rows.tensor, tensor, bias), (output,))
        return Activation(output, shape, rows.order, scale.reals)

    return Pending(node.outputs[0], shape, emit)


def _flat(matrix: Constant) -> Constant:
    """Return a matrix without dimensions of 1 before it."""
    values = matrix.values
    if values.ndim < 2 or any(size != 1 for size in values.shape[:-2]):
        raise Refusal(f"weights must be one matrix, not {list(values.shape)}")
    more = values.ndim - 2
    codes = matrix.codes
    if codes is not None and more:
        flat = codes.values.reshape(values.shape[-2:])
        axis = codes.axis - more
        codes = Codes(flat, codes.scales, codes.zero_points, axis, codes.bits)
    return Constant(values.reshape(values.shape[-2:]), codes)


def _features_first(matrix: Constant, *, is_turned: bool) -> Constant:
    """Return a matrix with a row for each output."""
    if is_turned:
        return matrix
    codes = matrix.codes
    if codes is not None:
        axis = codes.axis if len(codes.scales) == 1 else 1 - codes.axis
        codes = Codes(codes.values.T, codes.scales, codes.zero_points, axis, codes.bits)
    return Constant(matrix.values.T, codes)

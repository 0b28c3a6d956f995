"""Pools and reductions."""

import math
from collections.abc import Sequence

import numpy as np

from kiwicha.compiler.onnx.layout import channels_last, reshaped, settled
from kiwicha.compiler.onnx.model import Node
from kiwicha.compiler.onnx.operands import activation, axes_of, integers, moved, operand, shape_of
from kiwicha.compiler.onnx.operators import Operands, onnx_operator
from kiwicha.compiler.onnx.values import Activation, Pending, Refusal, Scale, Unquantized, Value
from kiwicha.compiler.onnx.windows import Window, as_image, padded, window_of
from kiwicha.compiler.onnx.writer import Writer
from kiwicha.compiler.tflite.graph import NO_TENSOR, Padding
from kiwicha.compiler.tflite.tensor import Quantization, TensorType

_ORDER = (0, 2, 3, 1)
_LEAST = -128


def _shape(source: Sequence[int], window: Window) -> tuple[int, ...]:
    return (*source[:2], *window.outputs[4 - len(source) :])


def _pool(
    writer: Writer, name: str, image: Activation, window: Window, padding: Padding
) -> Activation:
    shape = (*image.shape[:2], *window.outputs)
    result = writer.beside(image, shape, _ORDER)
    writer.operator(
        name,
        (image.tensor,),
        (result.tensor,),
        padding=padding,
        stride_height=window.strides[0],
        stride_width=window.strides[1],
        kernel_height=window.kernel[0],
        kernel_width=window.kernel[1],
    )
    return result


@onnx_operator("MaxPool")
def max_pool(writer: Writer, node: Node, inputs: Operands) -> Value:
    """MaxPool works on images or signals, without dilation and without indices."""
    value = operand(inputs, 0)
    if value is None:
        raise Refusal("input must be there")
    shape = shape_of(value)
    window = window_of(node, shape, node.get("kernel_shape", []))
    if window.dilations != (1, 1):
        raise Refusal(f"dilations must be 1, not {list(window.dilations)}")
    if len([name for name in node.outputs if name]) > 1:
        raise Refusal("only the first output must be read, not the indices")

    def pool(source: Activation) -> Activation:
        if not (np.diff(_ascending(source)) >= 0).all():
            raise Unquantized("input must be quantized before the pool: QuantizeLinear is missing")
        image, padding = padded(writer, as_image(writer, source), window, _LEAST)
        result = _pool(writer, "MAX_POOL_2D", image, window, padding)
        return reshaped(writer, result, _shape(shape, window))

    return moved(value, _shape(shape, window), pool)


def _ascending(source: Activation) -> "np.ndarray[tuple[int], np.dtype[np.float32]]":
    """Return the numbers of the bytes from -128 to 127."""
    return np.roll(source.reals, 128)


@onnx_operator("AveragePool")
def average_pool(writer: Writer, node: Node, inputs: Operands) -> Value:
    """AveragePool works on images or signals.

    Padding counts (count_include_pad), or is TFLite's SAME and scale and zero point stay the same.
    """
    source = activation(writer, operand(inputs, 0))
    window = window_of(node, source.shape, node.get("kernel_shape", []))
    counts_padding = bool(node.get("count_include_pad", 0))
    is_padded = window.pads != ((0, 0), (0, 0))
    if counts_padding and node.get("ceil_mode", 0) and is_padded:
        raise Refusal("ceil_mode must be 0 where padding counts")
    if window.dilations != (1, 1):
        raise Refusal(f"dilations must be 1, not {list(window.dilations)}")
    shape = _shape(source.shape, window)

    def emit(scale: Scale) -> Activation:
        image = as_image(writer, source)
        kept = writer.scale_of(image).is_same(scale)
        image, padding = padded(writer, image, window)
        is_same = padding is Padding.SAME
        if kept and not counts_padding and (is_same or not is_padded):
            result = _pool(writer, "AVERAGE_POOL_2D", image, window, padding)
        elif counts_padding or not is_padded:
            result = _means(writer, image, window, padding, scale)
        else:
            raise Refusal(
                "padding must count (count_include_pad=1), or be that of SAME with one scale and "
                "zero point for input and output"
            )
        return reshaped(writer, result, shape)

    return Pending(node.outputs[0], shape, emit)


def _means(
    writer: Writer, image: Activation, window: Window, padding: Padding, scale: Scale
) -> Activation:
    """Return means as a depthwise convolution by 1 / size, which can change the scale."""
    channels, size = image.shape[1], math.prod(window.kernel)
    data = np.ones((1, *window.kernel, channels), np.int8)
    share = Quantization(np.array([1 / size], np.float32), np.zeros(1, np.int64), 3)
    ones = writer.tensor("", data.shape, TensorType.INT8, share, data)
    shape = (*image.shape[:2], *window.outputs)
    output = writer.bytes(writer.name_of(image), [shape[axis] for axis in _ORDER], scale)
    writer.operator(
        "DEPTHWISE_CONV_2D",
        (image.tensor, ones, NO_TENSOR),
        (output,),
        padding=padding,
        stride_height=window.strides[0],
        stride_width=window.strides[1],
    )
    return Activation(output, shape, _ORDER, scale.reals)


def _reduce(
    writer: Writer, node: Node, value: Value | None, axes: Sequence[int], *, keeps: bool
) -> Value:
    """Return a mean or maximum over dimensions."""
    if value is None:
        raise Refusal("input must be there")
    old = shape_of(value)
    axes = axes_of(axes, len(old))
    kept = [axis for axis in range(len(old)) if axis not in axes]
    small = tuple(old[axis] for axis in kept)
    shape = tuple(1 if axis in axes else size for axis, size in enumerate(old)) if keeps else small
    is_mean = node.kind in {"GlobalAveragePool", "ReduceMean"}

    def emit(source: Activation, scale: Scale) -> Activation:
        if len(old) == 4 and axes == [2, 3]:
            source = channels_last(writer, source)
        source = settled(writer, source)
        places = sorted(source.place(axis) for axis in axes)
        order = [kept.index(axis) for axis in source.order if axis not in axes]
        output = writer.bytes(node.outputs[0], [small[axis] for axis in order], scale)
        name = "MEAN" if is_mean else "REDUCE_MAX"
        writer.operator(name, (source.tensor, writer.integers(places)), (output,))
        reals = scale.reals if is_mean else source.reals
        return reshaped(writer, Activation(output, small, tuple(order), reals), shape)

    if is_mean:
        source = activation(writer, value)
        return Pending(node.outputs[0], shape, lambda scale: emit(source, scale))
    return moved(value, shape, lambda source: emit(source, writer.scale_of(source)))


@onnx_operator("GlobalAveragePool", "GlobalMaxPool")
def global_pool(writer: Writer, node: Node, inputs: Operands) -> Value:
    """GlobalAveragePool and GlobalMaxPool work on all behind batch and channels."""
    value = operand(inputs, 0)
    rank = 0 if value is None else len(shape_of(value))
    return _reduce(writer, node, value, range(2, rank), keeps=True)


@onnx_operator("ReduceMean", "ReduceMax")
def reduce(writer: Writer, node: Node, inputs: Operands) -> Value:
    """ReduceMean and ReduceMax have constant axes."""
    value, given = operand(inputs, 0), operand(inputs, 1)
    rank = 0 if value is None else len(shape_of(value))
    axes = integers(given, "axes") if given is not None else list(node.get("axes", []))
    if not axes and node.get("noop_with_empty_axes", 0):
        raise Refusal("axes must be there")
    axes = axes or list(range(rank))
    return _reduce(writer, node, value, axes, keeps=bool(node.get("keepdims", 1)))

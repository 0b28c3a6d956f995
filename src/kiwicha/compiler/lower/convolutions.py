"""Lowering of convolutions, fully connected layers and pools."""

import dataclasses
import math

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.lower.network import Layer, Values
from kiwicha.compiler.lower.shorts import fused_range, has_shorts, short_bias
from kiwicha.compiler.quantization.scales import channel_scales, rounded_once
from kiwicha.compiler.tflite.graph import Graph, Operator
from kiwicha.compiler.tflite.tensor import Tensor, quantization
from kiwicha.compiler.tflite.windows import padding_before
from kiwicha.contract.layout import Ref
from kiwicha.contract.program import Kernel
from kiwicha.kernels.conv import Conv
from kiwicha.kernels.pool import Pool

__all__ = [
    "lower_conv",
    "lower_depthwise",
    "lower_fully_connected",
    "lower_pool",
    "lower_transpose_conv",
]


def lower_conv(graph: Graph, operator: Operator) -> Layer:
    """Return the layer of a CONV_2D; in groups of one input channel it is a depthwise one."""
    outputs, _, _, group_channels = graph.input(operator, 1).shape
    channels = graph.input(operator).shape[3]
    if group_channels == channels:
        return _lower_window(graph, operator, Kernel.CONV, depth_multiplier=1)
    if group_channels > 1:
        layer = _lower_window(graph, operator, Kernel.CONV, depth_multiplier=1)
        weights = _ungrouped(layer.constants["weights"], channels, -layer.params.weight_offset)
    else:
        multiplier = outputs // channels
        layer = _lower_window(graph, operator, Kernel.DEPTHWISE_CONV, multiplier)
        weights = np.ascontiguousarray(layer.constants["weights"].transpose(3, 1, 2, 0))
    return dataclasses.replace(layer, constants={**layer.constants, "weights": weights})


def _ungrouped(weights: Values, channels: int, zero: int) -> Values:
    """Return OHWI weights for all input channels, ``zero`` for those of other groups."""
    outputs, height, width, group_channels = weights.shape
    full = np.full((outputs, height, width, channels), zero, weights.dtype)
    group_outputs = outputs // (channels // group_channels)
    for output in range(outputs):
        first = output // group_outputs * group_channels
        full[output, :, :, first : first + group_channels] = weights[output]
    return full


def lower_depthwise(graph: Graph, operator: Operator) -> Layer:
    """Return the layer of a DEPTHWISE_CONV_2D."""
    depth_multiplier = graph.output(operator).shape[3] // graph.input(operator).shape[3]
    return _lower_window(graph, operator, Kernel.DEPTHWISE_CONV, depth_multiplier)


def _lower_window(
    graph: Graph,
    operator: Operator,
    kernel: Kernel,
    depth_multiplier: int,
) -> Layer:
    options, output = operator.options, graph.output(operator)
    source = graph.input(operator)
    batches, height, width, channels = source.shape
    _, output_height, output_width, output_channels = output.shape
    _, kernel_height, kernel_width, window_channels = graph.input(operator, 1).shape
    pad_top = padding_before(
        height, kernel_height, options.stride_height, options.dilation_height, output_height
    )
    pad_left = padding_before(
        width, kernel_width, options.stride_width, options.dilation_width, output_width
    )
    low, high = fused_range(graph, operator)
    constants, weight_offset = _channel_constants(graph, operator, output_channels)
    taps = kernel_height * kernel_width * (window_channels if kernel is Kernel.CONV else 1)
    return Layer(
        operator.index,
        operator.name,
        macs=math.prod(output.shape) * taps,
        kernel=kernel,
        params=Conv(
            **_empty_references(),
            batches=batches,
            input_height=height,
            input_width=width,
            input_channels=channels,
            output_height=output_height,
            output_width=output_width,
            output_channels=output_channels,
            kernel_height=kernel_height,
            kernel_width=kernel_width,
            stride_height=options.stride_height,
            stride_width=options.stride_width,
            dilation_height=options.dilation_height,
            dilation_width=options.dilation_width,
            pad_top=pad_top,
            pad_left=pad_left,
            depth_multiplier=depth_multiplier,
            tile_pixels=4,
            input_offset=-quantization(graph.input(operator)).zero_point,
            weight_offset=weight_offset,
            output_offset=quantization(output).zero_point,
            activation_min=low,
            activation_max=high,
        ),
        tensors={"input": source.index, "output": output.index},
        constants=constants,
    )


def lower_transpose_conv(graph: Graph, operator: Operator) -> Layer:
    """Return the layer of a TRANSPOSE_CONV.

    Notes
    -----
    Ref: tensorflow/lite/micro/kernels/transpose_conv.cc, CalculateOpData: the padding is that of
    the convolution that goes from the output to the input.
    """
    layer = _lower_window(graph, operator, Kernel.TRANSPOSE_CONV, depth_multiplier=1)
    source, options, p = graph.input(operator), operator.options, layer.params
    pads = {
        "pad_top": padding_before(
            p.output_height, p.kernel_height, options.stride_height, 1, p.input_height
        ),
        "pad_left": padding_before(
            p.output_width, p.kernel_width, options.stride_width, 1, p.input_width
        ),
    }
    taps = p.kernel_height * p.kernel_width * p.output_channels
    return dataclasses.replace(
        layer, macs=source.elements * taps, params=dataclasses.replace(p, **pads)
    )


def lower_fully_connected(graph: Graph, operator: Operator) -> Layer:
    """Return the layer of a FULLY_CONNECTED: a convolution of 1x1 pixels, one per row."""
    output, weights = graph.output(operator), graph.input(operator, 1)
    output_channels, channels = weights.shape
    low, high = fused_range(graph, operator)
    constants, weight_offset = _channel_constants(graph, operator, output_channels)
    return Layer(
        operator.index,
        operator.name,
        macs=output.elements * channels,
        kernel=Kernel.FULLY_CONNECTED,
        params=Conv(
            **_empty_references(),
            batches=output.elements // output_channels,
            input_height=1,
            input_width=1,
            input_channels=channels,
            output_height=1,
            output_width=1,
            output_channels=output_channels,
            kernel_height=1,
            kernel_width=1,
            stride_height=1,
            stride_width=1,
            dilation_height=1,
            dilation_width=1,
            pad_top=0,
            pad_left=0,
            depth_multiplier=1,
            tile_pixels=4,
            input_offset=-quantization(graph.input(operator)).zero_point,
            weight_offset=weight_offset,
            output_offset=quantization(output).zero_point,
            activation_min=low,
            activation_max=high,
        ),
        tensors={"input": operator.inputs[0], "output": output.index},
        constants=constants,
    )


def lower_pool(graph: Graph, operator: Operator) -> Layer:
    """Return the layer of an AVERAGE_POOL_2D or MAX_POOL_2D."""
    options, source, output = operator.options, graph.input(operator), graph.output(operator)
    batches, height, width, channels = source.shape
    _, output_height, output_width, _ = output.shape
    low, high = fused_range(graph, operator)
    is_average = operator.name == "AVERAGE_POOL_2D"
    return Layer(
        operator.index,
        operator.name,
        kernel=Kernel.AVERAGE_POOL if is_average else Kernel.MAX_POOL,
        params=Pool(
            input=Ref(),
            output=Ref(),
            batches=batches,
            input_height=height,
            input_width=width,
            channels=channels,
            output_height=output_height,
            output_width=output_width,
            kernel_height=options.kernel_height,
            kernel_width=options.kernel_width,
            stride_height=options.stride_height,
            stride_width=options.stride_width,
            pad_top=padding_before(
                height, options.kernel_height, options.stride_height, 1, output_height
            ),
            pad_left=padding_before(
                width, options.kernel_width, options.stride_width, 1, output_width
            ),
            offset=source.shift,
            activation_min=low,
            activation_max=high,
        ),
        tensors={"input": source.index, "output": output.index},
    )


def _empty_references() -> dict[str, Ref]:
    return {name: Ref() for name, kind, _ in Conv.layout() if kind.base == "ref"}


def _channel_constants(
    graph: Graph, operator: Operator, channels: int
) -> tuple[dict[str, NDArray[np.generic]], int]:
    """Return the constants of a layer with weights, and what is to be added to its weights."""
    weights = graph.input(operator, 1)
    multipliers, shifts = channel_scales(
        quantization(graph.input(operator)),
        quantization(weights),
        quantization(graph.output(operator)),
        channels,
    )
    if graph.is_onnx:
        multipliers, shifts = rounded_once(multipliers, shifts)
    values, offset = _plain_weights(weights)
    constants: dict[str, NDArray[np.generic]] = {
        "weights": values,
        "bias": _bias(graph, operator, channels),
        "multiplier": multipliers,
        "shift": shifts,
    }
    return constants, offset


def _bias(graph: Graph, operator: Operator, channels: int) -> NDArray[np.generic]:
    bias = graph.operand(operator, 2)
    if has_shorts(graph, operator):
        return short_bias(operator, bias, channels)
    return np.zeros(channels, np.int32) if bias is None else bias.int32s().reshape(-1)


def _plain_weights(weights: Tensor) -> tuple[NDArray[np.int8], int]:
    """Return weights and what is to be added to them: nothing if the sums are int8."""
    zero_point = quantization(weights).zero_point
    values = weights.int8s().astype(np.int16) - zero_point
    if values.min() >= np.iinfo(np.int8).min and values.max() <= np.iinfo(np.int8).max:
        return values.astype(np.int8), 0
    return weights.int8s(), -zero_point

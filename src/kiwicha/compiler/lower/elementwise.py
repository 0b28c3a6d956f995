"""Lowering of operators on two tensors, reductions and operators on rows."""

import dataclasses
import math

import numpy as np

from kiwicha.compiler.lower.network import Layer, Values
from kiwicha.compiler.lower.shorts import fused_range, has_shorts, lower_softmax_of_shorts
from kiwicha.compiler.lower.tables import ALL_BYTES, table_layer
from kiwicha.compiler.quantization.scales import (
    INT8_MAX,
    INT8_MIN,
    SHORT_LEFT_SHIFT,
    SQUARE_LEFT_SHIFT,
    SUM_LEFT_SHIFT,
    Scale,
    SumScales,
    mean_scale,
    once,
    product_scale,
    quotient_scale,
    ratio_scale,
    square_scales,
    sum_scales,
)
from kiwicha.compiler.tflite.graph import Graph, Operator
from kiwicha.compiler.tflite.shapes import broadcast_strides, leading_ones, reduced_axes
from kiwicha.compiler.tflite.tensor import TensorType, quantization
from kiwicha.contract.layout import Ref
from kiwicha.contract.program import Kernel
from kiwicha.kernels.elementwise import Elementwise
from kiwicha.kernels.l2_normalization import L2Normalization
from kiwicha.kernels.log_softmax import LogSoftmax
from kiwicha.kernels.mean import Mean
from kiwicha.kernels.pairs import DIFFERENCES, PAIR, Pairs
from kiwicha.kernels.short_softmax import ShortSoftmax, short_probabilities
from kiwicha.kernels.softmax import Softmax, pair_outputs
from kiwicha.numerics.logarithm import log_softmax_distances
from kiwicha.numerics.requantization import requantize, softmax_exponentials

__all__ = [
    "lower_comparison",
    "lower_l2_normalization",
    "lower_log_softmax",
    "lower_prelu",
    "lower_product",
    "lower_reduction",
    "lower_softmax",
    "lower_square",
    "lower_sum",
]

_UNUSED = Scale(0, 0)
MAX_PROBABILITY = 255
"""Output of a SOFTMAX in steps of its scale, at most."""
_REDUCTIONS = {"REDUCE_MAX": Kernel.REDUCE_MAX, "REDUCE_MIN": Kernel.REDUCE_MIN}


def lower_sum(graph: Graph, operator: Operator) -> Layer:
    """Return the layer of an ADD or SUB."""
    left_shift = SHORT_LEFT_SHIFT if has_shorts(graph, operator) else SUM_LEFT_SHIFT
    scales = sum_scales(
        quantization(graph.input(operator, 0)),
        quantization(graph.input(operator, 1)),
        quantization(graph.output(operator)),
        left_shift,
    )
    kernel = Kernel.ADD if operator.name == "ADD" else Kernel.SUB
    return _lower_pair(graph, operator, kernel, scales, left_shift)


def lower_square(graph: Graph, operator: Operator) -> Layer:
    """Return the layer of a SQUARED_DIFFERENCE."""
    scales = square_scales(
        quantization(graph.input(operator, 0)),
        quantization(graph.input(operator, 1)),
        quantization(graph.output(operator)),
    )
    return _lower_pair(graph, operator, Kernel.SQUARED_DIFFERENCE, scales, SQUARE_LEFT_SHIFT)


def lower_product(graph: Graph, operator: Operator) -> Layer:
    """Return the layer of a MUL."""
    scale = product_scale(
        quantization(graph.input(operator, 0)),
        quantization(graph.input(operator, 1)),
        quantization(graph.output(operator)),
    )
    if graph.is_onnx:
        scale = once(scale)
    return _lower_pair(graph, operator, Kernel.MUL, SumScales(_UNUSED, _UNUSED, scale), 0)


def lower_prelu(graph: Graph, operator: Operator) -> Layer:
    """Return the layer of a PRELU.

    Notes
    -----
    Ref: tensorflow/lite/micro/kernels/prelu_common.cc, CalculatePreluParams.
    """
    source, alpha, output = (
        quantization(tensor)
        for tensor in (graph.input(operator), graph.input(operator, 1), graph.output(operator))
    )
    scales = SumScales(ratio_scale(source, output), _UNUSED, product_scale(source, alpha, output))
    return _lower_pair(graph, operator, Kernel.PRELU, scales, 0)


def lower_comparison(graph: Graph, operator: Operator) -> Layer:
    """Return the layer of a MINIMUM or MAXIMUM."""
    layer = _lower_pair(
        graph, operator, Kernel[operator.name], SumScales(_UNUSED, _UNUSED, _UNUSED), 0
    )
    params = dataclasses.replace(layer.params, offset_1=0, offset_2=0, output_offset=0)
    return dataclasses.replace(layer, params=params)


def _lower_pair(
    graph: Graph, operator: Operator, kernel: Kernel, scales: SumScales, left_shift: int
) -> Layer:
    first, second, output = graph.input(operator), graph.input(operator, 1), graph.output(operator)
    low, high = fused_range(graph, operator)
    return Layer(
        operator.index,
        operator.name,
        kernel=kernel,
        params=Elementwise(
            input_1=Ref(),
            input_2=Ref(),
            output=Ref(),
            shape=leading_ones(output.shape),
            strides_1=broadcast_strides(first.shape, output.shape),
            strides_2=broadcast_strides(second.shape, output.shape),
            offset_1=-quantization(first).zero_point,
            offset_2=-quantization(second).zero_point,
            output_offset=quantization(output).zero_point,
            left_shift=left_shift,
            multiplier_1=scales.input_1.multiplier,
            shift_1=scales.input_1.shift,
            multiplier_2=scales.input_2.multiplier,
            shift_2=scales.input_2.shift,
            output_multiplier=scales.output.multiplier,
            output_shift=scales.output.shift,
            activation_min=low,
            activation_max=high,
        ),
        tensors={"input_1": first.index, "input_2": second.index, "output": output.index},
    )


def lower_reduction(graph: Graph, operator: Operator) -> Layer:
    """Return the layer of a MEAN, SUM, REDUCE_MAX or REDUCE_MIN; SUM is a MEAN without division.

    A reduction over dimensions of 1 is a table.
    """
    source, output = graph.input(operator), graph.output(operator)
    axes = reduced_axes(graph, operator)
    count = math.prod(source.shape[axis] for axis in axes)
    pair = quantization(source), quantization(output)
    scale = mean_scale(*pair, count) if operator.name == "MEAN" else ratio_scale(*pair)
    if graph.is_onnx and operator.name == "MEAN":
        scale = once(quotient_scale(*pair, count))
    kernel = _REDUCTIONS.get(operator.name, Kernel.MEAN)
    if count == 1 and not has_shorts(graph, operator):
        # Each output depends on one byte.
        terms = ALL_BYTES - quantization(source).zero_point
        scaled = (scale.multiplier, scale.shift, quantization(output).zero_point)
        is_scaled = kernel is Kernel.MEAN
        table = requantize(terms, *scaled, INT8_MIN, INT8_MAX) if is_scaled else ALL_BYTES
        return table_layer(operator, table)
    flags = leading_ones([int(axis in axes) for axis in range(len(source.shape))], fill=0)
    return Layer(
        operator.index,
        operator.name,
        kernel=kernel,
        params=Mean(
            input=Ref(),
            output=Ref(),
            shape=leading_ones(source.shape),
            is_reduced=(*flags, 0, 0),
            input_offset=-quantization(source).zero_point,
            output_offset=quantization(output).zero_point,
            multiplier=scale.multiplier,
            shift=scale.shift,
        ),
        tensors={"input": source.index, "output": output.index},
    )


def lower_l2_normalization(graph: Graph, operator: Operator) -> Layer:
    """Return the layer of an L2_NORMALIZATION."""
    source, output = graph.input(operator), graph.output(operator)
    return Layer(
        operator.index,
        operator.name,
        kernel=Kernel.L2_NORMALIZATION,
        params=L2Normalization(
            input=Ref(),
            output=Ref(),
            rows=math.prod(source.shape[:-1]),
            depth=source.shape[-1],
            input_offset=-quantization(source).zero_point,
            early_bits=7 if source.is_shifted else 0,
        ),
        tensors={"input": source.index, "output": output.index},
    )


def lower_softmax(graph: Graph, operator: Operator) -> Layer:
    """Return the layer of a SOFTMAX; over one value it is a table of nothing but 255/256."""
    source, output = graph.input(operator), graph.output(operator)
    if has_shorts(graph, operator):
        return lower_softmax_of_shorts(graph, operator)
    offset = quantization(output).zero_point
    table = softmax_exponentials(quantization(source).scale, operator.options.beta)
    if output.type is TensorType.INT16 and source.shape[-1] == PAIR:
        differences = np.arange(DIFFERENCES) - DIFFERENCES // 2
        rows = np.stack([differences, np.zeros_like(differences)], axis=1)
        return Layer(
            operator.index,
            operator.name,
            kernel=Kernel.PAIRS,
            params=Pairs(
                *(Ref(), Ref(), Ref()),
                rows=source.elements // PAIR,
                output_bytes=np.dtype(np.int16).itemsize,
            ),
            tensors={"input": source.index, "output": output.index},
            constants={"table": short_probabilities(rows, table)[:, 0].copy()},
        )
    if output.type is TensorType.INT16:
        return Layer(
            operator.index,
            operator.name,
            kernel=Kernel.SHORT_SOFTMAX,
            params=ShortSoftmax(
                input=Ref(),
                output=Ref(),
                exponentials=Ref(),
                rows=math.prod(source.shape[:-1]),
                depth=source.shape[-1],
            ),
            tensors={"input": source.index, "output": output.index},
            constants={"exponentials": table.astype(np.int32)},
        )
    if source.shape[-1] == 1:
        return table_layer(operator, np.full(len(ALL_BYTES), MAX_PROBABILITY + offset))
    constants: dict[str, Values] = {"exponentials": table.astype(np.int32)}
    if source.shape[-1] == PAIR:
        constants["pairs"] = pair_outputs(table, offset)
    return Layer(
        operator.index,
        operator.name,
        kernel=Kernel.SOFTMAX,
        params=Softmax(
            input=Ref(),
            output=Ref(),
            exponentials=Ref(),
            rows=math.prod(source.shape[:-1]),
            depth=source.shape[-1],
            output_offset=offset,
            pairs=Ref(),
        ),
        tensors={"input": source.index, "output": output.index},
        constants=constants,
    )


def lower_log_softmax(graph: Graph, operator: Operator) -> Layer:
    """Return the layer of a LOG_SOFTMAX; over one value it is a table of nothing but 0."""
    source, output = graph.input(operator), graph.output(operator)
    scale = quantization(source).scale
    if source.shape[-1] == 1:
        return table_layer(operator, np.full(len(ALL_BYTES), quantization(output).zero_point))
    return Layer(
        operator.index,
        operator.name,
        kernel=Kernel.LOG_SOFTMAX,
        params=LogSoftmax(
            input=Ref(),
            output=Ref(),
            exponentials=Ref(),
            distances=Ref(),
            rows=math.prod(source.shape[:-1]),
            depth=source.shape[-1],
            output_offset=quantization(output).zero_point,
        ),
        tensors={"input": source.index, "output": output.index},
        constants={
            "exponentials": softmax_exponentials(scale, 1.0).astype(np.int32),
            "distances": log_softmax_distances(scale).astype(np.int32),
        },
    )

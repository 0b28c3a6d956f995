"""Lowering of operators on int16: which kernels compute them, and what those take."""

import dataclasses
import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.lower.network import Layer
from kiwicha.compiler.quantization.scales import (
    SHORT_LIMITS,
    Scale,
    activation_range,
)
from kiwicha.compiler.quantization.short_scales import argument_scale, logit_scale
from kiwicha.compiler.quantization.unary_scales import leaky_ratio, relu_ratio, single_ratio
from kiwicha.compiler.tflite.graph import Activation, Graph, Operator
from kiwicha.compiler.tflite.tensor import Tensor, TensorType, quantization
from kiwicha.contract.layout import Ref
from kiwicha.contract.program import Kernel
from kiwicha.kernels.short_floats import ShortDequantize, ShortQuantize, float_bits
from kiwicha.kernels.short_functions import ShortFunction, ShortLeakyRelu
from kiwicha.kernels.softmax_of_shorts import SoftmaxOfShorts
from kiwicha.numerics.requantization import quantize_multiplier
from kiwicha.numerics.short_activations import points
from kiwicha.numerics.short_exponentials import short_exponentials, short_reciprocals

__all__ = [
    "fused_range",
    "has_shorts",
    "lower_short_floats",
    "lower_short_function",
    "lower_softmax_of_shorts",
    "of_its_width",
    "short_bias",
]

_KERNELS = {
    Kernel.CONV: Kernel.SHORT_CONV,
    Kernel.FULLY_CONNECTED: Kernel.SHORT_CONV,
    Kernel.DEPTHWISE_CONV: Kernel.SHORT_DEPTHWISE_CONV,
    Kernel.TRANSPOSE_CONV: Kernel.SHORT_TRANSPOSE_CONV,
    Kernel.ADD: Kernel.SHORT_ADD,
    Kernel.SUB: Kernel.SHORT_SUB,
    Kernel.MUL: Kernel.SHORT_MUL,
    Kernel.AVERAGE_POOL: Kernel.SHORT_AVERAGE_POOL,
    Kernel.MAX_POOL: Kernel.SHORT_MAX_POOL,
    Kernel.MEAN: Kernel.SHORT_MEAN,
}
"""Which kernels take the parameters of others, and tensors of int16."""
_SAME = 1.0
"""Ratio of scales that are one."""


def has_shorts(graph: Graph, operator: Operator) -> bool:
    """Whether an operator computes with int16: all of its activations are."""
    kinds = {graph.input(operator).type, graph.output(operator).type}
    return kinds == {TensorType.INT16}


def of_its_width(graph: Graph, operator: Operator, layer: Layer) -> Layer:
    """Return a layer with the kernel for the type of its operator's activations."""
    if layer.kernel not in _KERNELS or not has_shorts(graph, operator):
        return layer
    return dataclasses.replace(layer, kernel=_KERNELS[layer.kernel])


def fused_range(graph: Graph, operator: Operator) -> tuple[int, int]:
    """Return smallest and largest output, given the fused activation of an operator."""
    chosen = operator.options.activation, quantization(graph.output(operator))
    if has_shorts(graph, operator):
        return activation_range(*chosen, SHORT_LIMITS)
    return activation_range(*chosen)


def short_bias(operator: Operator, bias: Tensor | None, channels: int) -> NDArray[np.generic]:
    """Return the bias of a layer of int16, whose type is that of the sums: int32 or int64.

    Notes
    -----
    Ref: tensorflow/lite/micro/kernels/{conv,fully_connected,transpose_conv}.cc.
    """
    kind = operator.options.bias_type if bias is None else bias.type
    dtype = np.int32 if kind == TensorType.INT32 else np.int64
    return np.zeros(channels, dtype) if bias is None else np.array(bias.integers(), dtype)


def lower_short_floats(graph: Graph, operator: Operator) -> Layer:
    """Return the layer of a QUANTIZE of float32 to int16, or of a DEQUANTIZE of int16."""
    source, output = graph.input(operator), graph.output(operator)
    is_quantize = operator.name == "QUANTIZE"
    its = quantization(output if is_quantize else source)
    params: ShortQuantize | ShortDequantize
    if is_quantize:
        params = ShortQuantize(
            *(Ref(), Ref()), source.elements, float_bits(its.scale), its.zero_point
        )
    else:
        params = ShortDequantize(
            *(Ref(), Ref()), source.elements, float_bits(its.scale), -its.zero_point
        )
    return Layer(
        operator.index,
        operator.name,
        kernel=Kernel.SHORT_QUANTIZE if is_quantize else Kernel.SHORT_DEQUANTIZE,
        params=params,
        tensors={"input": source.index, "output": output.index},
    )


def lower_short_function(graph: Graph, operator: Operator) -> Layer:
    """Return the layer of a LOGISTIC, TANH, LEAKY_RELU, RELU or RELU6."""
    source, output = graph.input(operator), graph.output(operator)
    tensors = {"input": source.index, "output": output.index}
    if operator.name in _LEAKS:
        kept, leaked, sign = _LEAKS[operator.name](graph, operator)
        activation = Activation.RELU6 if operator.name == "RELU6" else Activation.NONE
        _, most = activation_range(activation, quantization(output), SHORT_LIMITS)
        return Layer(
            operator.index,
            operator.name,
            kernel=Kernel.SHORT_LEAKY_RELU,
            params=ShortLeakyRelu(
                *(Ref(), Ref()),
                count=source.elements,
                multiplier=kept.multiplier,
                shift=kept.shift,
                leak_multiplier=leaked.multiplier,
                leak_shift=leaked.shift,
                leak_sign=sign,
                activation_max=most,
            ),
            tensors=tensors,
        )
    scale = argument_scale(operator.name, quantization(source))
    return Layer(
        operator.index,
        operator.name,
        kernel=Kernel.SHORT_TANH if operator.name == "TANH" else Kernel.SHORT_LOGISTIC,
        params=ShortFunction(
            *(Ref(), Ref(), Ref()),
            count=source.elements,
            multiplier=scale.multiplier,
            shift=scale.shift,
        ),
        tensors=tensors,
        constants={"points": points()},
    )


def _leaky(graph: Graph, operator: Operator) -> tuple[Scale, Scale, int]:
    pair = quantization(graph.input(operator)), quantization(graph.output(operator))
    ratio = leaky_ratio(*pair, operator.options.alpha)
    kept = Scale(*quantize_multiplier(relu_ratio(*pair)))
    return kept, Scale(*quantize_multiplier(abs(ratio))), int(math.copysign(1, ratio))


def _relu(graph: Graph, operator: Operator) -> tuple[Scale, Scale, int]:
    pair = quantization(graph.input(operator)), quantization(graph.output(operator))
    return Scale(*quantize_multiplier(single_ratio(*pair))), Scale(0, 0), 1


def _relu6(graph: Graph, operator: Operator) -> tuple[Scale, Scale, int]:
    del graph, operator
    return Scale(*quantize_multiplier(_SAME)), Scale(0, 0), 1


_LEAKS: dict[str, Callable[[Graph, Operator], tuple[Scale, Scale, int]]] = {
    "LEAKY_RELU": _leaky,
    "RELU": _relu,
    "RELU6": _relu6,
}
"""Scales of positive numbers and of negative ones, and the sign of these."""


def lower_softmax_of_shorts(graph: Graph, operator: Operator) -> Layer:
    """Return the layer of a SOFTMAX of int16."""
    source, output = graph.input(operator), graph.output(operator)
    scale = logit_scale(quantization(source), operator.options.beta)
    return Layer(
        operator.index,
        operator.name,
        kernel=Kernel.SOFTMAX_OF_SHORTS,
        params=SoftmaxOfShorts(
            *(Ref(), Ref(), Ref(), Ref()),
            rows=math.prod(source.shape[:-1]),
            depth=source.shape[-1],
            multiplier=scale.multiplier,
            shift=scale.shift,
        ),
        tensors={"input": source.index, "output": output.index},
        constants={"exponentials": short_exponentials(), "reciprocals": short_reciprocals()},
    )

"""Lowering of operators with one input: a table of the results for all 256 bytes."""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.lower import real_tables as reals
from kiwicha.compiler.lower.network import Layer
from kiwicha.compiler.lower.requantize import lower_requantize
from kiwicha.compiler.lower.shorts import lower_short_floats, lower_short_function
from kiwicha.compiler.quantization.scales import (
    INT8_MAX,
    INT8_MIN,
    Scale,
    activation_range,
    bounded_range,
)
from kiwicha.compiler.quantization.unary_scales import (
    function_radius,
    function_scale,
    hard_swish_scales,
    leaky_ratio,
    relu_ratio,
    rescaling_ratio,
    root_ratio,
    single_ratio,
)
from kiwicha.compiler.tflite.graph import Activation, Graph, Operator
from kiwicha.compiler.tflite.operators import BYTE_TABLE
from kiwicha.compiler.tflite.tensor import Quantization, TensorType, quantization
from kiwicha.contract.layout import Ref
from kiwicha.contract.program import Kernel
from kiwicha.kernels.lookup import Lookup, Quantize
from kiwicha.numerics.activations import hard_swish, logistic, tanh
from kiwicha.numerics.float_edges import dequantized, thresholds
from kiwicha.numerics.inverse_square_root import inverse_square_root
from kiwicha.numerics.requantization import (
    multiply_by_quantized_multiplier,
    quantize_multiplier,
    requantize,
    rounding_divide_by_pot,
)

__all__ = ["ALL_BYTES", "lower_table", "rescaling_table", "table_layer"]

Int64s = NDArray[np.int64]
_ROOT_BITS = 20
"""Places of an inverse square root, before it is scaled."""

ALL_BYTES: Int64s = np.arange(256, dtype=np.uint8).view(np.int8).astype(np.int64)
"""The int8 that each unsigned byte stands for: the order of a table."""


def lower_table(graph: Graph, operator: Operator) -> Layer:
    """Return the layer of an operator with one input."""
    kinds = {graph.input(operator).type, graph.output(operator).type}
    if kinds == {TensorType.INT16, TensorType.FLOAT32}:
        return lower_short_floats(graph, operator)
    if operator.name == "DEQUANTIZE":
        source = quantization(graph.input(operator))
        return table_layer(operator, dequantized(ALL_BYTES, source.scale, source.zero_point))
    if TensorType.FLOAT32 in kinds:
        return _lower_quantize(graph, operator)
    if kinds != {TensorType.INT8} and TensorType.UINT8 not in kinds:
        is_rescaled = operator.name == "QUANTIZE"
        return (lower_requantize if is_rescaled else lower_short_function)(graph, operator)
    return table_layer(operator, _TABLES[operator.name](graph, operator))


def _lower_quantize(graph: Graph, operator: Operator) -> Layer:
    output = quantization(graph.output(operator))
    return Layer(
        operator.index,
        operator.name,
        kernel=Kernel.QUANTIZE,
        params=Quantize(input=Ref(), output=Ref(), thresholds=Ref()),
        tensors={"input": operator.inputs[0], "output": operator.outputs[0]},
        constants={"thresholds": thresholds(output.scale, output.zero_point)},
    )


def table_layer(operator: Operator, table: Int64s | NDArray[np.float32]) -> Layer:
    """Return a layer that looks every byte of an operator's input up.

    Parameters
    ----------
    operator : Operator
        With one input and one output.
    table : int64 or float32 [256]
        Results in the order of `ALL_BYTES`; integers are int8, or uint8 whose bits are kept.
    """
    kind = np.float32 if table.dtype == np.float32 else np.int8
    return Layer(
        operator.index,
        operator.name,
        kernel=Kernel.LOOKUP,
        params=Lookup(input=Ref(), output=Ref(), table=Ref()),
        tensors={"input": operator.inputs[0], "output": operator.outputs[0]},
        constants={"table": table.astype(kind)},
    )


def rescaling_table(
    inputs: Quantization,
    output: Quantization,
    kinds: tuple[TensorType, TensorType] = (TensorType.INT8, TensorType.INT8),
) -> Int64s:
    """Return the table from one scale and zero point to another, as QUANTIZE does it.

    Parameters
    ----------
    inputs, output : Quantization
        From which to which.
    kinds : tuple of TensorType
        Of input and output: `TensorType.INT8`, or `TensorType.UINT8` at the model's edges.

    Notes
    -----
    Ref: tensorflow/lite/kernels/internal/reference/requantize.h, Requantize.
    """
    scale = Scale(*quantize_multiplier(rescaling_ratio(inputs, output)))
    source, target = (kind is TensorType.UINT8 for kind in kinds)
    limits = (0, 255) if target else (INT8_MIN, INT8_MAX)
    return _rescaled(inputs, output, scale, limits, ALL_BYTES & 0xFF if source else ALL_BYTES)


def _rescaled(
    inputs: Quantization,
    output: Quantization,
    scale: Scale,
    limits: tuple[int, int],
    values: Int64s = ALL_BYTES,
) -> Int64s:
    differences = values - inputs.zero_point
    return requantize(differences, scale.multiplier, scale.shift, output.zero_point, *limits)


def _given(graph: Graph, operator: Operator) -> Int64s:
    del graph
    return np.frombuffer(operator.options.custom, np.int8).astype(np.int64)


def _requantized(graph: Graph, operator: Operator) -> Int64s:
    kinds = (graph.input(operator).type, graph.output(operator).type)
    return rescaling_table(*_pair(graph, operator), kinds)


def _relu(graph: Graph, operator: Operator) -> Int64s:
    inputs, output = _pair(graph, operator)
    scale = Scale(*quantize_multiplier(relu_ratio(inputs, output)))
    return _rescaled(inputs, output, scale, activation_range(Activation.RELU, output))


def _relu6(graph: Graph, operator: Operator) -> Int64s:
    return ALL_BYTES.clip(*activation_range(Activation.RELU6, _pair(graph, operator)[1]))


def _leaky_relu(graph: Graph, operator: Operator) -> Int64s:
    inputs, output = _pair(graph, operator)
    ratio = leaky_ratio(inputs, output, operator.options.alpha)
    values = ALL_BYTES - inputs.zero_point
    kept = multiply_by_quantized_multiplier(
        values, *quantize_multiplier(relu_ratio(inputs, output))
    )
    sign = int(math.copysign(1, ratio))
    multiplier, shift = quantize_multiplier(abs(ratio))
    if graph.input(operator).is_shifted:
        # LiteRT gives the sign to the multiplier: other halves are rounded up.
        leaked = multiply_by_quantized_multiplier(values, sign * multiplier, shift)
    else:
        leaked = sign * multiply_by_quantized_multiplier(values, multiplier, shift)
    results = np.where(values >= 0, kept, leaked)
    return (results + output.zero_point).clip(INT8_MIN, INT8_MAX)


def _limited_relu(low: float) -> Callable[[Graph, Operator], Int64s]:
    """Return the table of a RELU from ``low`` to 1.

    Notes
    -----
    Ref: tensorflow/lite/kernels/activations.cc, QuantizedReluX, for both types.
    """

    def table(graph: Graph, operator: Operator) -> Int64s:
        inputs, output = _pair(graph, operator)
        scale = Scale(*quantize_multiplier(single_ratio(inputs, output)))
        return _rescaled(inputs, output, scale, bounded_range(output, low, 1.0))

    return table


def _absolute(graph: Graph, operator: Operator) -> Int64s:
    """Return the table of ABS.

    Notes
    -----
    Ref: tensorflow/lite/micro/kernels/elementwise.cc, AbsEvalQuantized.
    """
    inputs, output = _pair(graph, operator)
    values = np.abs(ALL_BYTES - inputs.zero_point)
    if inputs.scale != output.scale:
        scale = quantize_multiplier(single_ratio(inputs, output))
        values = multiply_by_quantized_multiplier(values, *scale)
    return (values + output.zero_point).clip(INT8_MIN, INT8_MAX)


def _inverse_root(graph: Graph, operator: Operator) -> Int64s:
    """Return the table of RSQRT, the largest output for what has no inverse root.

    Notes
    -----
    Ref: tensorflow/lite/micro/kernels/elementwise.cc, RsqrtEvalQuantized.
    """
    inputs, output = _pair(graph, operator)
    multiplier, shift = quantize_multiplier(root_ratio(inputs, output))
    results = np.full(len(ALL_BYTES), INT8_MAX, np.int64)
    for place, value in enumerate((ALL_BYTES - inputs.zero_point).tolist()):
        if value > 0:
            root, root_shift = inverse_square_root(value)
            number = multiply_by_quantized_multiplier(1, root, root_shift + _ROOT_BITS)
            scaled = multiply_by_quantized_multiplier(number, multiplier, shift - _ROOT_BITS)
            results[place] = scaled + output.zero_point
    return results.clip(INT8_MIN, INT8_MAX)


def _real_function(
    graph: Graph, operator: Operator, function: Callable[[reals.Reals], reals.Reals]
) -> Int64s:
    return reals.real_table(ALL_BYTES, *_pair(graph, operator), function)


def _exponential(graph: Graph, operator: Operator) -> Int64s:
    return _real_function(graph, operator, reals.exponential)


def _elu(graph: Graph, operator: Operator) -> Int64s:
    return _real_function(graph, operator, reals.elu)


def _gelu(graph: Graph, operator: Operator) -> Int64s:
    function = reals.gelu_by_tanh if operator.options.is_approximate else reals.gelu
    return _real_function(graph, operator, function)


def _logarithm(graph: Graph, operator: Operator) -> Int64s:
    output = quantization(graph.output(operator))
    least = np.float32(INT8_MIN - output.zero_point) * output.scales[0]
    return _real_function(graph, operator, reals.logarithm_above(least))


def _logistic(graph: Graph, operator: Operator) -> Int64s:
    if graph.input(operator).is_shifted:
        return _real_function(graph, operator, reals.sigmoid)
    return _function(graph, operator, logistic, result_bits=8, offset=INT8_MIN)


def _tanh(graph: Graph, operator: Operator) -> Int64s:
    if graph.input(operator).is_shifted:
        return _real_function(graph, operator, reals.hyperbolic_tangent)
    return _function(graph, operator, tanh, result_bits=7, offset=0)


def _function(
    graph: Graph,
    operator: Operator,
    function: Callable[[Int64s], Int64s],
    result_bits: int,
    offset: int,
) -> Int64s:
    """Return the table of a function of Q4.27, of whose result some bits are kept.

    Notes
    -----
    Ref: tensorflow/lite/kernels/internal/reference/integer_ops/{logistic,tanh}.h.
    """
    inputs, _ = _pair(graph, operator)
    scale = function_scale(inputs)
    radius = function_radius(scale.shift)
    values = ALL_BYTES - inputs.zero_point
    is_inside = np.abs(values) < radius
    arguments = multiply_by_quantized_multiplier(
        np.where(is_inside, values, 0), scale.multiplier, min(scale.shift, 30)
    )
    kept = rounding_divide_by_pot(function(arguments), 31 - result_bits) + offset
    # Both limits hold for 0 if the radius is 0: the lower one decides.
    extremes = np.where(values <= -radius, INT8_MIN, INT8_MAX)
    return np.where(is_inside, kept.clip(INT8_MIN, INT8_MAX), extremes)


def _hard_swish(graph: Graph, operator: Operator) -> Int64s:
    inputs, output = _pair(graph, operator)
    scales = hard_swish_scales(inputs, output)
    results = hard_swish(ALL_BYTES - inputs.zero_point, *scales) + output.zero_point
    # The sum wraps to 16 bits before it is clamped.
    wrapped = results.astype(np.int16).astype(np.int64)
    return wrapped.clip(INT8_MIN, INT8_MAX)


def _pair(graph: Graph, operator: Operator) -> tuple[Quantization, Quantization]:
    return quantization(graph.input(operator)), quantization(graph.output(operator))


_TABLES: dict[str, Callable[[Graph, Operator], Int64s]] = {
    "ABS": _absolute,
    BYTE_TABLE: _given,
    "ELU": _elu,
    "EXP": _exponential,
    "GELU": _gelu,
    "HARD_SWISH": _hard_swish,
    "LEAKY_RELU": _leaky_relu,
    "LOG": _logarithm,
    "LOGISTIC": _logistic,
    "QUANTIZE": _requantized,
    "RELU": _relu,
    "RELU6": _relu6,
    "RELU_0_TO_1": _limited_relu(0.0),
    "RELU_N1_TO_1": _limited_relu(-1.0),
    "RSQRT": _inverse_root,
    "TANH": _tanh,
}

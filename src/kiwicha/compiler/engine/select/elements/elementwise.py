"""Element-wise layers in the engine's terms: tables of single bytes, sums and products.

A tensor of one pixel, such as the scales of squeeze and excitation, meets every pixel of the other
operand.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.engine.ir.element_operations import (
    FloatConversion,
    Multiplication,
    TableLookup,
)
from kiwicha.compiler.engine.ir.float_edges import FloatEdge
from kiwicha.compiler.engine.ir.limits import limit, require, verify
from kiwicha.compiler.engine.ir.operations import Operation
from kiwicha.compiler.engine.ir.window import Image, Window
from kiwicha.compiler.engine.select.convolutions.weighted import (
    WeightedLayer,
    depthwise_convolution,
)
from kiwicha.compiler.engine.select.elements.element_parts import (
    element_window,
    is_wide,
    one_scale,
    table_pairs,
)
from kiwicha.compiler.engine.select.elements.element_sums import element_sum
from kiwicha.compiler.engine.select.elements.operands import (
    OPERAND_LIMITS,
    Operands,
    Relation,
    operands_of,
)
from kiwicha.compiler.lower.network import Network
from kiwicha.compiler.lower.tables import ALL_BYTES
from kiwicha.compiler.optimize.byte_tables import byte_table
from kiwicha.compiler.optimize.ranges import UNIT_SCALE
from kiwicha.compiler.tflite.tensor import Tensor, TensorType, quantization
from kiwicha.contract.program import Kernel
from kiwicha.kernels.elementwise import Elementwise
from kiwicha.program.float_tables import quantize_table

__all__ = ["CONVERSION_LIMITS", "element_operation", "table_lookup"]

_INT8_CLAMP = (-128, 127)


def element_operation(network: Network, position: int) -> Operation:
    """Return an element-wise layer.

    Parameters
    ----------
    network : Network
        The model.
    position : int
        Position of a layer with a kernel on one or two tensors, element by element.

    Raises
    ------
    BrokenLimitError
        If the engine cannot do it.
    """
    layer = network.layers[position]
    if layer.kernel in {Kernel.LOOKUP, Kernel.QUANTIZE}:
        if TensorType.FLOAT32 in {network.tensors[i].type for i in layer.tensors.values()}:
            return _conversion(network, position)
        return _lookup(network, position, layer.tensors["input"])
    operands = operands_of(network, layer)
    require(OPERAND_LIMITS, operands)
    if operands.relation is Relation.NUMBER:
        return _lookup(network, position, operands.full.index)
    if layer.kernel is not Kernel.MUL:
        return element_sum(network, position, operands)
    if operands.relation is Relation.CHANNELS:
        return _channel_product(network, position, operands)
    return _product(network, position, operands)


def _lookup(network: Network, position: int, source: int) -> Operation:
    """Return a layer whose outputs depend on single bytes of one tensor."""
    layer = network.layers[position]
    values = byte_table(network, layer)
    assert values is not None
    window = element_window(network, layer)
    image = Image(window.output_rows, window.output_columns, window.channels)
    return table_lookup(position, source, layer.tensors["output"], image, values)


def table_lookup(
    position: int, source: int, output: int, image: Image, values: NDArray[np.generic]
) -> TableLookup:
    """Return an operation that looks all bytes of a tensor up.

    Parameters
    ----------
    position : int
        Position of its layer.
    source, output : int
        Tensors that it reads and writes.
    image : Image
        Their shape.
    values : array of int [256]
        What becomes of each byte, taken as unsigned.
    """
    return TableLookup(
        position=position,
        inputs=(source,),
        output=output,
        window=Window.of_pixels(image.rows, image.columns, image.channels),
        output_channels=image.channels,
        parameters=one_scale(1, *UNIT_SCALE),
        output_zero_point=0,
        clamp=_INT8_CLAMP,
        tables=np.stack([values, np.zeros_like(values)], axis=1).astype(np.int32),
    )


@limit("QUANTIZE", "DEQUANTIZE")
def whole_float_tensors(item: tuple[Network, int]) -> str | None:
    """A tensor of float32 does not lie in another tensor."""
    network, position = item
    is_part = {*network.layers[position].tensors.values()} & network.shared
    return "has a tensor that lies in another one, or holds others" if is_part else None


@limit("QUANTIZE")
def usual_scale(item: tuple[Network, int]) -> str | None:
    """The scale of a QUANTIZE of float32 is at least 2**-126 and at most 2**119."""
    network, position = item
    if network.layers[position].kernel is not Kernel.QUANTIZE or _edge_table(network, position):
        return None
    scale = quantization(_written_tensor(network, position)).scale
    return f"has a scale of {scale:g}, for which thresholds lie too close to each other"


CONVERSION_LIMITS = (whole_float_tensors, usual_scale)
"""What must hold for a QUANTIZE of float32 and a DEQUANTIZE."""


def _written_tensor(network: Network, position: int) -> Tensor:
    """Return the output of a layer's operator."""
    graph = network.graph
    return graph.output(graph.operators[network.layers[position].operator])


def _edge_table(network: Network, position: int) -> bytes | None:
    """Return the converter's table for a layer."""
    layer = network.layers[position]
    if layer.kernel is Kernel.LOOKUP:
        return layer.constants["table"].astype(np.float32).tobytes()
    output = quantization(_written_tensor(network, position))
    return quantize_table(output.scale, output.zero_point)


def _conversion(network: Network, position: int) -> Operation:
    """Return a QUANTIZE of float32, or a DEQUANTIZE."""
    require(CONVERSION_LIMITS, (network, position))
    layer = network.layers[position]
    table = _edge_table(network, position)
    assert table is not None
    window = element_window(network, layer)
    name = "input" if layer.kernel is Kernel.QUANTIZE else "output"
    return FloatConversion(
        position=position,
        inputs=(layer.tensors["input"],),
        output=layer.tensors["output"],
        window=window,
        output_channels=window.channels,
        parameters=one_scale(1, *UNIT_SCALE),
        output_zero_point=0,
        clamp=_INT8_CLAMP,
        tables=table_pairs(ALL_BYTES, np.zeros_like(ALL_BYTES)),
        edge=FloatEdge(layer.tensors[name], position, table),
    )


def _offsets(p: Elementwise, order: Sequence[int]) -> tuple[int, int]:
    """Return the offsets of the operands in another order."""
    first, second = ((p.offset_1, p.offset_2)[k] for k in order)
    return first, second


def _product(network: Network, position: int, operands: Operands) -> Operation:
    """Return a MUL of two tensors, of which one may have a single pixel."""
    layer = operands.layer
    p: Elementwise = layer.params
    is_flat = operands.relation is Relation.SAME_SHAPE
    first, second = _offsets(p, operands.order)
    products = np.outer(*(np.array([-128, 127]) + offset for offset in (first, second)))
    window = element_window(network, layer)
    found = Multiplication(
        position=position,
        inputs=(operands.full.index, operands.other.index),
        output=layer.tensors["output"],
        window=window,
        output_channels=window.channels,
        parameters=one_scale(1, p.output_multiplier, p.output_shift),
        output_zero_point=p.output_offset,
        clamp=(p.activation_min, p.activation_max),
        is_by_channel=not is_flat,
        is_wide=is_wide(products, p.output_shift),
        input_zero_points=(-first, -second),
    )
    verify(found)
    return found


def _channel_product(network: Network, position: int, operands: Operands) -> Operation:
    """Return a MUL by a constant for each channel, which is a depthwise one of 1x1 kernels."""
    layer = operands.layer
    p: Elementwise = layer.params
    channels = p.shape[-1]
    first, second = _offsets(p, operands.order)
    values = operands.other.int8s().reshape(-1).astype(np.int16) + np.int16(second)
    weighted = WeightedLayer(
        position=position,
        input=operands.full.index,
        output=layer.tensors["output"],
        window=element_window(network, layer),
        parameters=one_scale(channels, p.output_multiplier, p.output_shift),
        input_zero_point=-first,
        output_zero_point=p.output_offset,
        clamp=(p.activation_min, p.activation_max),
        weight_zero_point=-second,
    )
    return depthwise_convolution(weighted, values.reshape(1, 1, channels))

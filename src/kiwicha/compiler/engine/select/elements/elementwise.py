"""Element-wise layers of one tensor in the engine's terms: tables of single bytes, conversions."""

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.engine.ir.element_operations import (
    FloatConversion,
    TableLookup,
)
from kiwicha.compiler.engine.ir.float_edges import FloatEdge
from kiwicha.compiler.engine.ir.limits import limit, require
from kiwicha.compiler.engine.ir.operations import Operation
from kiwicha.compiler.engine.ir.window import Image, Window
from kiwicha.compiler.engine.select.elements.element_parts import (
    element_window,
    one_scale,
    table_pairs,
)
from kiwicha.compiler.lower.network import Network
from kiwicha.compiler.lower.tables import ALL_BYTES
from kiwicha.compiler.optimize.byte_tables import byte_table
from kiwicha.compiler.optimize.ranges import UNIT_SCALE
from kiwicha.compiler.tflite.tensor import Tensor, TensorType, quantization
from kiwicha.contract.program import Kernel
from kiwicha.program.float_tables import quantize_table

__all__ = ["CONVERSION_LIMITS", "byte_lookup", "element_operation", "table_lookup"]

_INT8_CLAMP = (-128, 127)


def element_operation(network: Network, position: int) -> Operation:
    """Return an element-wise layer of one tensor.

    Parameters
    ----------
    network : Network
        The model.
    position : int
        Position of a layer with a kernel on one tensor, element by element.

    Raises
    ------
    BrokenLimitError
        If the engine cannot do it.
    """
    layer = network.layers[position]
    if TensorType.FLOAT32 in {network.tensors[i].type for i in layer.tensors.values()}:
        return _conversion(network, position)
    return byte_lookup(network, position, layer.tensors["input"])


def byte_lookup(network: Network, position: int, source: int) -> Operation:
    """Return a layer whose outputs depend on single bytes of one tensor.

    Parameters
    ----------
    network : Network
        The model.
    position : int
        Position of the layer.
    source : int
        The tensor.
    """
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

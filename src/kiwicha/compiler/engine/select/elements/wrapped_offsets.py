"""Bytes to which a constant is added without a clamp, in the engine's terms: SVDF has such."""

import numpy as np

from kiwicha.compiler.engine.ir.operations import Operation
from kiwicha.compiler.engine.ir.window import Window
from kiwicha.compiler.engine.select.convolutions.weighted import (
    WeightedLayer,
    depthwise_convolution,
)
from kiwicha.compiler.engine.select.elements.element_parts import one_scale
from kiwicha.compiler.lower.network import Network
from kiwicha.compiler.lower.tables import ALL_BYTES
from kiwicha.contract.engine import OUTPUT_BYTES
from kiwicha.program.weight_streams import Parameters

__all__ = ["wrapped_offset"]

_LOWEST_BYTE = (1 << 7, 24)
"""Multiplier and shift that leave the lowest byte: the others are shifted out on the left."""


def wrapped_offset(network: Network, position: int) -> Operation | None:
    """Return a layer whose table adds a constant modulo 256; None if its table does something else.

    A depthwise convolution of single bytes has it as bias. Its weights are one word, where a table
    has 2,048 bytes.

    Parameters
    ----------
    network : Network
        The model.
    position : int
        Position of a layer with the kernel LOOKUP.
    """
    layer = network.layers[position]
    table = layer.constants["table"].astype(np.int64)
    offset = int(table[0])
    channels = network.tensors[layer.tensors["output"]].shape[-1]
    adds = np.array_equal(table, (ALL_BYTES + offset).astype(np.int8))
    if not adds or channels % OUTPUT_BYTES:
        return None
    rows = network.tensors[layer.tensors["output"]].elements // channels
    scale = one_scale(OUTPUT_BYTES, *_LOWEST_BYTE)
    return depthwise_convolution(
        WeightedLayer(
            position=position,
            input=layer.tensors["input"],
            output=layer.tensors["output"],
            window=Window.of_pixels(rows, channels // OUTPUT_BYTES, OUTPUT_BYTES),
            parameters=Parameters(
                np.full(OUTPUT_BYTES, offset, np.int32), scale.multiplier, scale.shift
            ),
            input_zero_point=0,
            output_zero_point=0,
            clamp=(-128, 127),
        ),
        np.ones((1, 1, OUTPUT_BYTES), np.int16),
    )

"""QUANTIZE from int16 to int8 in the engine's terms: a sum of two bytes, each through a table."""

import numpy as np

from kiwicha.compiler.engine.ir.element_operations import Addition
from kiwicha.compiler.engine.ir.limits import limit, require
from kiwicha.compiler.engine.ir.move_operations import MoveOperation, moved
from kiwicha.compiler.engine.ir.operations import Operation, OperationSequence, internal_tensor
from kiwicha.compiler.engine.ir.strided_copies import Loop, StridedCopy
from kiwicha.compiler.engine.ir.window import Image
from kiwicha.compiler.engine.select.elements.element_parts import (
    element_window,
    is_wide,
    one_scale,
    table_pairs,
)
from kiwicha.compiler.lower.network import Network
from kiwicha.compiler.lower.tables import ALL_BYTES
from kiwicha.kernels.requantize import Requantize
from kiwicha.numerics.requantization import INT32_MAX

__all__ = ["SHORT_EDGE_LIMITS", "requantized_shorts"]

_SHORT_BYTES = 2
_INT8_CLAMP = (-128, 127)
_LARGEST_SHORT = 1 << 15


@limit("QUANTIZE")
def from_shorts_to_bytes(p: Requantize) -> str | None:
    """A QUANTIZE between integers goes from int16 to int8."""
    if (p.input_bytes, p.output_bytes) == (_SHORT_BYTES, 1):
        return None
    return f"goes from {8 * p.input_bytes} to {8 * p.output_bytes} bits"


@limit("QUANTIZE")
def sums_of_32_bits(p: Requantize) -> str | None:
    """Numbers of such a QUANTIZE, less the zero point, fit 32 bits when they are shifted left."""
    largest = _LARGEST_SHORT + abs(p.input_offset)
    if largest << max(p.shift, 0) <= INT32_MAX:
        return None
    return "has a scale with which numbers do not fit 32 bits"


SHORT_EDGE_LIMITS = (from_shorts_to_bytes, sums_of_32_bits)
"""What must hold for a QUANTIZE between integers."""


def requantized_shorts(network: Network, position: int) -> Operation:
    """Return a QUANTIZE from int16 to int8.

    Moves take the bytes of numbers apart. A table has what a lower byte counts, another one what an
    upper byte does, and the zero point.

    Parameters
    ----------
    network : Network
        The model.
    position : int
        Position of a layer with the kernel REQUANTIZE.

    Raises
    ------
    BrokenLimitError
        If the engine cannot do it.
    """
    layer = network.layers[position]
    p: Requantize = layer.params
    require(SHORT_EDGE_LIMITS, p)
    window = element_window(network, layer)
    source = layer.tensors["input"]
    image = Image(window.output_rows, window.output_columns, window.channels)
    parts = [_bytes_of(position, source, image, number) for number in range(_SHORT_BYTES)]
    lower = ALL_BYTES & 0xFF
    upper = (ALL_BYTES << 8) + p.input_offset
    ends = np.array([upper.min() + lower.min(), upper.max() + lower.max()])
    total = Addition(
        position=position,
        inputs=(parts[0].output, parts[1].output),
        output=layer.tensors["output"],
        window=window,
        output_channels=window.channels,
        parameters=one_scale(1, p.multiplier, p.shift),
        output_zero_point=p.output_offset,
        clamp=_INT8_CLAMP,
        is_wide=is_wide(ends, p.shift),
        tables=table_pairs(lower, upper),
    )
    return OperationSequence.of([*parts, total])


def _bytes_of(position: int, source: int, image: Image, number: int) -> MoveOperation:
    """Return the move of one byte of each number."""
    loops = (Loop(image.bytes, _SHORT_BYTES, 1),)
    copies = [StridedCopy(source, number, 0, loops, 1)]
    there = Image(image.rows, image.columns, _SHORT_BYTES * image.channels)
    return moved(position, copies, {source: there}, internal_tensor(position, number), image)

"""SOFTMAX of rows of two: their outputs are functions of the difference.

A convolution gives the differences, of four rows at a time, and a table the outputs. Differences
beyond int8 are limited to it, which is exact where outputs do not change there any more.
"""

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.engine.ir.limits import Limit, limit, require
from kiwicha.compiler.engine.ir.operations import Operation, OperationSequence, internal_tensor
from kiwicha.compiler.engine.ir.window import Image, Window
from kiwicha.compiler.engine.select.convolutions.weighted import WeightedLayer, convolution
from kiwicha.compiler.engine.select.elements.elementwise import table_lookup
from kiwicha.compiler.engine.select.reductions.sum_parts import uniform
from kiwicha.compiler.lower.network import Layer
from kiwicha.compiler.lower.tables import ALL_BYTES
from kiwicha.compiler.optimize.ranges import UNIT_SCALE

__all__ = ["PAIR_LIMITS", "pair_operation"]

_PAIR = 2
_MOST_PAIRS = 4
"""Pairs of a pixel: its bytes are a word."""
_INT8 = (-128, 127)


@limit("SOFTMAX")
def settled_outputs(outputs: NDArray[np.uint8]) -> str | None:
    """Outputs of a SOFTMAX of two values are the same from a difference of 127 on."""
    middle = len(outputs) // 2
    ends = outputs[: middle + _INT8[0] + 1], outputs[middle + _INT8[1] :]
    is_settled = all((end == end[0]).all() for end in ends)
    return None if is_settled else "has outputs that change beyond a difference of 127"


PAIR_LIMITS: tuple[Limit[NDArray[np.uint8]], ...] = (settled_outputs,)
"""What must hold for the outputs of pairs."""


def pair_operation(layer: Layer, position: int) -> Operation:
    """Return a SOFTMAX over two values as a convolution and a table.

    Raises
    ------
    BrokenLimitError
        If the engine cannot do it.
    """
    outputs = layer.constants["pairs"].astype(np.uint8)
    require(PAIR_LIMITS, outputs)
    rows = layer.params.rows
    count = next(k for k in (_MOST_PAIRS, 2, 1) if rows % k == 0)
    image = Image(rows // count, 1, count * _PAIR)
    differences = WeightedLayer(
        position=position,
        input=layer.tensors["input"],
        output=internal_tensor(position, 0),
        window=Window.of_pixels(image.rows, image.columns, image.channels),
        parameters=uniform(image.channels, UNIT_SCALE),
        input_zero_point=0,
        output_zero_point=0,
        clamp=_INT8,
    )
    weights = np.kron(np.eye(count), [[1, -1], [-1, 1]]).astype(np.int16)
    made = convolution(differences, weights[:, np.newaxis, np.newaxis])
    values = outputs.view(np.int8)[len(outputs) // 2 + ALL_BYTES]
    lookup = table_lookup(position, made.output, layer.tensors["output"], image, values)
    return OperationSequence.of([made, lookup])

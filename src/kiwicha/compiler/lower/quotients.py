"""Lowering of DIV of bytes by a constant: a table of the quotients of all bytes."""

import numpy as np

from kiwicha.compiler.lower.network import Layer
from kiwicha.compiler.lower.tables import ALL_BYTES, table_layer
from kiwicha.compiler.quantization.scales import activation_range, divided_scale
from kiwicha.compiler.tflite.graph import Graph, Operator
from kiwicha.compiler.tflite.tensor import quantization
from kiwicha.numerics.quotients import quotients

__all__ = ["lower_quotient"]


def lower_quotient(graph: Graph, operator: Operator) -> Layer:
    """Return the layer of a DIV of bytes."""
    first, second, output = graph.input(operator), graph.input(operator, 1), graph.output(operator)
    a, b, c = (quantization(tensor) for tensor in (first, second, output))
    scale = divided_scale(a, b, c)
    (divisor,) = second.integers()
    found = quotients(
        ALL_BYTES - a.zero_point, divisor - b.zero_point, scale.multiplier, scale.shift
    )
    limits = activation_range(operator.options.activation, c)
    return table_layer(operator, np.clip(found + c.zero_point, *limits))

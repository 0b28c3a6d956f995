"""Products of two tensors, or of a tensor and a constant for each channel, in the engine's terms.

A tensor of one pixel, such as the scales of squeeze and excitation, meets every pixel of the other
operand.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from kiwicha.compiler.engine.ir.element_operations import Multiplication
from kiwicha.compiler.engine.ir.limits import verify
from kiwicha.compiler.engine.ir.operations import Operation
from kiwicha.compiler.engine.select.convolutions.weighted import (
    WeightedLayer,
    depthwise_convolution,
)
from kiwicha.compiler.engine.select.elements.element_parts import is_wide, one_scale
from kiwicha.compiler.engine.select.elements.operands import Operands, Relation
from kiwicha.kernels.elementwise import Elementwise

__all__ = ["element_product", "tensor_product"]


def element_product(position: int, operands: Operands) -> Operation:
    """Return a MUL of what is not repeated; see `tensor_product`."""
    if operands.relation is Relation.CHANNELS:
        return _channel_product(position, operands)
    return tensor_product(position, operands, (operands.full.index, operands.other.index))


def _offsets(p: Elementwise, order: Sequence[int]) -> tuple[int, int]:
    """Return the offsets of the operands in another order."""
    first, second = ((p.offset_1, p.offset_2)[k] for k in order)
    return first, second


def tensor_product(
    position: int,
    operands: Operands,
    inputs: tuple[int, int],
    constants: Mapping[int, bytes] | None = None,
) -> Multiplication:
    """Return a MUL of two tensors; parameters are those of `element_sums.tensor_sum`."""
    layer = operands.layer
    p: Elementwise = layer.params
    is_flat = operands.relation is not Relation.ONE_PIXEL
    first, second = _offsets(p, operands.order)
    products = np.outer(*(np.array([-128, 127]) + offset for offset in (first, second)))
    window = operands.window
    found = Multiplication(
        position=position,
        inputs=inputs,
        constants=constants or {},
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


def _channel_product(position: int, operands: Operands) -> Operation:
    """Return a MUL by a constant for each channel, which is a depthwise one of 1x1 kernels."""
    layer = operands.layer
    p: Elementwise = layer.params
    channels = operands.window.channels
    first, second = _offsets(p, operands.order)
    values = operands.other.int8s().reshape(-1).astype(np.int16) + np.int16(second)
    weighted = WeightedLayer(
        position=position,
        input=operands.full.index,
        output=layer.tensors["output"],
        window=operands.window,
        parameters=one_scale(channels, p.output_multiplier, p.output_shift),
        input_zero_point=-first,
        output_zero_point=p.output_offset,
        clamp=(p.activation_min, p.activation_max),
        weight_zero_point=-second,
    )
    return depthwise_convolution(weighted, values.reshape(1, 1, channels))

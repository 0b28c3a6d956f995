"""PRELU with factors that are no single number, in the engine's terms: a product and a sum.

Products are as in a MUL, and only those of negative bytes count: where all factors have one sign,
limits of the product leave no others; else a table leaves what is negative of the input. A sum adds
the rest: its table has the scaled input, or nothing where it is negative. One of both is always 0.
"""

import dataclasses

import numpy as np

from kiwicha.compiler.engine.ir.element_operations import Addition
from kiwicha.compiler.engine.ir.limits import verify
from kiwicha.compiler.engine.ir.operations import Operation, OperationSequence, internal_tensor
from kiwicha.compiler.engine.select.elements.element_parts import one_scale, table_pairs
from kiwicha.compiler.engine.select.elements.elementwise import table_lookup
from kiwicha.compiler.engine.select.elements.operands import Operands
from kiwicha.compiler.lower.tables import ALL_BYTES
from kiwicha.compiler.optimize.ranges import UNIT_SCALE
from kiwicha.kernels.elementwise import Elementwise
from kiwicha.numerics.requantization import requantize, wrap_int32

__all__ = ["prelu"]

_NEGATIVE, _PRODUCT = 4, 5
"""Numbers of tensors in between; those below are of repeated operands."""


def prelu(position: int, operands: Operands, product: Operation) -> Operation:
    """Return a PRELU.

    Parameters
    ----------
    position : int
        Position of the layer.
    operands : Operands
        Its operands.
    product : Operation
        Products of the input, the first that it reads, and of the factors, as in a MUL.
    """
    p: Elementwise = operands.layer.params
    source, *factors = product.inputs
    negative, scaled = (internal_tensor(position, number) for number in (_NEGATIVE, _PRODUCT))
    clamp = _negative_clamp(operands)
    is_kept = ALL_BYTES + p.offset_1 >= 0
    limits = p.output_offset, p.activation_min, p.activation_max
    kept = requantize(ALL_BYTES + p.offset_1, p.multiplier_1, p.shift_1, *limits) - p.output_offset
    last = Addition(
        position=position,
        inputs=(source, scaled),
        output=operands.layer.tensors["output"],
        window=operands.window,
        output_channels=operands.window.channels,
        parameters=one_scale(1, *UNIT_SCALE),
        output_zero_point=0,
        clamp=(p.activation_min, p.activation_max),
        tables=table_pairs(np.where(is_kept, kept, 0), ALL_BYTES),
    )
    verify(last)
    if clamp is not None:
        products = dataclasses.replace(product, output=scaled, clamp=clamp)
        return OperationSequence.of([products, last])
    without = np.where(is_kept, -p.offset_1, ALL_BYTES)
    first = table_lookup(position, source, negative, product.output_image, without)
    products = dataclasses.replace(product, inputs=(negative, *factors), output=scaled)
    return OperationSequence.of([first, products, last])


def _negative_clamp(operands: Operands) -> tuple[int, int] | None:
    """Return limits that leave of all products those of negative bytes; None if there are none.

    They are the bytes on one side of the zero point where all factors have one sign.
    """
    p: Elementwise = operands.layer.params
    factors = operands.other.int8s() if operands.other.is_constant else ALL_BYTES
    factors = np.unique(factors).astype(np.int64) + p.offset_2
    values = (ALL_BYTES + p.offset_1)[:, np.newaxis]
    zero, low, high = p.output_offset, p.activation_min, p.activation_max
    products = wrap_int32(values * factors)
    outputs = requantize(products, p.output_multiplier, p.output_shift, zero, low, high)
    wanted = np.where(values < 0, outputs, zero)
    for clamp in ((low, zero), (zero, high)):
        if np.array_equal(np.clip(outputs, *clamp), wanted):
            return clamp
    return None

"""Sums of two tensors, or of a tensor and a constant for each channel, in the engine's terms.

SQUARED_DIFFERENCE is such a sum too, of which the requantizer scales the square.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.engine.ir.element_operations import Addition, TableLookup
from kiwicha.compiler.engine.ir.limits import verify
from kiwicha.compiler.engine.ir.operations import Operation
from kiwicha.compiler.engine.select.elements.element_parts import (
    is_wide,
    one_scale,
    table_pairs,
)
from kiwicha.compiler.engine.select.elements.operands import Operands, Relation
from kiwicha.compiler.lower.tables import ALL_BYTES
from kiwicha.compiler.optimize.byte_tables import sum_terms
from kiwicha.contract.program import Kernel
from kiwicha.kernels.elementwise import Elementwise
from kiwicha.program.weight_streams import Parameters

__all__ = ["element_sum", "tensor_sum"]


def element_sum(position: int, operands: Operands) -> Operation:
    """Return one of `SUMS` of what is not repeated; see `tensor_sum`."""
    if operands.relation is Relation.CHANNELS:
        return _channel_sum(position, operands)
    return tensor_sum(position, operands, (operands.full.index, operands.other.index))


def _channel_sum(position: int, operands: Operands) -> Operation:
    """Return one of `SUMS` with a constant by channel, which becomes a bias."""
    layer, order = operands.layer, operands.order
    p: Elementwise = layer.params
    values = [ALL_BYTES, ALL_BYTES]
    values[order[1]] = operands.other.int8s().reshape(-1).astype(np.int64)
    first, second, wide = _terms(operands, values)
    scale = one_scale(len(second), p.output_multiplier, p.output_shift)
    window = operands.window
    found = TableLookup(
        position=position,
        inputs=(operands.full.index,),
        output=layer.tensors["output"],
        window=window,
        output_channels=window.channels,
        parameters=Parameters(second.astype(np.int32), scale.multiplier, scale.shift),
        output_zero_point=p.output_offset,
        clamp=(p.activation_min, p.activation_max),
        is_by_channel=True,
        is_wide=wide,
        is_square=layer.kernel is Kernel.SQUARED_DIFFERENCE,
        tables=table_pairs(first, np.zeros_like(first)),
    )
    verify(found)
    return found


def tensor_sum(
    position: int,
    operands: Operands,
    inputs: tuple[int, int],
    constants: Mapping[int, bytes] | None = None,
) -> Addition:
    """Return one of `SUMS` of two tensors.

    Parameters
    ----------
    position : int
        Position of the layer.
    operands : Operands
        Its operands.
    inputs : tuple of int
        Tensors that are the operands, in `Operands.order`: of all pixels, but the second one may
        have a single pixel, which meets all of them.
    constants : mapping of int to bytes, optional
        What those of them hold that are constants.
    """
    layer = operands.layer
    p: Elementwise = layer.params
    is_flat = operands.relation is not Relation.ONE_PIXEL
    first, second, wide = _terms(operands, [ALL_BYTES, ALL_BYTES])
    window = operands.window
    found = Addition(
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
        is_wide=wide,
        is_square=layer.kernel is Kernel.SQUARED_DIFFERENCE,
        tables=table_pairs(first, second),
    )
    verify(found)
    return found


def _terms(
    operands: Operands, values: Sequence[NDArray[np.int64]]
) -> tuple[NDArray[np.int64], NDArray[np.int64], bool]:
    """Return what values of the two operands add to a sum, and whether sums are wide."""
    p: Elementwise = operands.layer.params
    terms = sum_terms(operands.layer.kernel, p, *values)
    first, second = (terms[k] for k in operands.order)
    ends = np.array([first.min() + second.min(), first.max() + second.max()])
    return first, second, is_wide(ends, p.output_shift)

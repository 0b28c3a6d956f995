"""MAXIMUM and MINIMUM of two tensors in the engine's terms: two sums.

The first sum is how much the second operand is above the first, or below it, but at least nothing;
the second adds that to the first operand, or subtracts it. Both are exact: all tensors have one
scale and zero point, and differences of two bytes that are not negative fit a byte.
"""

from collections.abc import Mapping

from kiwicha.compiler.engine.ir.element_operations import Addition
from kiwicha.compiler.engine.ir.limits import verify
from kiwicha.compiler.engine.ir.operations import Operation, OperationSequence, internal_tensor
from kiwicha.compiler.engine.select.elements.element_parts import one_scale, table_pairs
from kiwicha.compiler.engine.select.elements.operands import Operands, Relation
from kiwicha.compiler.lower.tables import ALL_BYTES
from kiwicha.compiler.optimize.ranges import UNIT_SCALE
from kiwicha.contract.program import Kernel
from kiwicha.kernels.elementwise import Elementwise

__all__ = ["comparison"]

_LEAST = -128
"""What stands for a difference of 0."""
_DIFFERENCE = 4
"""Number of the tensor of differences; those below are of repeated operands."""


def comparison(
    position: int,
    operands: Operands,
    inputs: tuple[int, int],
    constants: Mapping[int, bytes] | None = None,
) -> Operation:
    """Return a MAXIMUM or MINIMUM; parameters are those of `element_sums.tensor_sum`."""
    p: Elementwise = operands.layer.params
    sign = 1 if operands.layer.kernel is Kernel.MAXIMUM else -1
    full, other = inputs
    known = constants or {}
    difference = Addition(
        position=position,
        inputs=inputs,
        constants=known,
        output=internal_tensor(position, _DIFFERENCE),
        window=operands.window,
        output_channels=operands.window.channels,
        parameters=one_scale(1, *UNIT_SCALE),
        output_zero_point=_LEAST,
        clamp=(_LEAST, 127),
        is_by_channel=operands.relation is Relation.ONE_PIXEL,
        tables=table_pairs(-sign * ALL_BYTES, sign * ALL_BYTES),
    )
    verify(difference)
    chosen = Addition(
        position=position,
        inputs=(full, difference.output),
        constants={tensor: values for tensor, values in known.items() if tensor != other},
        output=operands.layer.tensors["output"],
        window=operands.window,
        output_channels=operands.window.channels,
        parameters=one_scale(1, *UNIT_SCALE),
        output_zero_point=0,
        clamp=(p.activation_min, p.activation_max),
        tables=table_pairs(ALL_BYTES, sign * (ALL_BYTES - _LEAST)),
    )
    return OperationSequence.of([difference, chosen])

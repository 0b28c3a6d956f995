"""MAXIMUM, MINIMUM and SQUARED_DIFFERENCE of two tensors in the engine's terms: sums of tables.

A sum gives by how much one operand is above the other, and nothing where it is not: an excess of 0
to 255, which a byte holds less 128. The larger of two bytes is the other one plus its excess. Of a
square one of the two excesses is 0, and the other one is the size of the difference.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.engine.ir.element_operations import Addition
from kiwicha.compiler.engine.ir.limits import Limit, limit, require, verify
from kiwicha.compiler.engine.ir.operations import Operation, OperationSequence, internal_tensor
from kiwicha.compiler.engine.select.elements.element_parts import is_wide, one_scale, table_pairs
from kiwicha.compiler.engine.select.elements.operands import Operands, Relation
from kiwicha.compiler.lower.tables import ALL_BYTES
from kiwicha.compiler.optimize.byte_tables import sum_terms
from kiwicha.compiler.optimize.ranges import UNIT_SCALE
from kiwicha.contract.program import Kernel
from kiwicha.kernels.elementwise import Elementwise
from kiwicha.numerics.requantization import requantize, wrap_int32

__all__ = ["SQUARE_LIMITS", "comparison", "squared_difference"]

Values = NDArray[np.int64]
LARGEST_EXCESS = 255
"""What a byte holds."""
_INT8 = (-128, 127)
_FIRST, _SECOND = 4, 5
"""Numbers of tensors of excesses; those below are of repeated operands."""


@dataclass(frozen=True, eq=False)
class Squares:
    """Outputs of a SQUARED_DIFFERENCE.

    Parameters
    ----------
    terms : tuple of int64 [256]
        What bytes of the two operands add to a difference, by unsigned byte, in common steps.
    outputs : int64 array
        By the size of a difference in these steps.
    """

    terms: tuple[Values, Values]
    outputs: Values


@limit("SQUARED_DIFFERENCE", most=LARGEST_EXCESS)
def settled_squares(item: Squares) -> str | None:
    """Outputs for two tensors are the same for all differences of {most} and more.

    Tensors with one scale and zero point have no larger ones. Others count in steps of the largest
    number that divides the scaled bytes of both.
    """
    ends = item.outputs[LARGEST_EXCESS:]
    if (ends == ends[:1]).all():
        return None
    largest = len(item.outputs) - 1
    return f"has outputs that change up to a difference of {largest:,} steps"


SQUARE_LIMITS: tuple[Limit[Squares], ...] = (settled_squares,)
"""What must hold for a SQUARED_DIFFERENCE of two tensors."""


def comparison(
    position: int,
    operands: Operands,
    inputs: tuple[int, int],
    constants: Mapping[int, bytes] | None = None,
) -> Operation:
    """Return a MAXIMUM or MINIMUM; parameters are those of `element_sums.tensor_sum`."""
    p: Elementwise = operands.layer.params
    sign = 1 if operands.layer.kernel is Kernel.MAXIMUM else -1
    sums = _Sums(position, operands, inputs, constants or {})
    excess = sums.excess(_FIRST, (-sign * ALL_BYTES, sign * ALL_BYTES))
    tables = ALL_BYTES, sign * (ALL_BYTES - _INT8[0])
    chosen = sums.last((inputs[0], excess.output), tables, 0, (p.activation_min, p.activation_max))
    return OperationSequence.of([excess, chosen])


def squared_difference(
    position: int,
    operands: Operands,
    inputs: tuple[int, int],
    constants: Mapping[int, bytes] | None = None,
) -> Operation:
    """Return a SQUARED_DIFFERENCE; parameters are those of `element_sums.tensor_sum`.

    Raises
    ------
    BrokenLimitError
        If the engine cannot do it.
    """
    p: Elementwise = operands.layer.params
    squares = _squares(operands)
    require(SQUARE_LIMITS, squares)
    sums = _Sums(position, operands, inputs, constants or {})
    first, second = squares.terms
    above = sums.excess(_FIRST, (first, -second))
    below = sums.excess(_SECOND, (-first, second))
    sizes = np.minimum(ALL_BYTES - _INT8[0], len(squares.outputs) - 1)
    zero = int(squares.outputs[0])
    table = squares.outputs[sizes] - zero
    clamp = p.activation_min, p.activation_max
    last = sums.last((above.output, below.output), (table, table), zero, clamp)
    return OperationSequence.of([above, below, last])


def _squares(operands: Operands) -> Squares:
    """Return the terms and the outputs of a SQUARED_DIFFERENCE."""
    p: Elementwise = operands.layer.params
    terms = sum_terms(operands.layer.kernel, p, ALL_BYTES, ALL_BYTES)
    step = np.gcd.reduce(np.concatenate(terms))
    first, second = (terms[k] // step for k in operands.order)
    largest = max(first.max() - second.min(), second.max() - first.min())
    squares = wrap_int32((np.arange(largest + 1, dtype=np.int64) * step) ** 2)
    limits = p.output_offset, p.activation_min, p.activation_max
    outputs = requantize(squares, p.output_multiplier, p.output_shift, *limits)
    return Squares((first, second), outputs)


@dataclass(frozen=True, eq=False)
class _Sums:
    """Sums of two bytes' entries in tables; fields are parameters of `comparison`."""

    position: int
    operands: Operands
    inputs: tuple[int, int]
    constants: Mapping[int, bytes]

    def excess(self, number: int, tables: tuple[Values, Values]) -> Addition:
        """Return sums of two tables, 0 instead of those less than 0, in a tensor of a number."""
        return self._sum(
            self.inputs,
            internal_tensor(self.position, number),
            tables,
            _INT8[0],
            _INT8,
            is_by_channel=self.operands.relation is Relation.ONE_PIXEL,
        )

    def last(
        self,
        inputs: tuple[int, int],
        tables: tuple[Values, Values],
        zero_point: int,
        clamp: tuple[int, int],
    ) -> Addition:
        """Return sums that are the layer's output."""
        output = self.operands.layer.tensors["output"]
        return self._sum(inputs, output, tables, zero_point, clamp)

    def _sum(
        self,
        inputs: tuple[int, int],
        output: int,
        tables: tuple[Values, Values],
        zero_point: int,
        clamp: tuple[int, int],
        *,
        is_by_channel: bool = False,
    ) -> Addition:
        first, second = tables
        ends = np.array([first.min() + second.min(), first.max() + second.max()])
        window = self.operands.window
        known = {tensor: values for tensor, values in self.constants.items() if tensor in inputs}
        found = Addition(
            position=self.position,
            inputs=inputs,
            constants=known,
            output=output,
            window=window,
            output_channels=window.channels,
            parameters=one_scale(1, *UNIT_SCALE),
            output_zero_point=zero_point,
            clamp=clamp,
            is_by_channel=is_by_channel,
            is_wide=is_wide(ends, UNIT_SCALE[1]),
            tables=table_pairs(first, second),
        )
        verify(found)
        return found

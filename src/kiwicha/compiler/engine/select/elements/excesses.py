"""MAXIMUM and MINIMUM of two tensors in the engine's terms: sums of tables.

A sum gives by how much one operand is above the other, and nothing where it is not: an excess of 0
to 255, which a byte holds less 128. The larger of two bytes is the other one plus its excess.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.engine.ir.element_operations import Addition
from kiwicha.compiler.engine.ir.limits import verify
from kiwicha.compiler.engine.ir.operations import Operation, OperationSequence, internal_tensor
from kiwicha.compiler.engine.select.elements.element_parts import is_wide, one_scale, table_pairs
from kiwicha.compiler.engine.select.elements.operands import Operands, Relation
from kiwicha.compiler.lower.tables import ALL_BYTES
from kiwicha.compiler.optimize.ranges import UNIT_SCALE
from kiwicha.contract.program import Kernel
from kiwicha.kernels.elementwise import Elementwise

__all__ = ["comparison"]

Values = NDArray[np.int64]
_INT8 = (-128, 127)
_EXCESS = 4
"""Number of the tensor of excesses; those below are of repeated operands."""


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
    excess = sums.excess((-sign * ALL_BYTES, sign * ALL_BYTES))
    tables = ALL_BYTES, sign * (ALL_BYTES - _INT8[0])
    chosen = sums.last((inputs[0], excess.output), tables, (p.activation_min, p.activation_max))
    return OperationSequence.of([excess, chosen])


@dataclass(frozen=True, eq=False)
class _Sums:
    """Sums of two bytes' entries in tables; fields are parameters of `comparison`."""

    position: int
    operands: Operands
    inputs: tuple[int, int]
    constants: Mapping[int, bytes]

    def excess(self, tables: tuple[Values, Values]) -> Addition:
        """Return sums of two tables, 0 instead of those less than 0."""
        return self._sum(
            self.inputs,
            internal_tensor(self.position, _EXCESS),
            tables,
            _INT8[0],
            _INT8,
            is_by_channel=self.operands.relation is Relation.ONE_PIXEL,
        )

    def last(
        self,
        inputs: tuple[int, int],
        tables: tuple[Values, Values],
        clamp: tuple[int, int],
    ) -> Addition:
        """Return sums that are the layer's output."""
        output = self.operands.layer.tensors["output"]
        return self._sum(inputs, output, tables, 0, clamp)

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

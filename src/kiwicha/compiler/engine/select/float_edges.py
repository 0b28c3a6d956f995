"""Float32 at the edges: conversions as operations, and regions in which transfers do them alone."""

import dataclasses
from collections.abc import Sequence, Set
from functools import lru_cache

from kiwicha.compiler.engine.ir.element_operations import FloatConversion
from kiwicha.compiler.engine.ir.move_operations import MoveOperation
from kiwicha.compiler.engine.ir.operations import Operation
from kiwicha.compiler.engine.ir.replacements import with_fields

__all__ = ["without_conversions"]


def without_conversions(members: Sequence[Operation], wanted: Set[int]) -> tuple[Operation, ...]:
    """Return the operations of a region without the conversions that its transfers do alone.

    What reads the result of a QUANTIZE then reads its input, and what writes the input of a
    DEQUANTIZE its output: inside the region the tensor of float32 is one of int8.

    Parameters
    ----------
    members : sequence of Operation
        What a region computes, in order.
    wanted : set of int
        Tensors that others need.
    """
    left = list(members)
    for item in members:
        if not isinstance(item, FloatConversion) or not item.keeps_bytes:
            continue
        (source,) = item.inputs
        inside = item.output if item.quantizes else source
        others = [other for other in left if other is not item]
        readers = [other for other in others if inside in other.inputs]
        writers = [other for other in others if other.output == inside]
        takers = readers if item.quantizes else writers
        if inside in wanted or not takers or (readers and writers):
            continue
        if item.edge.tensor not in {source, item.output} or any(
            isinstance(taker, MoveOperation) for taker in takers
        ):
            continue
        for number, taker in enumerate(takers):
            merged = item.positions if number == 0 else ()
            changed = _with_edge(taker, inside, item.edge.tensor, merged)
            others[others.index(taker)] = changed
        left = others
    return tuple(left)


@lru_cache(maxsize=1024)
def _with_edge(operation: Operation, inside: int, edge: int, merged: tuple[int, ...]) -> Operation:
    """Return an operation with another tensor; the same one for the same, as it is scheduled."""
    inputs = tuple(edge if tensor == inside else tensor for tensor in operation.inputs)
    output = edge if operation.output == inside else operation.output
    changed = with_fields(operation, inputs=inputs, output=output)
    return dataclasses.replace(changed, merged=(*merged, *operation.merged))

"""Gaps between pixels: operations whose output is moved together, for readers that need it so."""

from collections.abc import Mapping, Set
from functools import lru_cache

from kiwicha.compiler.engine.ir.move_operations import closing_gaps
from kiwicha.compiler.engine.ir.operations import (
    MAX_INTERNAL_TENSORS,
    Operation,
    OperationSequence,
    internal_tensor,
)
from kiwicha.compiler.engine.ir.replacements import with_fields

__all__ = ["close_gaps"]


def close_gaps(operations: Mapping[int, Operation], tensors: Set[int]) -> dict[int, Operation]:
    """Return operations of which some have a move behind them that leaves out gaps.

    Parameters
    ----------
    operations : mapping of int to Operation
        What the engine computes, by position.
    tensors : set of int
        What they write with gaps between pixels where readers need none.
    """
    return {
        position: _closed(operation, frozenset(written))
        if (written := {step.output for step in operation.steps} & tensors)
        else operation
        for position, operation in operations.items()
    }


# Regions of the same operations are scheduled once.
@lru_cache(maxsize=1024)
def _closed(operation: Operation, tensors: frozenset[int]) -> Operation:
    """Return an operation with moves behind the steps that write these tensors."""
    steps: list[Operation] = []
    for number, step in enumerate(operation.steps):
        if step.output not in tensors:
            steps.append(step)
            continue
        with_gaps = internal_tensor(operation.position, MAX_INTERNAL_TENSORS - 1 - number)
        steps += [with_fields(step, output=with_gaps), closing_gaps(step, with_gaps, step.output)]
    return OperationSequence.of(steps)

"""Operations with other tensors, limits or positions."""

import dataclasses
from typing import Any, TypeVar

from kiwicha.compiler.engine.ir.operations import DividedOperation, Operation
from kiwicha.compiler.engine.ir.window_operations import LongConvolution

__all__ = ["with_fields"]

Op = TypeVar("Op", bound=Operation)


def with_fields(operation: Op, **fields: Any) -> Op:
    """Return an operation with other values of fields that its pieces have as well.

    Parameters
    ----------
    operation : Operation
        No sequence, whose steps differ.
    **fields : Any
        Values by the name of the field.
    """
    whole = dataclasses.replace(operation, **fields)
    if not isinstance(whole, DividedOperation):
        return whole
    # Pieces of one operation stay pieces of one operation.
    parts = {part: dataclasses.replace(part, **fields) for part in whole.job_operations}
    pieces = (dataclasses.replace(p, operation=parts[p.operation]) for p in whole.pieces)
    if isinstance(whole, LongConvolution):
        whole = dataclasses.replace(whole, whole=dataclasses.replace(whole.whole, **fields))
    return dataclasses.replace(whole, pieces=tuple(pieces))

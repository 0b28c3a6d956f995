"""Tables that others can do: those of tables, and those that only limit what a layer gives.

A table whose only reader is a table job goes into that job's tables. A table that leaves bytes as
they are, but for the least and the largest ones, such as that of a RELU with its input's scale,
becomes the clamp of the layer before.
"""

import dataclasses
from collections.abc import Mapping

import numpy as np

from kiwicha.compiler.engine.ir.element_operations import TableLookup, TableOperation
from kiwicha.compiler.engine.ir.operations import Operation, OperationSequence
from kiwicha.compiler.engine.ir.replacements import with_fields
from kiwicha.compiler.lower.network import Network

__all__ = ["compose_tables"]


def compose_tables(network: Network, operations: Mapping[int, Operation]) -> dict[int, Operation]:
    """Return the operations without tables that others can do.

    Parameters
    ----------
    network : Network
        The model.
    operations : mapping of int to Operation
        What the engine computes, by position.
    """
    composed = dict(operations)
    for position in sorted(operations):
        operation = composed[position]
        if isinstance(operation, TableLookup) and operation.is_flat:
            producer = _only_for(network, composed, operation.inputs[0])
            if producer is not None and _limits(operation, producer):
                composed[position] = _limited(producer, operation)
                del composed[producer.position]
                continue
        if not isinstance(operation, TableOperation):
            continue
        for number in range(len(operation.inputs)):
            source = _only_for(network, composed, operation.inputs[number])
            if isinstance(source, TableLookup) and source.is_flat:
                operation = _composed(source, operation, number)
                composed[position] = operation
                del composed[source.position]
    _verify(network, composed)
    return composed


def _verify(network: Network, operations: Mapping[int, Operation]) -> None:
    """Assert that each layer is in one operation at most, and that read constants are known."""
    positions = [layer for operation in operations.values() for layer in operation.positions]
    assert len(set(positions)) == len(positions), "a layer is in two operations"
    steps = [step for operation in operations.values() for step in operation.steps]
    sources = {t for step in steps for t in step.inputs if t >= 0 and t not in step.constants}
    assert not any(network.tensors[tensor].is_constant for tensor in sources)


def _only_for(
    network: Network, operations: Mapping[int, Operation], tensor: int
) -> Operation | None:
    """Return the operation that writes a tensor with a single reader."""
    if network.readers(tensor) != 1:
        return None
    return next((item for item in operations.values() if item.output == tensor), None)


def _limits(lookup: TableLookup, producer: Operation) -> bool:
    """Whether a table only limits what its producer, whose results are clamped, can give."""
    last = producer.steps[-1]
    if isinstance(last, TableLookup) or not last.has_clamp:
        return False
    values = np.arange(producer.clamp[0], producer.clamp[1] + 1)
    results = lookup.tables[values.astype(np.int8).view(np.uint8), 0]
    return np.array_equal(results, values.clip(results[0], results[-1]))


def _limited(producer: Operation, lookup: TableLookup) -> Operation:
    """Return the producer with the limits of a table, in whose place it is."""
    if isinstance(producer, OperationSequence):
        *first, last = producer.sequence
        there = [_moved(step, lookup.position) for step in first]
        return OperationSequence.of([*there, _limited(last, lookup)])
    low, high = (int(lookup.tables[value & 0xFF, 0]) for value in producer.clamp)
    limited = with_fields(
        producer, position=lookup.position, output=lookup.output, clamp=(low, high)
    )
    merged = (*lookup.merged, *producer.merged, producer.position)
    return dataclasses.replace(limited, merged=merged)


def _moved(operation: Operation, position: int) -> Operation:
    """Return an operation in the place of another layer."""
    moved = with_fields(operation, position=position)
    return dataclasses.replace(moved, merged=(*operation.merged, operation.position))


def _composed(first: TableLookup, second: TableOperation, number: int) -> TableOperation:
    """Return ``second`` with ``first`` in place of its input ``number``."""
    tables = second.tables.copy()
    tables[:, number] = second.tables[first.tables[:, 0].astype(np.int8).view(np.uint8), number]
    inputs = list(second.inputs)
    inputs[number] = first.inputs[0]
    merged = (*first.merged, first.position, *second.merged)
    return dataclasses.replace(second, tables=tables, inputs=tuple(inputs), merged=merged)

"""Transpositions before products: the move to the order of weights reads what they read.

Streams are transposed matrices. What was transposed before goes there in whole pieces. Where that
is no faster, a move of its own is as good: jobs of others hide what it waits for.
"""

import dataclasses
import itertools
from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.engine.ir.move_operations import MoveOperation, moved
from kiwicha.compiler.engine.ir.operations import Operation, OperationSequence
from kiwicha.compiler.engine.ir.product_operations import ComputedProductOperation
from kiwicha.compiler.engine.ir.strided_copies import Loop, StridedCopy, in_order
from kiwicha.compiler.engine.schedule.estimates.operation_costs import move_cycles
from kiwicha.compiler.lower.network import Network

__all__ = ["compose_moves"]


def compose_moves(network: Network, operations: Mapping[int, Operation]) -> dict[int, Operation]:
    """Return the operations without transpositions that products with computed matrices can do.

    Parameters
    ----------
    network : Network
        The model.
    operations : mapping of int to Operation
        What the engine computes, by position.
    """
    left = dict(operations)
    for position in sorted(operations):
        operation = left[position]
        if not isinstance(operation.steps[-1], ComputedProductOperation):
            continue
        move = operation.steps[0]
        (source,) = (tensor for tensor in move.inputs if tensor not in move.constants)
        producer = next((item for item in left.values() if item.output == source), None)
        if not isinstance(producer, MoveOperation) or network.readers(source) != 1:
            continue
        found = _composed(operation, producer)
        if found is not None:
            left[position] = found
            del left[producer.position]
    return left


# Regions of the same operations are scheduled once.
@lru_cache(maxsize=1024)
def _composed(product: Operation, producer: MoveOperation) -> Operation | None:
    """Return a product whose move reads what another move reads; None if there is no such move."""
    move, *others = product.steps
    assert isinstance(move, MoveOperation)
    if len(producer.copies) > 1 or producer.constants or producer.place is not None:
        return None
    (inner,) = producer.copies
    if inner.source is None or inner.bytes != producer.output_image.bytes:
        return None
    copies = [
        composed(copy, inner) if copy.source == producer.output else copy for copy in move.copies
    ]
    if any(copy is None for copy in copies):
        return None
    images = {**move.images, inner.source: producer.images[inner.source]}
    made = moved(
        move.position,
        [copy for copy in copies if copy is not None],
        images,
        move.output,
        move.output_image,
        move.constants,
    )
    if move_cycles(made) >= move_cycles(move):
        return None
    merged = (*producer.merged, producer.position, *move.merged)
    made = dataclasses.replace(made, merged=merged, place=move.place)
    return OperationSequence.of([made, *others])


def composed(copy: StridedCopy, inner: StridedCopy) -> StridedCopy | None:
    """Return the copy from where another one has what this one reads; None if it is none.

    Parameters
    ----------
    copy : StridedCopy
        Reads what the other one writes.
    inner : StridedCopy
        Writes every byte of a tensor once.
    """
    dimensions = [*inner.loops, Loop(inner.piece_bytes, 1, 1)]
    loops: list[Loop] = []
    for loop in (*copy.loops, Loop(copy.piece_bytes, 1, 1)):
        parts = _parts(loop, dimensions)
        if parts is None:
            return None
        loops += parts
    ordered, piece = in_order(loops, 1)
    found = StridedCopy(
        inner.source, _source_of(inner, copy.source_start), copy.target_start, ordered, piece
    )
    return found if _is_same(found, copy, inner) else None


def _parts(loop: Loop, dimensions: Sequence[Loop]) -> list[Loop] | None:
    """Return loops through the source of a copy that go through its target as one loop does."""
    found: list[Loop] = []
    count, step, target = loop.count, loop.source, loop.target
    for dimension in reversed(dimensions):
        if count == 1:
            break
        times, rest = divmod(step, dimension.target)
        if rest or not times or times >= dimension.count:
            continue
        inside = min(dimension.count // times, count)
        if inside < count and (dimension.count % times or count % inside):
            return None
        found.append(Loop(inside, times * dimension.source, target))
        count, step, target = count // inside, step * inside, target * inside
    return found if count == 1 else None


def _source_of(copy: StridedCopy, target: int) -> int:
    """Return where a copy has a byte of its target from, which it writes without gaps."""
    place, rest = copy.source_start, target - copy.target_start
    for loop in copy.loops:
        index, rest = divmod(rest, loop.target)
        place += index * loop.source
    return place + rest


def _is_same(found: StridedCopy, copy: StridedCopy, inner: StridedCopy) -> bool:
    """Whether a copy does what two do, one behind the other: loops may not carry as they seem."""
    written = np.full(copy.target_span[1], -1, np.int64)
    sources, targets = _places(inner)
    between = np.empty(targets.max() + 1, np.int64)
    between[targets] = sources
    sources, targets = _places(copy)
    written[targets] = between[sources]
    sources, targets = _places(found)
    is_all = np.count_nonzero(written >= 0) == len(targets)
    return is_all and bool((written[targets] == sources).all())


def _places(copy: StridedCopy) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where each byte that a copy moves comes from, and where it goes."""
    sources = np.array([copy.source_start], np.int64)
    targets = np.array([copy.target_start], np.int64)
    for loop in itertools.chain(copy.loops, [Loop(copy.piece_bytes, 1, 1)]):
        steps = np.arange(loop.count)[:, np.newaxis]
        sources = (sources + steps * loop.source).reshape(-1)
        targets = (targets + steps * loop.target).reshape(-1)
    return sources, targets

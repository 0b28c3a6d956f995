"""The layout pass: from NCHW to NHWC without copies, as far as that goes.

Each layer that works on images gets its tensors with the channels last, as if it stood between two
transpositions. These are not written down but remembered as the order of an activation's
dimensions: layers that can do with any order keep it, TRANSPOSE changes nothing else, and what is
remembered becomes a copy only where a layer, or the model's edge, needs another order.
"""

import math
from collections.abc import Sequence

import numpy as np

from kiwicha.compiler.onnx.values import Activation
from kiwicha.compiler.onnx.writer import Writer

__all__ = ["arranged", "channels_last", "last", "plain", "reshaped", "settled", "transposed"]


def arranged(writer: Writer, source: Activation, order: Sequence[int]) -> Activation:
    """Return an activation with its dimensions stored in some order.

    Parameters
    ----------
    writer : Writer
        Gets what that takes: nothing, a RESHAPE or a TRANSPOSE.
    source : Activation
        In whatever order.
    order : sequence of int
        Dimensions of the shape, as they are to be stored.
    """
    source = settled(writer, source)
    order = tuple(order)
    if source.order == order:
        return source
    key = (source.tensor, source.shape, order)
    known = writer.arranged.get(key)
    if known is None:
        known = _arranged(writer, source, order)
        writer.arranged[key] = known
    return Activation(known.tensor, known.shape, known.order, source.reals)


def _arranged(writer: Writer, source: Activation, order: tuple[int, ...]) -> Activation:
    if _large(source.order, source.shape) == _large(order, source.shape):
        stored = tuple(source.shape[axis] for axis in order)
        if stored == source.stored:
            return Activation(source.tensor, source.shape, order, source.reals)
        return writer.moved("RESHAPE", source, source.shape, order, (writer.integers(stored),))
    permutation = [source.order.index(axis) for axis in order]
    return writer.moved("TRANSPOSE", source, source.shape, order, (writer.integers(permutation),))


def _large(order: Sequence[int], shape: Sequence[int]) -> list[int]:
    return [axis for axis in order if shape[axis] != 1]


def plain(writer: Writer, source: Activation) -> Activation:
    """Return an activation as ONNX stores it."""
    return arranged(writer, source, range(len(source.shape)))


def channels_last(writer: Writer, source: Activation) -> Activation:
    """Return an activation with its second dimension stored last."""
    rank = len(source.shape)
    return arranged(writer, source, (0, *range(2, rank), 1))


def last(writer: Writer, source: Activation, axis: int) -> Activation:
    """Return an activation with one dimension stored last, and the others as they are."""
    source = settled(writer, source)
    axis %= len(source.shape)
    return arranged(writer, source, (*(k for k in source.order if k != axis), axis))


def transposed(source: Activation, permutation: Sequence[int]) -> Activation:
    """Return a settled activation transposed: nothing but another order."""
    shape = tuple(source.shape[axis] for axis in permutation)
    order = tuple(list(permutation).index(axis) for axis in source.order)
    return Activation(source.tensor, shape, order, source.reals)


def settled(writer: Writer, source: Activation) -> Activation:
    """Return an activation whose features are in order."""
    if source.features is None:
        return source
    assert source.source is not None
    shape, order = source.source
    stored = [shape[axis] for axis in order]
    image = writer.moved("RESHAPE", source, shape, order, (writer.integers(stored),))
    permutation = [order.index(axis) for axis in range(len(shape))]
    straight = writer.moved(
        "TRANSPOSE", image, shape, range(len(shape)), (writer.integers(permutation),)
    )
    return _stored_as(writer, straight, source.shape, range(len(source.shape)))


def _stored_as(
    writer: Writer, source: Activation, shape: Sequence[int], order: Sequence[int]
) -> Activation:
    """Return the same bytes under another shape."""
    stored = [shape[axis] for axis in order]
    if tuple(stored) == writer.tensors[source.tensor].shape:
        return Activation(source.tensor, tuple(shape), tuple(order), source.reals)
    return writer.moved("RESHAPE", source, shape, order, (writer.integers(stored),))


def reshaped(writer: Writer, source: Activation, shape: Sequence[int]) -> Activation:
    """Return an activation under another shape, without a copy if its order allows it.

    Parameters
    ----------
    writer : Writer
        Gets a RESHAPE, and a TRANSPOSE if there is no other way.
    source : Activation
        In whatever order.
    shape : sequence of int
        With as many elements.
    """
    shape = tuple(shape)
    if shape == source.shape:
        return source
    source = settled(writer, source)
    order = _regrouped(source, shape)
    if order is not None:
        return _stored_as(writer, source, shape, order)
    if _is_flat(source, shape):
        return _flattened(writer, source, shape)
    return _stored_as(writer, plain(writer, source), shape, range(len(shape)))


def _regrouped(source: Activation, shape: tuple[int, ...]) -> list[int] | None:
    """Return the order of a new shape that leaves the bytes where they are; None if none does."""
    old = [axis for axis, size in enumerate(source.shape) if size != 1]
    new = [axis for axis, size in enumerate(shape) if size != 1]
    groups = _groups([source.shape[axis] for axis in old], [shape[axis] for axis in new])
    where = {axis: number for number, axis in enumerate(_large(source.order, source.shape))}
    placed = []
    for olds, news in groups:
        places = [where[old[k]] for k in olds]
        if places != list(range(places[0], places[0] + len(places))):
            return None
        placed.append((places[0], [new[k] for k in news]))
    large = [axis for _, axes in sorted(placed) for axis in axes]
    return [*(axis for axis, size in enumerate(shape) if size == 1), *large]


def _groups(old: Sequence[int], new: Sequence[int]) -> list[tuple[list[int], list[int]]]:
    """Return the smallest runs of sizes that have the same product."""
    groups, i, j = [], 0, 0
    while i < len(old) and j < len(new):
        olds, news = [i], [j]
        left, right = old[i], new[j]
        i, j = i + 1, j + 1
        while left != right:
            if left < right:
                left *= old[i]
                olds.append(i)
                i += 1
            else:
                right *= new[j]
                news.append(j)
                j += 1
        groups.append((olds, news))
    return groups


def _is_flat(source: Activation, shape: tuple[int, ...]) -> bool:
    """Return whether a shape is rows of all that an image has."""
    rest = math.prod(source.shape[1:])
    return len(shape) == 2 and shape == (source.shape[0], rest) and source.order[0] == 0


def _flattened(writer: Writer, source: Activation, shape: tuple[int, ...]) -> Activation:
    """Return rows whose elements stay where they are; a matrix behind them takes that over."""
    order = source.order[1:]
    positions = np.arange(shape[1]).reshape([source.shape[axis] for axis in order])
    features = positions.transpose([order.index(axis) for axis in sorted(order)]).reshape(-1)
    flat = writer.moved("RESHAPE", source, shape, (0, 1), (writer.integers(shape),))
    return Activation(
        flat.tensor, shape, (0, 1), flat.reals, features, (source.shape, source.order)
    )

"""Batches: independent inputs, one behind the other along the first dimension."""

from collections.abc import Sequence

import numpy as np

from kiwicha.interpreter.executors import Arrays

__all__ = ["Shape", "batch_of", "batch_shape", "joined", "split"]

Shape = tuple[int, ...]


def batch_of(shape: Shape, whole: Sequence[int]) -> int | None:
    """Return how many tensors of a shape make up a whole one; None if they cannot."""
    if tuple(whole) == shape:
        return 1
    if not shape or len(whole) != len(shape) or tuple(whole[1:]) != shape[1:]:
        return None
    count, rest = divmod(whole[0], shape[0])
    return count if count > 0 and not rest else None


def batch_shape(shape: Shape, count: int) -> Shape:
    """Return the shape of so many tensors together."""
    return (count * shape[0], *shape[1:]) if count > 1 else shape


def split(values: Arrays, count: int) -> list[Arrays]:
    """Return each set of inputs of a batch."""
    parts = [np.split(value, count) if count > 1 else [value] for value in values]
    return [[part[number] for part in parts] for number in range(count)]


def joined(sets: Sequence[Arrays]) -> Arrays:
    """Return sets of outputs as a batch."""
    if len(sets) == 1:
        return sets[0]
    return [np.concatenate(parts) for parts in zip(*sets, strict=True)]

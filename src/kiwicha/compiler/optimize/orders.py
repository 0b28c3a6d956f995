"""Orders of bytes: what a copy of a whole tensor to a whole tensor does, and chains of such."""

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kiwicha.compiler.lower.byte_copies import ByteCopy, byte_copy
from kiwicha.compiler.lower.views import View
from kiwicha.contract.program import MAX_RANK
from kiwicha.kernels.copy import Copy

__all__ = ["Order", "cut", "steps_between"]

_LONG_PIECE = 8
"""Bytes of a piece from which on longer ones are hardly faster."""


@dataclass(frozen=True)
class Order:
    """How the bytes of a tensor lie in another one of as many.

    Parameters
    ----------
    dimensions : tuple of (int, int, int)
        Number of steps, and their distance in the source and in the target; in descending
        distances of the target, and as few as can be.
    """

    dimensions: tuple[tuple[int, int, int], ...]

    @classmethod
    def of(cls, dimensions: Iterable[tuple[int, int, int]]) -> "Order":
        """Return the order with as few dimensions as can be."""
        ordered = sorted((item for item in dimensions if item[0] > 1), key=lambda item: -item[2])
        merged: list[tuple[int, int, int]] = []
        for count, source, target in ordered:
            if merged and merged[-1][1:] == (source * count, target * count):
                merged[-1] = (merged[-1][0] * count, source, target)
            else:
                merged.append((count, source, target))
        return cls(tuple(merged))

    @classmethod
    def of_copy(cls, p: Copy) -> "Order | None":
        """Return the order that a copy makes; None if it leaves out bytes, or repeats some."""
        steps = zip(p.shape, p.input_strides, p.output_strides, strict=True)
        dimensions = [item for item in (*steps, (p.piece_bytes, 1, 1)) if item[0] > 1]
        for side in (1, 2):
            size = 1
            for item in sorted(dimensions, key=lambda item: item[side]):
                if item[side] != size:
                    return None
                size *= item[0]
        return cls.of(dimensions)

    @property
    def is_same(self) -> bool:
        """Whether all bytes lie where they lay."""
        return all(source == target for _, source, target in self.dimensions)

    @property
    def inverse(self) -> "Order":
        """The order that undoes it."""
        return Order.of((count, target, source) for count, source, target in self.dimensions)

    @property
    def cost(self) -> float:
        """What it takes to copy so, in pieces of bytes; nothing if all bytes stay."""
        if self.is_same:
            return 0
        total = math.prod(count for count, _, _ in self.dimensions)
        count, source, target = self.dimensions[-1]
        piece = count if source == target == 1 else 1
        return total / min(piece, _LONG_PIECE)

    def then(self, other: "Order") -> "Order | None":
        """Return both after each other; None if that is no copy of few steps."""
        bounds = steps_between(
            [step for _, _, step in self.dimensions], [step for _, step, _ in other.dimensions]
        )
        if bounds is None:
            return None
        first = {item[2]: item for item in cut(self.dimensions, 2, bounds)}
        second = {item[1]: item for item in cut(other.dimensions, 1, bounds)}
        assert first.keys() == second.keys(), (self, other)
        return Order.of((n, source, second[step][2]) for step, (n, source, _) in first.items())

    def copy(self) -> ByteCopy | None:
        """Return the copy that makes it; None if it takes too many loops."""
        if len(self.dimensions) > MAX_RANK:
            return None
        counts, sources, targets = zip(*self.dimensions, strict=True)
        return byte_copy(View(counts, sources), View(counts, targets), 1)


def steps_between(*steps: Sequence[int]) -> list[int] | None:
    """Return the distances at which dimensions of several sides begin, in ascending order.

    None if one of them is no multiple of the one before, so that there are no common dimensions.
    """
    bounds = sorted({1}.union(*steps))
    pairs = itertools.pairwise(bounds)
    return bounds if all(high % low == 0 for low, high in pairs) else None


def cut(
    dimensions: Iterable[Sequence[int]], side: int, bounds: Sequence[int]
) -> list[tuple[int, ...]]:
    """Return dimensions cut at distances of one side.

    Parameters
    ----------
    dimensions : iterable of sequence of int
        Number of steps, and their distances on any number of sides.
    side : int
        Index of the distance that is meant.
    bounds : sequence of int
        From `steps_between`.
    """
    found = []
    for item in dimensions:
        step, end = item[side], item[0] * item[side]
        inner = [bound for bound in bounds if step <= bound < end]
        for low, high in itertools.pairwise([*inner, end]):
            factor = low // step
            found.append((high // low, *(factor * distance for distance in item[1:])))
    return found

"""Offsets for buffers of which some share no moment.

The plan is found by placing buffers one by one into the tightest gap that is free, in several
orders, and stops at the lower bound.
"""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from kiwicha.isa import ALIGNMENT_BYTES

__all__ = ["Buffer", "lower_bound", "place", "top_of"]

ATTEMPTS = 200
"""Orders that are tried after the first ones, each exchanging two buffers of the best so far."""
MAX_COMPARISONS = 4_000_000
"""Pairs of buffers compared in these attempts; a model with more buffers gets fewer attempts."""


@dataclass(frozen=True)
class Buffer:
    """A need for memory.

    Parameters
    ----------
    name : str
        For dumps.
    bytes : int
        Size.
    first, last : int
        First and last step that needs it; -1 is before the first step.
    """

    name: str
    bytes: int
    first: int
    last: int

    @property
    def aligned_bytes(self) -> int:
        """Size up to the next aligned offset."""
        return -(-self.bytes // ALIGNMENT_BYTES) * ALIGNMENT_BYTES

    def overlaps(self, other: "Buffer") -> bool:
        """Whether some step needs both."""
        return self.first <= other.last and other.first <= self.last


def lower_bound(buffers: Iterable[Buffer]) -> int:
    """Return the largest sum of bytes that one step needs."""
    changes: dict[int, int] = {}
    for buffer in buffers:
        changes[buffer.first] = changes.get(buffer.first, 0) + buffer.aligned_bytes
        changes[buffer.last + 1] = changes.get(buffer.last + 1, 0) - buffer.aligned_bytes
    live = bound = 0
    for step in sorted(changes):
        live += changes[step]
        bound = max(bound, live)
    return bound


def place(buffers: Sequence[Buffer], *, capacity: int = 0) -> list[int]:
    """Return an offset for each buffer, multiples of `ALIGNMENT_BYTES`, collision-free.

    Parameters
    ----------
    buffers : sequence of Buffer
        The needs.
    capacity : int
        A plan of this size is as good as a smaller one.
    """
    bound = max(lower_bound(buffers), capacity)
    numbers = range(len(buffers))
    orders = [
        sorted(numbers, key=lambda n: (-buffers[n].aligned_bytes, buffers[n].first)),
        sorted(
            numbers,
            key=lambda n: -buffers[n].aligned_bytes * (buffers[n].last - buffers[n].first + 1),
        ),
        sorted(numbers, key=lambda n: (buffers[n].first, -buffers[n].aligned_bytes)),
        sorted(numbers, key=lambda n: (-buffers[n].last, -buffers[n].aligned_bytes)),
    ]
    plans = [_place_in_order(buffers, order) for order in orders]
    best, offsets = min(zip(orders, plans, strict=True), key=lambda plan: top_of(buffers, plan[1]))
    # Seeded, and only by random(), whose numbers are the same in every version of Python.
    generator = random.Random(0)

    def pick(candidates: Sequence[int]) -> int:
        return candidates[int(generator.random() * len(candidates))]

    for _ in range(min(ATTEMPTS, MAX_COMPARISONS // max(len(buffers), 1) ** 2)):
        top = top_of(buffers, offsets)
        if top <= bound:
            break
        highest = max(best, key=lambda n: offsets[n] + buffers[n].aligned_bytes)
        rivals = [n for n in best if n != highest and buffers[n].overlaps(buffers[highest])]
        first, second = pick([highest, pick(rivals)]), pick(rivals)
        exchanged = {first: second, second: first}
        order = [exchanged.get(n, n) for n in best]
        candidate = _place_in_order(buffers, order)
        if top_of(buffers, candidate) <= top:
            best, offsets = order, candidate
    return offsets


def _place_in_order(buffers: Sequence[Buffer], order: Iterable[int]) -> list[int]:
    """Give each buffer the tightest gap that no placed buffer of an overlapping time takes."""
    firsts = np.array([buffer.first for buffer in buffers])
    lasts = np.array([buffer.last for buffer in buffers])
    sizes = np.array([buffer.aligned_bytes for buffer in buffers])
    offsets = np.zeros(len(buffers), np.int64)
    is_placed = np.zeros(len(buffers), bool)
    for number in order:
        buffer = buffers[number]
        others = np.flatnonzero(is_placed & (firsts <= buffer.last) & (lasts >= buffer.first))
        starts = offsets[others]
        taken = sorted(zip(starts.tolist(), (starts + sizes[others]).tolist(), strict=True))
        offsets[number] = _tightest_gap(taken, buffer.aligned_bytes)
        is_placed[number] = True
    return [int(offset) for offset in offsets]


def _tightest_gap(taken: Sequence[tuple[int, int]], size: int) -> int:
    end, best, best_size = 0, -1, 0
    for start, stop in taken:
        gap = start - end
        if gap >= size and (best < 0 or gap < best_size):
            best, best_size = end, gap
        end = max(end, stop)
    return end if best < 0 else best


def top_of(buffers: Sequence[Buffer], offsets: Sequence[int]) -> int:
    """Return the end of the last buffer."""
    return max(
        (offset + buffer.aligned_bytes for buffer, offset in zip(buffers, offsets, strict=True)),
        default=0,
    )

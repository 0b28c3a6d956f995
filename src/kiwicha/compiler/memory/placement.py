"""Offsets for buffers; those that are not needed at the same time may share bytes.

The plan is found by placing buffers one by one into the tightest gap that is free, in several
orders, and stops at the lower bound.
"""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from kiwicha.contract.cfu import ALIGNMENT_BYTES

__all__ = ["Buffer", "Slice", "lower_bound", "place", "top_of"]

ATTEMPTS = 200
"""Orders that are tried after the first ones, each exchanging two buffers of the best so far."""
MAX_COMPARISONS = 4_000_000
"""Pairs of buffers compared in these attempts; a model with more buffers gets fewer attempts."""


@dataclass(frozen=True)
class Slice:
    """Bytes of a buffer that are needed for part of its time.

    Parameters
    ----------
    offset, bytes : int
        Place in the buffer and size, both aligned.
    first, last : int
        First and last step that needs them.
    """

    offset: int
    bytes: int
    first: int
    last: int

    @property
    def end(self) -> int:
        """Where it ends in the buffer."""
        return self.offset + self.bytes


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
    slices : tuple of Slice
        What of it is needed when, if not all of it all the time. They have no byte in common.
    """

    name: str
    bytes: int
    first: int
    last: int
    slices: tuple[Slice, ...] = ()

    @property
    def aligned_bytes(self) -> int:
        """Size up to the next aligned offset."""
        return -(-self.bytes // ALIGNMENT_BYTES) * ALIGNMENT_BYTES

    @property
    def needs(self) -> tuple[Slice, ...]:
        """What is needed when."""
        return self.slices or (Slice(0, self.aligned_bytes, self.first, self.last),)

    def overlaps(self, other: "Buffer") -> bool:
        """Whether some step may need both."""
        return self.first <= other.last and other.first <= self.last


def lower_bound(buffers: Iterable[Buffer]) -> int:
    """Return the largest sum of bytes that one step needs."""
    changes: dict[int, int] = {}
    for need in (need for buffer in buffers for need in buffer.needs):
        changes[need.first] = changes.get(need.first, 0) + need.bytes
        changes[need.last + 1] = changes.get(need.last + 1, 0) - need.bytes
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
    sizes = [buffer.aligned_bytes for buffer in buffers]
    bound = max([lower_bound(buffers), capacity, *sizes])
    numbers = range(len(buffers))
    orders = [
        sorted(numbers, key=lambda n: (-sizes[n], buffers[n].first)),
        sorted(numbers, key=lambda n: -sizes[n] * (buffers[n].last - buffers[n].first + 1)),
        sorted(numbers, key=lambda n: (buffers[n].first, -sizes[n])),
        sorted(numbers, key=lambda n: (-buffers[n].last, -sizes[n])),
    ]
    placer = _Placer(buffers)
    plans = [placer.place(order) for order in orders]
    best, offsets = min(zip(orders, plans, strict=True), key=lambda plan: placer.top_of(plan[1]))
    # Seeded, and only by random(), whose numbers are the same in every version of Python.
    generator = random.Random(0)

    def pick(candidates: Sequence[int]) -> int:
        return candidates[int(generator.random() * len(candidates))]

    top = placer.top_of(offsets)
    for _ in range(min(ATTEMPTS, MAX_COMPARISONS // max(len(buffers), 1) ** 2)):
        if top <= bound:
            break
        highest = max(best, key=lambda n: offsets[n] + sizes[n])
        rivals = [n for n in best if n != highest and buffers[n].overlaps(buffers[highest])]
        first, second = pick([highest, pick(rivals)]), pick(rivals)
        exchanged = {first: second, second: first}
        order = [exchanged.get(n, n) for n in best]
        candidate = placer.place(order)
        candidate_top = placer.top_of(candidate)
        if candidate_top <= top:
            best, offsets, top = order, candidate, candidate_top
    return offsets


class _Placer:
    """Places of buffers for orders in which they are placed.

    Parameters
    ----------
    buffers : sequence of Buffer
        The needs.
    """

    def __init__(self, buffers: Sequence[Buffer]) -> None:
        self._needs = [buffer.needs for buffer in buffers]
        self._sizes = [buffer.aligned_bytes for buffer in buffers]
        needs = [(number, need) for number, found in enumerate(self._needs) for need in found]
        firsts = np.array([need.first for _, need in needs])
        lasts = np.array([need.last for _, need in needs])
        # Of each need, what is needed at the same time: whose it is, where in it, and its size.
        self._beside: list[list[list[tuple[int, int, int]]]] = [[] for _ in buffers]
        for number, need in needs:
            others = np.flatnonzero((firsts <= need.last) & (lasts >= need.first)).tolist()
            self._beside[number].append([
                (needs[other][0], needs[other][1].offset, needs[other][1].bytes)
                for other in others
                if needs[other][0] != number
            ])

    def place(self, order: Iterable[int]) -> list[int]:
        """Give each buffer the tightest gap that nothing placed of an overlapping time takes.

        One of several slices gets the first place where all of them are free.
        """
        offsets = [-1] * len(self._needs)
        for number in order:
            taken = [
                sorted(
                    (offsets[owner] + within, offsets[owner] + within + size)
                    for owner, within, size in beside
                    if offsets[owner] >= 0
                )
                for beside in self._beside[number]
            ]
            if len(taken) == 1:
                offsets[number] = _tightest_gap(taken[0], self._needs[number][0].bytes)
            else:
                offsets[number] = _first_place([
                    (start - need.offset - need.bytes, stop - need.offset)
                    for need, found in zip(self._needs[number], taken, strict=True)
                    for start, stop in found
                ])
        return offsets

    def top_of(self, offsets: Sequence[int]) -> int:
        """Return the end of the last buffer."""
        return max(
            (offset + size for offset, size in zip(offsets, self._sizes, strict=True)), default=0
        )


def _first_place(collisions: Iterable[tuple[int, int]]) -> int:
    """Return the first place that is inside none of these open intervals."""
    place = 0
    for start, stop in sorted(collisions):
        if start < place < stop:
            place = stop
    return place


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

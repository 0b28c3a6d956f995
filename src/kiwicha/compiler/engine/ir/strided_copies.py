"""Strided copies of bytes: what moves consist of, and parts of them."""

import dataclasses
import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

__all__ = ["Loop", "StridedCopy", "in_order", "repitched", "within"]


@dataclass(frozen=True)
class Loop:
    """A loop of a copy: how often it runs, and by how many bytes each time moves on."""

    count: int
    source: int
    target: int


@dataclass(frozen=True)
class StridedCopy:
    """Pieces of contiguous bytes that go from one tensor to another.

    Parameters
    ----------
    source : int or None
        The tensor that is read; None if all bytes become ``fill``.
    source_start, target_start : int
        Where the first piece lies in the two tensors.
    loops : tuple of Loop
        Outermost first, in descending steps of the target; the target's are not negative.
    piece_bytes : int
        Size of a piece.
    fill : int
        Value of all bytes, without a source.
    """

    source: int | None
    source_start: int
    target_start: int
    loops: tuple[Loop, ...]
    piece_bytes: int
    fill: int = 0

    @property
    def bytes(self) -> int:
        """Bytes that it writes."""
        size = self.piece_bytes
        for loop in self.loops:
            size *= loop.count
        return size

    @property
    def source_span(self) -> tuple[int, int]:
        """First byte that is read of the source, and the one behind the last."""
        steps = [(loop.count - 1) * loop.source for loop in self.loops]
        low = self.source_start + sum(step for step in steps if step < 0)
        return low, self.source_start + sum(s for s in steps if s > 0) + self.piece_bytes

    @property
    def target_span(self) -> tuple[int, int]:
        """First byte that is written of the target, and the one behind the last."""
        steps = sum((loop.count - 1) * loop.target for loop in self.loops)
        return self.target_start, self.target_start + steps + self.piece_bytes


def in_order(loops: Iterable[Loop], piece_bytes: int) -> tuple[tuple[Loop, ...], int]:
    """Return as few loops as do the same, in descending steps of the target, and their piece."""
    left = sorted((loop for loop in loops if loop.count > 1), key=lambda loop: -loop.target)
    while left and left[-1].source == left[-1].target == piece_bytes:
        piece_bytes *= left.pop().count
    merged: list[Loop] = []
    for loop in left:
        steps = loop.source * loop.count, loop.target * loop.count
        if merged and (merged[-1].source, merged[-1].target) == steps:
            merged[-1] = dataclasses.replace(loop, count=merged[-1].count * loop.count)
        else:
            merged.append(loop)
    return tuple(merged), piece_bytes


def within(copy: StridedCopy, low: int, high: int) -> Iterator[StridedCopy]:
    """Yield what a copy writes of the target's bytes from ``low`` up to ``high``."""
    start, end = copy.target_span
    if end <= low or high <= start:
        return
    if low <= start and end <= high:
        yield copy
        return
    if not copy.loops:
        first, last = max(low, start), min(high, end)
        is_fill = copy.source is None
        yield dataclasses.replace(
            copy,
            source_start=copy.source_start + (0 if is_fill else first - start),
            target_start=first,
            piece_bytes=last - first,
        )
        return
    outer, inner = copy.loops[0], copy.loops[1:]
    one = dataclasses.replace(copy, loops=inner)
    size = one.target_span[1] - start
    if not outer.target:
        # The same bytes again: it does not matter which of them comes last.
        yield from within(one, low, high)
        return
    first = max((low - start - size) // outer.target + 1, 0)
    last = min(-(-(high - start) // outer.target), outer.count)
    whole_first = max(-(-(low - start) // outer.target), 0)
    whole_last = min((high - start - size) // outer.target + 1, outer.count)
    if whole_first < whole_last:
        edges = [(first, whole_first), (whole_first, whole_last), (whole_last, last)]
    else:
        edges = [(first, last)]
    for begin, stop in edges:
        if begin >= stop:
            # What is asked for lies between two pieces, or there is no edge.
            continue
        if (begin, stop) == (whole_first, whole_last):
            loop = (dataclasses.replace(outer, count=stop - begin),) if stop - begin > 1 else ()
            yield _moved(dataclasses.replace(one, loops=(*loop, *inner)), outer, begin)
            continue
        for index in range(begin, stop):
            yield from within(_moved(one, outer, index), low, high)


def _moved(copy: StridedCopy, loop: Loop, index: int) -> StridedCopy:
    return dataclasses.replace(
        copy,
        source_start=copy.source_start + index * loop.source,
        target_start=copy.target_start + index * loop.target,
    )


def repitched(copy: StridedCopy, channels: int, pitch: int) -> list[StridedCopy] | None:
    """Return copies from a source whose pixels of ``channels`` bytes lie ``pitch`` bytes apart.

    None if its loops go on from pixel to pixel in another way than pixel by pixel.
    """
    if pitch == channels or copy.source is None:
        return [copy]
    found = [_pixel_by_pixel(part, channels, pitch) for part in _whole_pixels(copy, channels)]
    copies = [part for part in found if part is not None]
    return copies if len(copies) == len(found) else None


def _whole_pixels(copy: StridedCopy, channels: int) -> Iterator[StridedCopy]:
    """Yield copies of the parts of each piece: up to a pixel's end, whole pixels, and the rest."""
    first = copy.source_start % channels
    if first + copy.piece_bytes <= channels:
        yield copy
        return
    head = -first % channels
    ends = [0, head, head + (copy.piece_bytes - head) // channels * channels, copy.piece_bytes]
    for start, end in itertools.pairwise(ends):
        if start < end:
            yield dataclasses.replace(
                copy,
                source_start=copy.source_start + start,
                target_start=copy.target_start + start,
                piece_bytes=end - start,
            )


def _pixel_by_pixel(copy: StridedCopy, channels: int, pitch: int) -> StridedCopy | None:
    """Return a copy whose pieces are whole pixels, or within one, as `repitched` does."""
    pixel, first = divmod(copy.source_start, channels)
    loops, piece = list(copy.loops), copy.piece_bytes
    if piece > channels:
        loops.append(Loop(piece // channels, channels, channels))
        piece = channels
    inside, split = [], []
    for loop in loops:
        if loop.source % channels == 0:
            split.append(dataclasses.replace(loop, source=loop.source // channels * pitch))
        elif _is_row_of_pixels(loop, channels):
            count = channels // loop.source
            inside.append(Loop(count, loop.source, loop.target))
            outer = Loop(loop.count // count, pitch, count * loop.target)
            split += [outer, inside[-1]]
        else:
            inside.append(loop)
            split.append(loop)
    steps = [(loop.count - 1) * loop.source for loop in inside]
    low = first + sum(step for step in steps if step < 0)
    high = first + sum(step for step in steps if step > 0) + piece
    if low < 0 or high > channels:
        return None
    ordered, piece = in_order(split, piece)
    return dataclasses.replace(
        copy, source_start=pixel * pitch + first, loops=ordered, piece_bytes=piece
    )


def _is_row_of_pixels(loop: Loop, channels: int) -> bool:
    """Whether a loop goes through whole pixels, some bytes at a time."""
    return (
        loop.source > 0
        and channels % loop.source == 0
        and loop.count * loop.source > channels
        and loop.count * loop.source % channels == 0
    )

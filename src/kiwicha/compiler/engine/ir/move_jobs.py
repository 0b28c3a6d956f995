"""What MOVE jobs a copy takes: loops, pieces and tiles that fit a descriptor."""

import dataclasses
import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from kiwicha.compiler.engine.ir.strided_copies import Loop, StridedCopy
from kiwicha.contract.engine import LINE_BYTES, MAX_U16
from kiwicha.contract.moves import MOVE_LOOPS, TILE_COLUMNS, TILE_LOOPS, TILE_ROWS

__all__ = ["MoveJob", "move_jobs"]

MAX_COUNT = MAX_U16 + 1
"""Runs of a loop, and bytes of a piece, at most."""
_JOB_CYCLES = 24
"""What a further job takes."""


@dataclass(frozen=True)
class MoveJob:
    """What one job moves.

    Parameters
    ----------
    source, target : int
        Where the first byte is read and written.
    loops : tuple of Loop
        Outermost first; of tiles at most `TILE_LOOPS`, else `MOVE_LOOPS`.
    piece_bytes : int
        Bytes of a piece; of a tile its rows.
    tile : Loop or None
        Columns of a tile, and the steps from row to row of the source and from column to column of
        the target; None if nothing is transposed.
    is_fill : bool
        All bytes are the same.
    """

    source: int
    target: int
    loops: tuple[Loop, ...]
    piece_bytes: int
    tile: Loop | None = None
    is_fill: bool = False

    @property
    def pieces(self) -> int:
        """How many pieces, or tiles, there are."""
        return math.prod(loop.count for loop in self.loops)

    @property
    def lines(self) -> float:
        """Lines that it writes: cycles in which no transfer has the scratchpad's line port."""
        steps = [loop.target for loop in self.loops]
        if self.tile is None:
            return self.cycles
        steps.append(self.tile.target)
        return self.pieces * self.tile.count * _lines(self.target, steps, self.piece_bytes)

    @property
    def cycles(self) -> float:
        """What it takes, with pieces at any place in a line that its steps allow."""
        steps = [loop.target for loop in self.loops]
        if self.tile is None:
            return self.pieces * _lines(self.target, steps, self.piece_bytes)
        lines = _lines(self.target, [*steps, self.tile.target], self.piece_bytes)
        return self.pieces * max(self.piece_bytes, self.tile.count * lines)


def _lines(start: int, steps: Sequence[int], size: int) -> float:
    """Return the lines that a piece touches, on average."""
    unit = math.gcd(LINE_BYTES, *steps)
    places = range(start % unit, LINE_BYTES, unit)
    return sum(-(-(place + size) // LINE_BYTES) for place in places) / len(places)


def move_jobs(copy: StridedCopy) -> tuple[MoveJob, ...]:
    """Return the jobs that a copy takes."""
    # Copies alike that begin elsewhere take the same jobs: of stripes there are many.
    place = copy.target_start % LINE_BYTES
    source, target = copy.source_start, copy.target_start - place
    jobs = _jobs_of(dataclasses.replace(copy, source_start=0, target_start=place))
    return tuple(
        dataclasses.replace(
            job, source=job.source + (0 if job.is_fill else source), target=job.target + target
        )
        for job in jobs
    )


@lru_cache(maxsize=4096)
def _jobs_of(copy: StridedCopy) -> tuple[MoveJob, ...]:
    return tuple(_jobs(copy))


def _jobs(copy: StridedCopy) -> Iterator[MoveJob]:
    for part in _short(copy):
        tiled = _tiled(part) if part.piece_bytes == 1 and part.source is not None else None
        yield from [_plain(item) for item in _flat(part, MOVE_LOOPS)] if tiled is None else tiled


def _plain(copy: StridedCopy) -> MoveJob:
    is_fill = copy.source is None
    loops = (dataclasses.replace(k, source=0) for k in copy.loops) if is_fill else copy.loops
    return MoveJob(
        0 if is_fill else copy.source_start,
        copy.target_start,
        tuple(loops),
        copy.piece_bytes,
        is_fill=is_fill,
    )


def _short(copy: StridedCopy) -> Iterator[StridedCopy]:
    """Yield copies of pieces, and with loops, that a descriptor can count."""
    size = MAX_COUNT - LINE_BYTES
    if copy.piece_bytes > MAX_COUNT:
        count, left = divmod(copy.piece_bytes, size)
        loop = Loop(count, size, size)
        whole = dataclasses.replace(copy, loops=(*copy.loops, loop), piece_bytes=size)
        yield from _short(whole)
        if left:
            yield from _short(_behind(copy, count * size, count * size, copy.loops, left))
        return
    long = next((n for n, loop in enumerate(copy.loops) if loop.count > MAX_COUNT), None)
    if long is None:
        yield copy
        return
    loop = copy.loops[long]
    count, left = divmod(loop.count, size)
    outer = Loop(count, size * loop.source, size * loop.target)
    split = (*copy.loops[:long], outer, Loop(size, *_steps(loop)), *copy.loops[long + 1 :])
    yield from _short(dataclasses.replace(copy, loops=split))
    if left:
        rest = (*copy.loops[:long], Loop(left, *_steps(loop)), *copy.loops[long + 1 :])
        yield from _short(_behind(copy, *_steps(outer, count), rest, copy.piece_bytes))


def _steps(loop: Loop, count: int = 1) -> tuple[int, int]:
    return count * loop.source, count * loop.target


def _behind(
    copy: StridedCopy, source: int, target: int, loops: tuple[Loop, ...], piece_bytes: int
) -> StridedCopy:
    return dataclasses.replace(
        copy,
        source_start=copy.source_start + source,
        target_start=copy.target_start + target,
        loops=tuple(loop for loop in loops if loop.count > 1),
        piece_bytes=piece_bytes,
    )


def _flat(copy: StridedCopy, most: int) -> Iterator[StridedCopy]:
    """Yield copies of as many loops as a job has."""
    if len(copy.loops) <= most:
        yield copy
        return
    fewest = min(range(len(copy.loops)), key=lambda number: copy.loops[number].count)
    loop = copy.loops[fewest]
    others = (*copy.loops[:fewest], *copy.loops[fewest + 1 :])
    for index in range(loop.count):
        part = _behind(copy, *_steps(loop, index), others, copy.piece_bytes)
        yield from _flat(part, most)


def _tiled(copy: StridedCopy) -> list[MoveJob] | None:
    """Return jobs of tiles for single bytes; None if single bytes are as fast, or there are none.

    The columns of a tile are contiguous in the source, its rows in the target.
    """
    columns = next((loop for loop in copy.loops if loop.source == 1), None)
    rows = next((loop for loop in copy.loops if loop.target == 1), None)
    if columns is None or rows is None:
        return None
    others = [loop for loop in copy.loops if loop not in {columns, rows}]
    sizes = itertools.product(
        range(1, min(TILE_ROWS, rows.count) + 1), range(1, min(TILE_COLUMNS, columns.count) + 1)
    )
    found = [_tiles(copy, rows, columns, others, *size) for size in sizes]
    plain = [_plain(item) for item in _flat(copy, MOVE_LOOPS)]
    best = min(found, key=_cycles)
    return best if _cycles(best) < _cycles(plain) else None


def _cycles(jobs: Sequence[MoveJob]) -> float:
    return sum(job.cycles + _JOB_CYCLES for job in jobs)


def _tiles(
    copy: StridedCopy,
    rows: Loop,
    columns: Loop,
    others: Sequence[Loop],
    height: int,
    width: int,
) -> list[MoveJob]:
    """Return jobs of tiles of a size, and of what is left over at the ends."""
    jobs = []
    for row_part, size in _blocks(rows, height):
        for column_part, count in _blocks(columns, width):
            (row, row_blocks), (column, column_blocks) = row_part, column_part
            loops = [
                Loop(row_blocks, *_steps(rows, size)),
                Loop(column_blocks, *_steps(columns, count)),
                *others,
            ]
            steps = zip(_steps(rows, row), _steps(columns, column), strict=True)
            source, target = (sum(pair) for pair in steps)
            part = _behind(copy, source, target, tuple(loops), size)
            jobs += [
                MoveJob(
                    item.source_start,
                    item.target_start,
                    item.loops,
                    size,
                    Loop(count, rows.source, columns.target),
                )
                for item in _flat(part, TILE_LOOPS)
            ]
    return jobs


def _blocks(loop: Loop, size: int) -> list[tuple[tuple[int, int], int]]:
    """Return first index and number of blocks of a size, and of a smaller one at the end."""
    count, left = divmod(loop.count, size)
    found = [((0, count), size)] if count else []
    return [*found, ((count * size, 1), left)] if left else found

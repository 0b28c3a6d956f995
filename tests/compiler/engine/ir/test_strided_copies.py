"""Strided copies: every byte of them, and of parts of them, byte by byte."""

import itertools
import math
import random
from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from kiwicha.compiler.engine.codegen.moves import engine_move
from kiwicha.compiler.engine.ir.move_jobs import move_jobs
from kiwicha.compiler.engine.ir.strided_copies import (
    Loop,
    StridedCopy,
    in_order,
    repitched,
    within,
)
from kiwicha.contract.moves import EngineMove, MoveFlag
from kiwicha.sim.reference.engine_moves import move_bytes

SEEDS = range(200)


def strides_of(shape: Sequence[int]) -> list[int]:
    return [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]


def transposition(rng: random.Random, most: int = 5, largest: int = 6) -> StridedCopy:
    """Give the copy of a tensor to one with its dimensions in another order."""
    shape = [rng.randint(1, largest) for _ in range(rng.randint(1, most))]
    order = rng.sample(range(len(shape)), len(shape))
    sources = strides_of([shape[axis] for axis in order])
    loops = [
        Loop(count, sources[order.index(axis)], step)
        for axis, (count, step) in enumerate(zip(shape, strides_of(shape), strict=True))
    ]
    ordered, piece = in_order(loops, 1)
    return StridedCopy(0, 0, 0, ordered, piece)


def bytes_of(copy: StridedCopy) -> Iterator[tuple[int, int]]:
    """Yield target and source of every byte."""
    for indices in itertools.product(*(range(loop.count) for loop in copy.loops)):
        pairs = list(zip(indices, copy.loops, strict=True))
        source = copy.source_start + sum(index * loop.source for index, loop in pairs)
        target = copy.target_start + sum(index * loop.target for index, loop in pairs)
        for byte in range(copy.piece_bytes):
            yield target + byte, source + byte


@pytest.mark.parametrize("seed", SEEDS)
def test_parts_of_a_copy_are_its_bytes_in_a_range(seed: int) -> None:
    rng = random.Random(seed)
    copy = transposition(rng)
    whole = dict(bytes_of(copy))
    assert len(whole) == copy.bytes
    assert sorted(whole) == list(range(copy.bytes))
    low = rng.randrange(copy.bytes)
    high = rng.randint(low + 1, copy.bytes)
    found = [pair for part in within(copy, low, high) for pair in bytes_of(part)]
    assert len(found) == len(dict(found))
    assert dict(found) == {t: s for t, s in whole.items() if low <= t < high}
    for part in within(copy, low, high):
        targets, sources = zip(*bytes_of(part), strict=True)
        assert part.target_span == (min(targets), max(targets) + 1)
        assert part.source_span == (min(sources), max(sources) + 1)


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_is_written_between_pieces(seed: int) -> None:
    rng = random.Random(seed)
    piece, step = rng.randint(1, 4), rng.randint(4, 40)
    loops = (Loop(rng.randint(2, 4), 100, 5 * step), Loop(rng.randint(1, 4), 10, step))
    copy = StridedCopy(0, 0, rng.randint(0, 9), loops, piece)
    whole = dict(bytes_of(copy))
    low = rng.randrange(copy.target_span[1])
    high = low + rng.randint(1, 2 * step)
    found = [pair for part in within(copy, low, high) for pair in bytes_of(part)]
    assert dict(found) == {t: s for t, s in whole.items() if low <= t < high}
    assert len(found) == len(dict(found))


@pytest.mark.parametrize("seed", SEEDS)
def test_gaps_between_pixels_are_left_out(seed: int) -> None:
    rng = random.Random(seed)
    copy = transposition(rng)
    divisors = [size for size in range(1, copy.bytes + 1) if copy.bytes % size == 0]
    channels = rng.choice(divisors)
    pitch = channels + rng.randint(0, 3)
    found = repitched(copy, channels, pitch)
    if found is not None:
        wanted = {t: s // channels * pitch + s % channels for t, s in bytes_of(copy)}
        assert dict(every_byte(found)) == wanted
    start = rng.randrange(copy.bytes)
    whole = StridedCopy(0, start, start, (), copy.bytes - start)
    together = repitched(whole, channels, pitch)
    assert together is not None
    assert dict(every_byte(together)) == {
        t: t // channels * pitch + t % channels for t in range(start, copy.bytes)
    }


def every_byte(copies: Sequence[StridedCopy]) -> list[tuple[int, int]]:
    """Give target and source of every byte of copies, each once."""
    found = [pair for copy in copies for pair in bytes_of(copy)]
    assert len(found) == len(dict(found))
    return found


def moved(job: EngineMove) -> list[tuple[int, int]]:
    sources, targets = move_bytes(job)
    return list(zip(targets.reshape(-1).tolist(), sources.reshape(-1).tolist(), strict=True))


@pytest.mark.parametrize("seed", SEEDS)
def test_jobs_move_every_byte_once(seed: int) -> None:
    copy = transposition(random.Random(seed), most=6)
    jobs = move_jobs(copy)
    moves = [engine_move(job, 0, 1 << 20, 1 << 22) for job in jobs]
    found = [pair for move in moves for pair in moved(move)]
    assert len(found) == copy.bytes
    assert dict(found) == {t + (1 << 22): s + (1 << 20) for t, s in bytes_of(copy)}


def test_single_bytes_are_moved_in_tiles() -> None:
    planes = StridedCopy(0, 0, 0, (Loop(64, 1, 3), Loop(3, 64, 1)), 1)
    (job,) = move_jobs(planes)
    assert engine_move(job, 0, 0, 0).flags == MoveFlag.TILE
    # A tile of 3 rows and 4 columns takes 4 cycles, or more where pieces lie in two lines.
    assert 64 <= job.cycles < 80


@pytest.mark.parametrize(("piece", "loops"), [(200_000, ()), (16, (Loop(70_000, 48, 16),))])
def test_counts_that_no_field_holds_are_divided(piece: int, loops: tuple[Loop, ...]) -> None:
    copy = StridedCopy(0, 5, 7, loops, piece)
    targets = []
    for job in move_jobs(copy):
        move = engine_move(job, 0, 0, 0)
        assert EngineMove.unpack(move.pack()) == move
        targets.append(move_bytes(move)[1].reshape(-1))
    found = np.sort(np.concatenate(targets))
    assert np.array_equal(found, np.arange(7, 7 + copy.bytes))


def test_a_fill_stands_still_at_its_source() -> None:
    copy = StridedCopy(None, 0, 3, (Loop(5, 40, 40),), 21, fill=-7)
    (job,) = move_jobs(copy)
    move = engine_move(job, 0, 64, 128)
    sources, targets = move_bytes(move)
    assert move.flags == MoveFlag.FILL
    assert {*sources.reshape(-1).tolist()} == {64}
    assert sorted(targets.reshape(-1).tolist()) == [
        131 + 40 * row + byte for row in range(5) for byte in range(21)
    ]

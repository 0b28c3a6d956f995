"""The unit for softmax against its definition, and the cycles that it takes."""

import functools
from collections.abc import Sequence

import numpy as np
import pytest
from amaranth.sim import SimulatorContext

from kiwicha.compiler.engine.cost.job_work import job_work
from kiwicha.contract.engine import LINE_BYTES
from kiwicha.contract.latencies import (
    SCRATCHPAD_READ_CYCLES,
    SOFTMAX_DRAIN_CYCLES,
    SOFTMAX_START_CYCLES,
    WEIGHT_READ_CYCLES,
)
from kiwicha.gateware.engine.softmax.softmax_unit import SoftmaxUnit
from tests.gateware.engine.softmax_jobs import (
    Softmax,
    distances,
    exponentials,
    random_softmax,
    softmax_job,
)
from tests.support.choices import by_day
from tests.support.gateware.unit_simulation import UnitSimulation

SIZE = 16384
MACS = 64


@functools.cache
def simulation() -> UnitSimulation[SoftmaxUnit]:
    return UnitSimulation(SoftmaxUnit())


def read_at(memory: np.ndarray, address: int) -> int:
    """Return the 16 bytes at an address, which wraps."""
    return int.from_bytes(memory[(address + np.arange(LINE_BYTES)) % SIZE].tobytes(), "little")


def run(jobs: Sequence[tuple[Softmax, int, int]], memory: np.ndarray) -> list[int]:
    """Execute jobs on a memory of 16 KiB; return their cycles from the first read to the last."""
    unit = simulation().component
    taken: list[int] = []

    async def bench(ctx: SimulatorContext) -> None:
        for softmax, source, target in jobs:
            job = softmax_job(softmax, source, target, MACS)
            reads = [0] * SCRATCHPAD_READ_CYCLES
            entries = [0] * WEIGHT_READ_CYCLES
            ctx.set(unit.job.as_value(), int.from_bytes(job.pack(), "little"))
            ctx.set(unit.start, 1)
            cycle, working, writes = 0, [], []
            ends_at = None
            while ends_at is None or cycle <= ends_at:
                ctx.set(unit.read_data, read_at(memory, reads[0]))
                # What is not asked for may be anything.
                ctx.set(unit.exponential, int(softmax.table[entries[0]]))
                if softmax.distances is not None:
                    ctx.set(unit.distance, int(softmax.distances[entries[0]]))
                reads = [*reads[1:], ctx.get(unit.address)]
                entries = [*entries[1:], ctx.get(unit.difference)]
                assert ctx.get(unit.is_busy) == (cycle > 0 and ends_at is None) & (
                    1 - ctx.get(unit.done)
                )
                if ctx.get(unit.is_working):
                    working.append(cycle)
                if ctx.get(unit.done):
                    assert ends_at is None
                    ends_at = cycle + SCRATCHPAD_READ_CYCLES
                if ctx.get(unit.writes.valid):
                    writes.append(cycle)
                    write = unit.writes.payload
                    mask, line = ctx.get(write.mask), ctx.get(write.line) * LINE_BYTES
                    data = ctx.get(write.column) * (1 + (1 << 32) + (1 << 64) + (1 << 96))
                    for byte in range(LINE_BYTES):
                        if mask >> byte & 1:
                            memory[(line + byte) % SIZE] = data >> 8 * byte & 0xFF
                await ctx.tick()
                ctx.set(unit.start, 0)
                cycle += 1
            assert working == list(range(SOFTMAX_START_CYCLES, working[-1] + 1))
            assert writes[-1] == ends_at
            assert ends_at + 1 == working[-1] + SOFTMAX_DRAIN_CYCLES
            taken.append(len(working))

    simulation().run(bench)
    return taken


def check(jobs: Sequence[tuple[Softmax, int, int]], seed: int, choice: Sequence[int] = ()) -> None:
    """Execute jobs and compare the memory, whose bytes are drawn from a choice, and the cycles."""
    rng = np.random.default_rng(seed)
    memory = rng.choice(choice or range(256), SIZE).astype(np.uint8)
    expected = memory.copy()
    taken = run(jobs, memory)
    for softmax, source, target in jobs:
        softmax.apply(expected, source, target)
    wrong = np.flatnonzero(memory != expected)
    assert not len(wrong), f"{len(wrong)} bytes from {wrong[0]} differ"
    predicted = [job_work(softmax_job(*placed, MACS), MACS).cycles for placed in jobs]
    assert taken == predicted
    for (softmax, _, _), cycles in zip(jobs, taken, strict=True):
        # Rows of one are no rows of a model.
        assert cycles <= softmax.rows * (3 * max(softmax.depth, 2) + 40)


def one(depth: int, factor: float, zero_point: int = -128, rows: int = 1) -> Softmax:
    """Return rows without gaps; the zero point tells logarithms from probabilities."""
    logarithms = distances(factor) if zero_point in (127, -1) else None
    return Softmax(rows, depth, (depth, depth), exponentials(factor), zero_point, logarithms)


@pytest.mark.parametrize("seed", range(4))
def test_random_rows_at_any_address(seed: int) -> None:
    rng = np.random.default_rng(seed)
    jobs = [
        (
            random_softmax(rng, 300),
            int(rng.integers(SIZE // 2 - 1000)),
            SIZE // 2 + int(rng.integers(SIZE // 2 - 1000)),
        )
        for _ in range(6)
    ]
    # Two neighbouring values: many outputs are half a step from the next one.
    check(jobs, seed, () if seed % 2 else (3, 4, 120))


@pytest.mark.parametrize("depth", [1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 91])
@pytest.mark.parametrize("zero_point", [-128, 0, 127, -1])
def test_depths(depth: int, zero_point: int) -> None:
    check([(one(depth, 0.05, zero_point, rows=5), 33, SIZE // 2 + 6)], depth)


@pytest.mark.slow
@pytest.mark.parametrize("depth", by_day(1001, 4095))
@pytest.mark.parametrize("zero_point", [-128, 127])
@pytest.mark.parametrize(
    ("factor", "choice"),
    [(0.03, ()), (0.0, ()), (1.0, (0x80,)), (2.0, (0x80,) * 3000 + (0x7F,))],
    ids=["random", "sums of the depth", "all equal", "few large ones"],
)
def test_long_rows(depth: int, zero_point: int, factor: float, choice: tuple[int, ...]) -> None:
    # Sums of 512 and more give zeros, which 4,095 equal bytes do.
    check([(one(depth, factor, zero_point), 1, SIZE // 2 + 3)], depth, choice)


@pytest.mark.parametrize("depth", [510, 511, 512, 513])
def test_sums_around_the_last_that_counts(depth: int) -> None:
    memory = np.full(SIZE, 7, np.uint8)
    run([(one(depth, 1.0, 0), 0, SIZE // 2)], memory)
    # One 511th is 0.501 / 256: 1, if it is more than half a step.
    assert set(memory[SIZE // 2 :][:depth]) == {1 if depth < 512 else 0}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("zero_point", [-128, 127])
def test_random_sums(seed: int, zero_point: int) -> None:
    """Sums have random bits, where the last bit of the reciprocal or the logarithm counts."""
    rng = np.random.default_rng(seed)
    jobs = []
    for row in range(12):
        table = np.sort(rng.integers(0, 2**31, 256))[::-1].astype(np.int32)
        table[0] = 2**31 - 1
        depth = int(rng.choice((2, 3, 5, 40)))
        place = SIZE // 2 + 64 * row
        steps = rng.integers(0, 2**30, 256, endpoint=True).astype(np.int32)
        logarithms = None if zero_point == -128 else steps
        softmax = Softmax(1, depth, (depth, depth), table, zero_point, logarithms)
        jobs.append((softmax, 64 * row, place))
    check(jobs, seed)


def test_a_result_replaces_its_row() -> None:
    check([(one(5, 0.05, rows=20), 101, 101), (one(70, 0.05, rows=3), 1000, 1000)], 1)

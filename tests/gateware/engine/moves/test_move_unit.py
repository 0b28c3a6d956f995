"""The unit for moves against loops in Python, and the cycles that it takes."""

import functools
import math

import numpy as np
import pytest
from amaranth.sim import Simulator, SimulatorContext

from kiwicha.compiler.engine.cost.move_work import move_cycles
from kiwicha.contract.engine import LINE_BYTES
from kiwicha.contract.latencies import MOVE_START_CYCLES, SCRATCHPAD_READ_CYCLES
from kiwicha.contract.moves import EngineMove
from kiwicha.gateware.engine.moves.move_unit import MoveUnit
from kiwicha.gateware.engine.moves.piece_lines import PieceLines
from tests.gateware.engine.move_jobs import Move, move_job, move_schedule, random_move
from tests.support.gateware.unit_simulation import UnitSimulation

SIZE = 8192


@functools.cache
def simulation() -> UnitSimulation[MoveUnit]:
    return UnitSimulation(MoveUnit())


def read_at(memory: np.ndarray, address: int) -> int:
    """Return the 16 bytes at an address, which wraps."""
    return int.from_bytes(memory[(address + np.arange(LINE_BYTES)) % SIZE].tobytes(), "little")


def moved(jobs: list[EngineMove], memory: np.ndarray) -> list[int]:
    """Execute jobs on a memory of 8 KiB; return their cycles, from first read to last write."""
    unit = simulation().component
    taken: list[int] = []

    async def bench(ctx: SimulatorContext) -> None:
        reads = [0] * SCRATCHPAD_READ_CYCLES
        for job in jobs:
            ctx.set(unit.job.as_value(), int.from_bytes(job.pack(), "little"))
            ctx.set(unit.start, 1)
            cycle, ends_at, first = 0, None, None
            while ends_at is None or cycle <= ends_at:
                ctx.set(unit.read_data, read_at(memory, reads[0]))
                if first is None and ctx.get(unit.is_working):
                    first = cycle
                reads = [*reads[1:], ctx.get(unit.address)]
                if ctx.get(unit.done):
                    assert ends_at is None
                    ends_at = cycle + SCRATCHPAD_READ_CYCLES
                assert ctx.get(unit.is_busy) == (cycle > 0 and ends_at is None)
                if ctx.get(unit.writes.valid):
                    write = unit.writes.payload
                    mask, line = ctx.get(write.mask), ctx.get(write.line) * LINE_BYTES
                    data = ctx.get(unit.read_data)
                    if ctx.get(write.is_column):
                        data = ctx.get(write.column) * (1 + (1 << 32) + (1 << 64) + (1 << 96))
                    for byte in range(LINE_BYTES):
                        if mask >> byte & 1:
                            memory[(line + byte) % SIZE] = data >> 8 * byte & 0xFF
                    last = cycle
                await ctx.tick()
                ctx.set(unit.start, 0)
                cycle += 1
            assert first == MOVE_START_CYCLES
            assert last == ends_at
            taken.append(last - SCRATCHPAD_READ_CYCLES - first + 1)

    simulation().run(bench)
    return taken


def check(moves: list[tuple[Move, int, int]], seed: int) -> list[int]:
    """Execute moves one after the other and compare the memory; return their cycles."""
    memory = np.random.default_rng(seed).integers(0, 256, SIZE).astype(np.uint8)
    expected = memory.copy()
    jobs = [move_job(*placed) for placed in moves]
    taken = moved(jobs, memory)
    for move, source, target in moves:
        move.apply(expected, source, target)
    wrong = np.flatnonzero(memory != expected)
    assert not len(wrong), f"{len(wrong)} bytes from {wrong[0]} differ"
    return taken


def place(rng: np.random.Generator, move: Move) -> tuple[Move, int, int]:
    """Put the source into one half of the memory, and the target into the other."""
    halves = rng.permutation((0, SIZE // 2))
    starts = [
        int(half + rng.integers(0, SIZE // 2 - len(span) + 1)) - span.start
        for half, span in zip(halves, move.spans(), strict=True)
    ]
    return move, starts[0], starts[1]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_random_moves(seed: int) -> None:
    rng = np.random.default_rng(seed)
    check([place(rng, random_move(rng)) for _ in range(8)], seed)


def test_a_fill_repeats_a_byte() -> None:
    # Each source is a line of its own, in which no target lies.
    moves = [
        (Move((1, 2, 1, 2), (0, 16, 0, 32), (0, 64, 0, 300), piece, is_fill=True), 8, target)
        for piece, target in ((1, 1001), (16, 2003), (50, 3007))
    ]
    memory = np.zeros(SIZE, np.uint8)
    memory[8:72] = np.repeat(np.arange(7, 11), 16)
    expected = memory.copy()
    for placed in moves:
        placed[0].apply(expected, *placed[1:])
    moved([move_job(*placed) for placed in moves], memory)
    assert (memory == expected).all()


def transposed(rows: int, columns: int, *, tile: tuple[int, int] = (4, 4)) -> Move:
    """Return a move from int8 [rows, columns] to [columns, rows]."""
    counts = (1, rows // tile[0], columns // tile[1], tile[1])
    return Move(
        counts,
        (0, tile[0] * columns, tile[1], columns),
        (0, tile[0], tile[1] * rows, rows),
        tile[0],
        is_tile=True,
    )


RATES = {
    "lines": (Move((1, 1, 8, 8), (0, 0, 256, 16), (0, 0, 128, 16), 16), 0, 16.0),
    "runs of 16 across lines": (Move((1, 1, 8, 8), (0, 0, 256, 16), (0, 0, 256, 32), 16), 9, 8.0),
    "runs of 100": (Move((1, 1, 2, 8), (0, 0, 900, 112), (0, 0, 900, 100), 100), 3, 12.0),
    "runs of 8": (Move((1, 1, 8, 8), (0, 0, 72, 9), (0, 0, 64, 8), 8), 0, 8.0),
    "runs of 8, any alignment": (Move((1, 1, 8, 8), (0, 0, 72, 9), (0, 0, 72, 9), 8), 0, 5.0),
    "3 planes to pixels": (transposed(3, 256, tile=(3, 4)), 0, 2.6),
    "pixels to 3 planes": (transposed(256, 3, tile=(4, 3)), 0, 2.9),
    "4 planes to pixels": (transposed(4, 256), 0, 3.9),
    "4 planes to pixels, any alignment": (transposed(4, 256), 3, 3.1),
    "8 x 8": (transposed(8, 8), 0, 2.5),
    "64 x 16": (transposed(64, 16), 0, 3.9),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", RATES)
def test_bytes_per_cycle(name: str) -> None:
    move, place, least = RATES[name]
    job = move_job(move, 5, SIZE // 2 + place)
    (cycles,) = check([(move, 5, SIZE // 2 + place)], 1)
    rate = math.prod(move.counts) * move.piece / cycles
    assert rate >= least, f"{rate:.2f} bytes per cycle"
    # The tiles' slots smooth out what crosses lines, but not all of it.
    assert move_cycles(job) == pytest.approx(cycles, rel=0.02, abs=2)


@pytest.mark.parametrize("seed", range(30))
def test_cycles_are_as_predicted(seed: int) -> None:
    """The order of work that the data path's bench finds is what the compiler reckons with."""
    rng = np.random.default_rng(seed)
    move = random_move(rng)
    target = int(rng.integers(16))
    reads, writes = move_schedule(move, target, -MOVE_START_CYCLES)
    cycles = move_cycles(move_job(move, 0, target))
    assert cycles == pytest.approx(max(*reads, *writes) + 1, rel=0.05, abs=4)


def test_the_longest_piece_has_a_line_more_than_its_bytes_fill() -> None:
    target, size = 8 * LINE_BYTES + 1, 1 << 16
    dut = PieceLines()

    async def bench(ctx: SimulatorContext) -> None:
        ctx.set(dut.target, target)
        ctx.set(dut.last_byte, size - 1)
        await ctx.tick()
        ctx.set(dut.takes, 1)
        for number in range(size // LINE_BYTES + 1):
            is_last = number == size // LINE_BYTES
            assert ctx.get(dut.is_last) == is_last
            assert ctx.get(dut.line) == target // LINE_BYTES + number
            edges = 0 if number else 1, 0 if is_last else LINE_BYTES - 1
            assert (ctx.get(dut.low), ctx.get(dut.high)) == edges
            await ctx.tick()
        # The next one begins.
        assert not ctx.get(dut.is_last)
        assert ctx.get(dut.line) == target // LINE_BYTES

    simulator = Simulator(dut)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()

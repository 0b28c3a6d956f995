"""The unit for steps of LSTMs against their definition, and the cycles that it takes."""

import dataclasses
import functools
from collections.abc import Sequence

import numpy as np
import pytest
from amaranth.sim import SimulatorContext

from kiwicha.contract.engine import LINE_BYTES
from kiwicha.contract.latencies import (
    RECURRENT_DRAIN_CYCLES,
    RECURRENT_SHORT_CYCLES,
    RECURRENT_START_CYCLES,
    RECURRENT_UNIT_CYCLES,
    RECURRENT_WRITES,
    SCRATCHPAD_READ_CYCLES,
)
from kiwicha.gateware.engine.recurrent.recurrent_unit import RecurrentUnit
from kiwicha.numerics.lstm_steps import CellScales
from tests.gateware.engine.recurrence_jobs import (
    Places,
    Recurrence,
    random_recurrence,
    recurrence_job,
)
from tests.support.choices import at_night, by_day
from tests.support.gateware.unit_simulation import UnitSimulation

SIZE = 16384
PART = SIZE // 8
"""Places are in parts of the memory of their own."""
SCALES = CellScales(
    cell_exponent=-11,
    cell_min=-(2**15),
    cell_max=2**15 - 1,
    hidden_multiplier=1 << 30,
    hidden_shift=-21,
    hidden_offset=0,
)
SHORTS = dataclasses.replace(SCALES, hidden_shift=-13, hidden_min=-(2**15), hidden_max=2**15 - 1)
"""Those of a hidden state of int16, of which some are limited."""


@functools.cache
def simulation() -> UnitSimulation[RecurrentUnit]:
    return UnitSimulation(RecurrentUnit())


def read_at(memory: np.ndarray, address: int) -> int:
    """Return the 16 bytes at an address, which wraps."""
    return int.from_bytes(memory[(address + np.arange(LINE_BYTES)) % SIZE].tobytes(), "little")


def run(jobs: Sequence[tuple[Recurrence, Places]], memory: np.ndarray) -> None:
    """Execute jobs on a memory of 16 KiB, and check when things happen."""
    unit = simulation().component

    async def bench(ctx: SimulatorContext) -> None:
        for number, (step, at) in enumerate(jobs):
            reads = [0] * SCRATCHPAD_READ_CYCLES
            raw = recurrence_job(step, at).pack()
            ctx.set(unit.job.as_value(), int.from_bytes(raw, "little"))
            ctx.set(unit.start, 1)
            cycle, working, writes = 0, [], []
            ends_at = None
            while ends_at is None or cycle <= ends_at:
                ctx.set(unit.read_data, read_at(memory, reads[0]))
                reads = [*reads[1:], ctx.get(unit.address)]
                is_busy = cycle > 0 and ends_at is None and not ctx.get(unit.done)
                assert ctx.get(unit.is_busy) == is_busy
                if ctx.get(unit.is_working):
                    working.append(cycle)
                if ctx.get(unit.done):
                    assert ends_at is None
                    ends_at = cycle + SCRATCHPAD_READ_CYCLES
                if ctx.get(unit.writes.valid):
                    writes.append(cycle)
                    write = unit.writes.payload
                    assert ctx.get(write.is_column)
                    mask, line = ctx.get(write.mask), ctx.get(write.line) * LINE_BYTES
                    data = ctx.get(write.column) * (1 + (1 << 32) + (1 << 64) + (1 << 96))
                    for byte in range(LINE_BYTES):
                        if mask >> byte & 1:
                            memory[(line + byte) % SIZE] = data >> 8 * byte & 0xFF
                await ctx.tick()
                ctx.set(unit.start, 0)
                cycle += 1
            size = step.units * RECURRENT_UNIT_CYCLES
            more = RECURRENT_SHORT_CYCLES if step.upper_step else 0
            assert working == list(range(RECURRENT_START_CYCLES, RECURRENT_START_CYCLES + size))
            assert len(writes) == step.units * (RECURRENT_WRITES + more)
            assert writes[-1] == ends_at
            assert ends_at + 1 == working[-1] + RECURRENT_DRAIN_CYCLES + more
            # The next one can begin at once.
            for _ in range(number % 4):
                assert not ctx.get(unit.writes.valid)
                await ctx.tick()

    simulation().run(bench)


def check(jobs: Sequence[tuple[Recurrence, Places]], memory: np.ndarray) -> None:
    """Execute jobs and compare the memory."""
    expected = memory.copy()
    run(jobs, memory)
    for step, at in jobs:
        step.apply(expected, at)
    wrong = np.flatnonzero(memory != expected)
    assert not len(wrong), f"{len(wrong)} bytes from {wrong[0]} differ"


def random_places(rng: np.random.Generator, step: Recurrence) -> Places:
    """Return places at any bytes, those of int16 at any two."""
    parts = rng.permutation(5)
    room = PART - step.sum_bytes
    input_sums, hidden_sums, output, hidden = (
        int(part) * PART + int(rng.integers(room)) for part in parts[:4]
    )
    cell = int(parts[4]) * PART + 2 * int(rng.integers(room // 2))
    return Places(input_sums, hidden_sums, output // step.octets * step.octets, hidden, cell)


@pytest.mark.parametrize("seed", by_day(0, 1, 2, 3, 4, 5, 6, 7))
@pytest.mark.parametrize("is_short", [False, True], ids=["int8", "int16"])
def test_random_steps_at_any_address(seed: int, is_short: bool) -> None:
    rng = np.random.default_rng(seed)
    steps = [random_recurrence(rng, 40, is_short=is_short) for _ in range(6)]
    memory = rng.integers(0, 256, SIZE).astype(np.uint8)
    check([(step, random_places(rng, step)) for step in steps], memory)


@pytest.mark.parametrize("units", [1, 2, 3])
@pytest.mark.parametrize("upper_step", [0, 3], ids=["int8", "int16"])
def test_few_units(units: int, upper_step: int) -> None:
    rng = np.random.default_rng(units)
    memory = rng.integers(0, 256, SIZE).astype(np.uint8)
    step = Recurrence(units, 16, SHORTS if upper_step else SCALES, upper_step)
    check([(step, random_places(rng, step)) for _ in range(3)], memory)


@pytest.mark.parametrize(
    ("exponent", "upper_step"),
    # Of each scale by day one type of the hidden state, at night the other one.
    [(exponent, 24 * (exponent % 2)) for exponent in range(-15, 1)]
    + [at_night((exponent, 24 * (1 - exponent % 2))) for exponent in range(-15, 1)],
)
def test_edges_of_sums_and_scales(exponent: int, upper_step: int) -> None:
    # Sums at the ends of their range and around points of the functions; states likewise.
    edges = [0, 1, -1, 2**15 - 1, -(2**15), 2**14, -(2**14), 170, 171, -171, 21845, 21846, -21846]
    rng = np.random.default_rng(exponent + 15)
    units = 24
    memory = np.zeros(SIZE, np.uint8)
    jobs = []
    scales = dataclasses.replace(SHORTS if upper_step else SCALES, cell_exponent=exponent)
    step = Recurrence(units, 4 * units, scales, upper_step)
    for number in range(2):
        first = number * SIZE // 2
        for plane in range(2):
            values = rng.choice(edges, 4 * units).astype("<i2").view(np.uint8).reshape(-1, 2)
            start = first + plane * 1000
            memory[start : start + 4 * units] = values[:, 1]
            memory[start + 4 * units : start + 8 * units] = values[:, 0]
        cell = first + 4000
        memory[cell : cell + 2 * units] = rng.choice(edges, units).astype("<i2").view(np.uint8)
        jobs.append((step, Places(first, first + 1000, first + 2002, first + 3003, cell)))
    check(jobs, memory)


def test_halves_of_hidden_states_go_away_from_zero() -> None:
    # Nothing enters, and half of the tanh of a small cell state leaves.
    least, most = -(2**15), 2**15 - 1
    units = 120
    scales = CellScales(-15, least, most, 1 << 30, -14, 0)
    memory = np.zeros(SIZE, np.uint8)
    sums = np.tile(np.array([least, most, 0, 0], "<i2"), units).view(np.uint8).reshape(-1, 2)
    memory[: 4 * units], memory[4 * units : 8 * units] = sums[:, 1], sums[:, 0]
    cells = np.arange(-units // 2, units // 2).astype("<i2")
    at = Places(0, 2048, 4096, 5000, 6000)
    memory[at.cell : at.cell + 2 * units] = cells.view(np.uint8)
    check([(Recurrence(units, 4 * units, scales), at)], memory)
    found = memory[at.output : at.output + units].view(np.int8)
    assert len({*found.tolist()}) > 8


def test_hidden_states_of_int16_are_limited_at_both_ends() -> None:
    # Sums and cell states at the ends give products of nearly one, which count twice.
    units = 20
    memory = np.zeros(SIZE, np.uint8)
    sums = np.tile(np.full(4, 2**15 - 1, "<i2"), units).view(np.uint8).reshape(-1, 2)
    memory[: 4 * units], memory[4 * units : 8 * units] = sums[:, 1], sums[:, 0]
    at = Places(0, 2048, 4096, 5000, 6000)
    cells = np.where(np.arange(units) % 2, 2**15 - 1, -(2**15)).astype("<i2")
    memory[at.cell : at.cell + 2 * units] = cells.view(np.uint8)
    check([(Recurrence(units, 4 * units, SHORTS, 32), at)], memory)
    found = memory[at.output : at.output + 2 * units].view("<i2")
    assert {*found.tolist()} == {-(2**15), 2**15 - 1}
    planes = memory[at.hidden + np.arange(2)[:, None] * 32 + np.arange(units)]
    assert np.array_equal(planes.T.reshape(-1), found.view(np.uint8))

"""The depthwise unit against sums in numpy, and the cycles that it takes."""

import itertools
import random

import numpy as np
import pytest
from amaranth.sim import Simulator, SimulatorContext
from numpy.typing import NDArray

from kiwicha.contract.depthwise import (
    PAIR_CHANNELS,
    PARAMETER_PLACES,
    UNIT_CHANNELS,
    passes_of,
)
from kiwicha.contract.latencies import SCRATCHPAD_READ_CYCLES
from kiwicha.gateware.engine.array.mac_cell import Vendor
from kiwicha.gateware.engine.depthwise.depthwise_unit import DepthwiseUnit
from tests.gateware.engine.depthwise.unit_jobs import UnitJob, give_fills, random_job
from tests.support.choices import at_night

SIZE = 1 << 16


class Bench:
    """A unit with what is around it: fills, reads, rows of the array, and sums that are taken.

    Fills come as early as there is room for them, and rows are written as late as a job bears.
    """

    def __init__(
        self, jobs: list[UnitJob], granted: float, taken: float, filled: float, seed: int
    ) -> None:
        self.jobs = jobs
        self.granted, self.taken, self.filled = granted, taken, filled
        self.rng = random.Random(seed)
        self.unit = DepthwiseUnit(vendor=Vendor.GENERIC)
        self.cycles: list[int] = []
        self.is_over = False
        self.reads = [0] * SCRATCHPAD_READ_CYCLES

    async def fill(self, ctx: SimulatorContext) -> None:
        """Give the fills of all groups."""
        await give_fills(
            ctx, self.unit.fill, self.jobs, self.rng, self.filled, lambda: self.is_over
        )

    async def run(self, ctx: SimulatorContext) -> None:
        """Execute the jobs."""
        groups = itertools.accumulate((job.groups for job in self.jobs), initial=0)
        rows = itertools.accumulate((job.waited_rows for job in self.jobs), initial=65_500)
        for job, used, first_row in zip(self.jobs, groups, rows, strict=False):
            await self.execute(ctx, job, used, first_row)
            for _ in range(self.rng.choice((0, 0, 30))):
                await ctx.tick()
        self.is_over = True

    async def execute(self, ctx: SimulatorContext, job: UnitJob, used: int, first_row: int) -> None:
        """Execute a job, behind so many groups of others and rows of the array."""
        unit, rng = self.unit, self.rng
        descriptor = job.descriptor(64, first_row)
        ctx.set(unit.job.as_value(), int.from_bytes(descriptor.pack(), "little"))
        memory = job.memory(SIZE)
        expected = iter(expected_results(job, used))
        left = job.groups * job.output[0] * job.output[1]
        rows = cycle = 0
        ends = set(row_ends(job))
        ctx.set(unit.start, 1)
        while left:
            if rows < job.waited_rows and (self.granted == 1 or rng.random() < 0.1):
                rows += 1
            written = rows if rows < job.waited_rows or self.granted < 1 else rows + 3
            ctx.set(unit.rows_done, (first_row + written) % 65_536)
            ctx.set(unit.results.ready, rng.random() < self.taken)
            await self.read(ctx, job, memory, written)
            ends_row = False
            if ctx.get(unit.results.valid) and ctx.get(unit.results.ready):
                result = unit.results.payload
                sums = [ctx.get(one) for one in result.sums]
                got = sums, ctx.get(result.address), ctx.get(result.place)
                assert got == next(expected), f"cycle {cycle}, {left} left of {job}"
                left -= 1
                ends_row = left in ends
            assert ctx.get(unit.done) == (not left)
            assert ctx.get(unit.ends_row) == ends_row
            await ctx.tick()
            ctx.set(unit.start, 0)
            cycle += 1
            assert cycle < 9_000
        self.cycles.append(cycle)

    async def read(
        self, ctx: SimulatorContext, job: UnitJob, memory: NDArray[np.uint8], written: int
    ) -> None:
        """Give what was asked for some cycles ago; take what is asked for, which is written."""
        unit = self.unit
        ctx.set(unit.reads.ready, self.rng.random() < self.granted)
        place = np.arange(self.reads[0], self.reads[0] + PAIR_CHANNELS) % SIZE
        ctx.set(unit.read_data, int.from_bytes(memory[place].tobytes(), "little"))
        await ctx.delay(2e-9)
        asked = self.rng.getrandbits(9)
        if ctx.get(unit.reads.valid) and ctx.get(unit.reads.ready):
            asked = ctx.get(unit.reads.payload)
            assert job.rows_for(asked) <= written
        self.reads = [*self.reads[1:], asked]


def computed(
    jobs: list[UnitJob], *, granted: float, taken: float, filled: float = 1, seed: int = 0
) -> list[int]:
    """Execute jobs; check every sum and address; return the cycles of each."""
    bench = Bench(jobs, granted, taken, filled, seed)
    simulator = Simulator(bench.unit)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench.run)
    simulator.add_testbench(bench.fill, background=True)
    simulator.run()
    return bench.cycles


def expected_results(job: UnitJob, groups_before: int) -> list[tuple[list[int], int, int]]:
    """Return sums, addresses and places of parameters in order."""
    channels, sums = job.image.shape[2], job.sums()
    rows, columns = job.output
    return [
        (
            sums[group, row, column].tolist(),
            64 + group * UNIT_CHANNELS + (row * columns + column) * channels,
            (groups_before + group) % PARAMETER_PLACES,
        )
        for first in range(0, job.groups, 2)
        for row in range(rows)
        for group in range(first, min(first + 2, job.groups))
        for column in range(columns)
    ]


def row_ends(job: UnitJob) -> list[int]:
    """Return how many results are left behind each row of both groups of a pair."""
    sizes = [2 * job.output[1]] * (job.groups // 2 * job.output[0])
    sizes += [job.output[1]] * (job.groups % 2 * job.output[0])
    return [sum(sizes[number + 1 :]) for number in range(len(sizes))]


@pytest.mark.parametrize("seed", [0, 1, at_night(2), at_night(3)])
def test_random_jobs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    computed([random_job(rng) for _ in range(6)], granted=1, taken=1, seed=seed)


@pytest.mark.nightly
def test_rings_wrap() -> None:
    """Jobs of many groups, whose weights are there early: more than the rings hold."""
    rng = np.random.default_rng(5)
    jobs = [random_job(rng, largest=3, groups=int(groups)) for groups in (25, 60, 3, 44, 30)]
    computed(jobs, granted=1, taken=1)
    computed(jobs[:2], granted=1, taken=1, filled=0.3)


@pytest.mark.parametrize(("granted", "taken"), [(0.5, 1), (1, 0.3), (0.3, 0.3)])
def test_waits_lose_nothing(granted: float, taken: float) -> None:
    rng = np.random.default_rng(int(10 * granted + 100 * taken))
    computed([random_job(rng) for _ in range(5)], granted=granted, taken=taken)


@pytest.mark.parametrize(("size", "stride"), [(3, 1), (3, 2), at_night((5, 1))])
def test_cycles(size: int, stride: int) -> None:
    rng = np.random.default_rng(size)
    outputs = 24 // stride
    job = UnitJob(
        image=rng.integers(-128, 128, (24, 24, 16)).astype(np.int8),
        weights=rng.integers(-9, 10, (size, size, 16)),
        zero_point=3,
        stride=(stride, stride),
        padding=(size // 2, size // 2),
        output=(outputs, outputs),
        address=0,
        pitch=16,
        waits=(0, 0, 0),
    )
    (cycles,) = computed([job], granted=1, taken=1)
    down, right = passes_of(size, size)
    span = (outputs - 1) * stride + 3
    row = max(2 * down * right * span + 1, stride * (24 + 3))
    assert cycles <= outputs * row + 3 * 30 + 24 * size


def test_two_pixels_of_a_single_group_come_at_a_time() -> None:
    """Of stride 2 reads take longer than sums: half as long where there are no gaps."""
    rng = np.random.default_rng(8)
    cycles = {}
    for pitch in (8, 24):
        job = UnitJob(
            image=rng.integers(-128, 128, (25, 25, 8)).astype(np.int8),
            weights=rng.integers(-9, 10, (3, 3, 8)),
            zero_point=3,
            stride=(2, 2),
            padding=(1, 1),
            output=(12, 12),
            address=5,
            pitch=pitch,
            waits=(0, 0, 0),
        )
        (cycles[pitch],) = computed([job], granted=1, taken=1)
    assert cycles[8] < 0.7 * cycles[24]

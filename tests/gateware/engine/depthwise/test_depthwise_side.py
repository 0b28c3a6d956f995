"""What the depthwise unit shares with the array: sums, reads, constants and counts of rows."""

import random
from collections import deque

import numpy as np
import pytest
from amaranth.sim import Simulator, SimulatorContext

from kiwicha.contract.depthwise import UNIT_CHANNELS
from kiwicha.contract.latencies import (
    PARAMETER_CYCLES,
    REQUANTIZER_CYCLES,
    RESULT_WRITE_CYCLES,
    SCRATCHPAD_READ_CYCLES,
)
from kiwicha.gateware.engine.array.mac_cell import Vendor
from kiwicha.gateware.engine.depthwise.depthwise_side import DepthwiseSide
from tests.gateware.engine.depthwise.unit_jobs import UnitJob, give_fills

WRITE_CYCLES = PARAMETER_CYCLES + REQUANTIZER_CYCLES + RESULT_WRITE_CYCLES
WAITED_CYCLES = 8
"""After which the unit leaves every other cycle to transfers."""
OWN = {"zero_point": 1, "minimum": -100, "maximum": 101}
JOB = UnitJob(
    image=np.random.default_rng(1).integers(-128, 128, (9, 12, 16)).astype(np.int8),
    weights=np.random.default_rng(2).integers(-9, 10, (3, 3, 16)),
    zero_point=3,
    stride=(1, 1),
    padding=(1, 1),
    output=(9, 12),
    address=0,
    pitch=16,
    waits=(0, 0, 0),
)


class Bench:
    """A job beside an array that takes what it likes."""

    def __init__(self, *, shares_reads: bool, fabric_chains: int, shares_results: bool) -> None:
        self.rng = random.Random(0)
        self.side = DepthwiseSide(
            vendor=Vendor.GENERIC,
            shares_reads=shares_reads,
            fabric_chains=fabric_chains,
            shares_results=shares_results,
        )
        # Of earlier cycles, the last one first.
        self.taken: deque[int] = deque([0] * 64, maxlen=64)
        self.wide: deque[int] = deque([0] * 64, maxlen=64)
        self.rows: list[int] = []
        self.sums: list[list[int]] = []
        self.addresses: list[int] = []
        self.cycle = self.last_take = self.results_between = 0
        self.is_over = self.left_lines = self.has_paused = False
        self.has_yielded = False
        # For how many cycles transfers have waited, and when the unit had results.
        self.line_waits: deque[int] = deque([0] * 64, maxlen=64)
        self.results: deque[int] = deque([0] * 64, maxlen=64)

    async def fill(self, ctx: SimulatorContext) -> None:
        """Give the weights."""
        await give_fills(ctx, self.side.fill, [JOB], self.rng, 1.0, lambda: self.is_over)

    async def run(self, ctx: SimulatorContext) -> None:
        """Execute the job."""
        side, rng = self.side, self.rng
        descriptor = JOB.descriptor(64, 0)
        ctx.set(side.job.as_value(), int.from_bytes(descriptor.pack(), "little"))
        if side.shares_results:
            for name, value in OWN.items():
                ctx.set(getattr(side.own, name), value)
        memory = JOB.memory(1 << 12)
        reads = [0] * SCRATCHPAD_READ_CYCLES
        ctx.set(side.start, 1)
        modes = {"has_beat": 0, "is_wide": 0, "takes_lines": 0}
        while not ctx.get(side.done):
            if self.cycle % 50 == 0:
                modes = dict.fromkeys(modes, 0) | {rng.choice([*modes, "has_beat"]): 1}
            ctx.set(side.waits_line, self.cycle // 120 % 3 == 0)
            for name, is_on in modes.items():
                ctx.set(getattr(side, name), is_on and (name != "has_beat" or rng.random() < 0.6))
            ctx.set(side.reads.ready, not side.shares_reads or rng.random() < 0.4)
            there = np.arange(reads.pop(0), 1 << 12)[: 2 * UNIT_CHANNELS]
            ctx.set(side.read_data, int.from_bytes(memory[there].tobytes(), "little"))
            await ctx.delay(2e-9)
            asked = ctx.get(side.reads.valid) and ctx.get(side.reads.ready)
            reads.append(ctx.get(side.reads.payload) if asked else rng.getrandbits(8))
            self.has_yielded |= bool(ctx.get(side.yields))
            self.check_lines(ctx)
            if side.shares_results:
                self.check(ctx, descriptor.output_zero_point, descriptor.activation_max)
            else:
                self.check_own(ctx, descriptor.output_pixel_bytes)
            await ctx.tick()
            ctx.set(side.start, 0)
            self.cycle += 1
            assert self.cycle < 9_000
        # The last byte is written in the cycle before.
        assert self.cycle == self.last_take + WRITE_CYCLES + 1
        self.is_over = True

    def check_lines(self, ctx: SimulatorContext) -> None:
        """Check that no two results follow each other where transfers have waited for long."""
        side, delay = self.side, 0 if self.side.shares_results else WRITE_CYCLES - 1
        waits = ctx.get(side.waits_line)
        self.line_waits.appendleft(self.line_waits[0] + 1 if waits else 0)
        is_result = ctx.get(side.takes if side.shares_results else side.written.valid)
        if self.line_waits[delay] > WAITED_CYCLES + 2:
            assert not (is_result and self.results[0])
            self.results_between += is_result
        self.results.appendleft(is_result)

    def check(self, ctx: SimulatorContext, zero_point: int, maximum: int) -> None:
        """Check a cycle."""
        side, taken = self.side, self.taken
        busy = (side.has_beat, side.is_wide, side.makes_wide, side.takes_lines)
        takes = ctx.get(side.takes)
        assert not (takes and any(map(ctx.get, busy)))
        assert ctx.get(side.is_beat) == taken[0]
        self.has_paused |= bool(ctx.get(side.pauses))
        assert ctx.get(side.is_result) == taken[REQUANTIZER_CYCLES]
        assert ctx.get(side.makes_wide) == self.wide[REQUANTIZER_CYCLES - 1]
        expected = zero_point if taken[REQUANTIZER_CYCLES - 2] else OWN["zero_point"]
        assert ctx.get(side.constants.zero_point) == expected
        expected = maximum if taken[REQUANTIZER_CYCLES - 1] else OWN["maximum"]
        assert ctx.get(side.constants.maximum) == expected
        # Lines are free when nothing is on its way that was taken.
        if ctx.get(side.leaves_lines) and ctx.get(side.takes_lines):
            self.left_lines = True
            assert not any(list(taken)[:WRITE_CYCLES])
        done = sum(end + WRITE_CYCLES < self.cycle for end in self.rows)
        assert ctx.get(side.rows_done) == done
        if takes:
            self.sums.append([ctx.get(one) for one in side.result.sums])
            self.last_take = self.cycle
            if len(self.sums) % (JOB.groups * JOB.output[1]) == 0:
                self.rows.append(self.cycle)
        taken.appendleft(takes)
        self.wide.appendleft(ctx.get(side.is_wide))

    def check_own(self, ctx: SimulatorContext, pixel_bytes: int) -> None:
        """Check a cycle of a requantizer of the unit's own: it writes when the array does not."""
        side, busy = self.side, self.taken
        assert not (ctx.get(side.written.valid) and busy[WRITE_CYCLES - 2])
        if ctx.get(side.leaves_lines) and ctx.get(side.takes_lines):
            self.left_lines = True
            assert not ctx.get(side.written.valid)
        if ctx.get(side.written.valid):
            # Its parameters are 0, so that its bytes are the zero point.
            octets = JOB.descriptor(64, 0).output_zero_point % 256
            assert ctx.get(side.written.payload.octets) == octets * 0x01010101_01010101
            self.addresses.append(ctx.get(side.written.payload.address))
            self.last_take = self.cycle - (WRITE_CYCLES - 1)
        busy.appendleft(any(map(ctx.get, (side.has_beat, side.is_wide, side.takes_lines))))


@pytest.mark.parametrize(("shares_reads", "fabric_chains"), [(True, 0), (False, 4)])
def test_takes_what_the_array_leaves(shares_reads: bool, fabric_chains: int) -> None:
    """Where the array has no part in its reads, it is not asked for one."""
    bench = Bench(shares_reads=shares_reads, fabric_chains=fabric_chains, shares_results=True)
    simulator = Simulator(bench.side)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench.run)
    simulator.add_testbench(bench.fill, background=True)
    simulator.run()
    assert bench.left_lines
    assert bench.results_between > 20
    assert bench.has_paused == shares_reads
    # Each row of both groups.
    rows_first = JOB.sums().transpose(1, 0, 2, 3)
    assert bench.sums == rows_first.reshape(-1, UNIT_CHANNELS).tolist()


def test_writes_what_the_array_does_not() -> None:
    bench = Bench(shares_reads=False, fabric_chains=0, shares_results=False)
    simulator = Simulator(bench.side)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench.run)
    simulator.add_testbench(bench.fill, background=True)
    simulator.run()
    assert bench.left_lines
    assert bench.results_between > 20
    assert bench.has_yielded
    rows, columns = JOB.output
    assert bench.addresses == [
        64 + (row * columns + column) * JOB.pitch + group * UNIT_CHANNELS
        for row in range(rows)
        for group in range(JOB.groups)
        for column in range(columns)
    ]

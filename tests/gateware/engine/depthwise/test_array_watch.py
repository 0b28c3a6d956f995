"""What a job of the array needs, cycle by cycle, and when its rows count."""

import pytest
from amaranth import ResetInserter, Signal
from amaranth.sim import Simulator, SimulatorContext

from kiwicha.contract.engine import JobFlag, JobKind
from kiwicha.contract.latencies import SCRATCHPAD_READ_CYCLES
from kiwicha.gateware.engine.depthwise.array_watch import ArrayWatch
from tests.support.gateware.unit_simulation import UnitSimulation

DRAIN_CYCLES = 20
SIMULATION = UnitSimulation(ArrayWatch(drain_cycles=DRAIN_CYCLES, has_softmax=True))
WITHOUT_ROWS = (JobKind.ADD, JobKind.TABLE, JobKind.MUL)
WITH_LINES = (JobKind.MOVE, JobKind.SOFTMAX)


def test_what_an_upper_half_leaves() -> None:
    """The read of an operation gives the upper half of the one behind it."""
    dut = SIMULATION.component
    is_upper = [0, 1, 0, 0, 1, 1, 0, 1] * 3
    valid = [1, 1, 1, 0, 1, 1, 0, 0] * 3
    reads: list[int] = []
    keeps: list[int] = []

    async def bench(ctx: SimulatorContext) -> None:
        ctx.set(dut.job.kind, JobKind.CONV)
        ctx.set(dut.is_busy, 1)
        for one, other in zip(valid, is_upper, strict=True):
            ctx.set(dut.valid, one)
            ctx.set(dut.operation.is_upper, other)
            await ctx.delay(1e-9)
            reads.append(ctx.get(dut.reads))
            keeps.append(ctx.get(dut.keeps_upper))
            await ctx.tick()

    SIMULATION.run(bench)
    assert reads == [one & ~other & 1 for one, other in zip(valid, is_upper, strict=True)]
    assert keeps == [0] * SCRATCHPAD_READ_CYCLES + reads[:-SCRATCHPAD_READ_CYCLES]


@pytest.mark.parametrize("kind", [k for k in JobKind if k is not JobKind.DEPTHWISE_UNIT])
def test_rows_and_lines_of_each_kind(kind: JobKind) -> None:
    dut = SIMULATION.component
    ends: list[int] = []

    async def bench(ctx: SimulatorContext) -> None:
        ctx.set(dut.job.kind, kind)
        ctx.set(dut.job.flags, JobFlag.WIDE)
        for is_busy in (0, 1):
            ctx.set(dut.is_busy, is_busy)
            await ctx.tick()
            takes_lines = is_busy and kind in WITH_LINES
            facts = (dut.needs_lines, dut.takes_lines, dut.reads, dut.is_wide)
            expected = [kind in WITH_LINES, takes_lines, takes_lines, is_busy]
            assert [ctx.get(fact) for fact in facts] == expected
        ctx.set(dut.operation.last, 1)
        ctx.set(dut.operation.ends_row, 1)
        await ctx.tick()
        ctx.set(dut.valid, 1)
        for cycle in range(DRAIN_CYCLES + 2):
            await ctx.delay(1e-9)
            ends.append(ctx.get(dut.ends_row))
            await ctx.tick()
            ctx.set(dut.operation.ends_row, 0)
            ctx.set(dut.done, cycle == 4)

    SIMULATION.run(bench)
    written = [DRAIN_CYCLES]
    expected = [5, *written] if kind in {*WITHOUT_ROWS, *WITH_LINES} else written
    assert [cycle for cycle, end in enumerate(ends) if end] == expected


def test_a_reset_forgets_rows_that_are_not_written() -> None:
    reset = Signal()
    dut = ArrayWatch(drain_cycles=DRAIN_CYCLES, has_softmax=True)

    async def bench(ctx: SimulatorContext) -> None:
        ctx.set(dut.job.kind, JobKind.CONV)
        ctx.set(dut.operation.last, 1)
        ctx.set(dut.operation.ends_row, 1)
        ctx.set(dut.valid, 1)
        await ctx.tick()
        ctx.set(dut.valid, 0)
        ctx.set(reset, 1)
        await ctx.tick()
        ctx.set(reset, 0)
        for _ in range(DRAIN_CYCLES + 2):
            assert not ctx.get(dut.ends_row)
            await ctx.tick()

    simulator = Simulator(ResetInserter(reset)(dut))
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()

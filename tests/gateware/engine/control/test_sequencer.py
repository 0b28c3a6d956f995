"""When lists end, cycle by cycle."""

import functools
from typing import Any

import pytest
from amaranth.sim import SimulatorContext

from kiwicha.contract.engine import EngineError
from kiwicha.gateware.engine.control.sequencer import Sequencer
from tests.support.gateware.unit_simulation import UnitSimulation

LIMIT_CYCLES = 20


@functools.cache
def simulation() -> UnitSimulation[Sequencer]:
    return UnitSimulation(Sequencer())


async def pulse(ctx: SimulatorContext, signal: Any) -> None:
    ctx.set(signal, 1)
    await ctx.tick()
    ctx.set(signal, 0)


async def start(ctx: SimulatorContext, dut: Sequencer, *, jobs: int, transfers: int) -> None:
    """Start a list, and let it run while something is on its way."""
    # Out of the reset.
    await ctx.tick()
    ctx.set(dut.lists.watchdog_cycles, 1000)
    ctx.set(dut.lists.list, {"offset": 0, "jobs": jobs, "transfers": transfers})
    await pulse(ctx, dut.lists.start)
    await ctx.tick()
    assert ctx.get(dut.lists.is_running)


@pytest.mark.parametrize(("jobs", "transfers"), [(1, 0), (0, 1), (2, 3)])
def test_a_list_ends_when_it_is_complete_and_quiet(jobs: int, transfers: int) -> None:
    dut = simulation().component

    async def bench(ctx: SimulatorContext) -> None:
        await start(ctx, dut, jobs=jobs, transfers=transfers)
        for done in [dut.datapath_done] * jobs + [dut.transfer_done] * transfers:
            ctx.set(dut.is_quiet, 1)
            for _ in range(3):
                await ctx.tick()
                assert ctx.get(dut.lists.is_running)
            ctx.set(dut.is_quiet, 0)
            await pulse(ctx, done)
        for _ in range(LIMIT_CYCLES):
            await ctx.tick()
            assert ctx.get(dut.lists.is_running)
        ctx.set(dut.is_quiet, 1)
        await ctx.tick()
        assert not ctx.get(dut.lists.is_running)
        assert ctx.get(dut.lists.status.error) == EngineError.NONE
        assert not ctx.get(dut.halt)

    simulation().run(bench)


def test_an_error_waits_for_dram_and_then_resets_all_others() -> None:
    dut = simulation().component

    async def bench(ctx: SimulatorContext) -> None:
        await start(ctx, dut, jobs=1, transfers=0)
        await pulse(ctx, dut.errors.bad_stream)
        ctx.set(dut.is_quiet, 1)
        for _ in range(LIMIT_CYCLES):
            assert ctx.get(dut.halt)
            assert not ctx.get(dut.clear)
            await ctx.tick()
        ctx.set(dut.memory_is_idle, 1)
        cleared = 0
        while ctx.get(dut.lists.is_running):
            await ctx.tick()
            cleared += ctx.get(dut.clear)
        assert cleared == Sequencer.CLEAR_CYCLES
        assert ctx.get(dut.lists.status.error) == EngineError.BAD_STREAM
        await ctx.tick()
        assert not ctx.get(dut.clear)

    simulation().run(bench)

"""Jobs on their way to the array and to the depthwise unit: order, numbers and ends."""

import random
from collections import deque

import pytest
from amaranth.sim import SimulatorContext

from kiwicha.contract.engine import JobKind
from kiwicha.gateware.engine.control.job_dispatcher import JobDispatcher
from tests.support.gateware.unit_simulation import UnitSimulation

SIMULATION = UnitSimulation(JobDispatcher())
JOBS = 60


@pytest.mark.parametrize("seed", range(4))
def test_each_gets_its_own_in_order(seed: int) -> None:
    """At random paces: the oldest job that is not complete counts, and each end is noted once."""
    rng = random.Random(seed)
    dut = SIMULATION.component
    share = (0.5, 0.1, 0.9, 0.5)[seed]
    kinds = [JobKind.DEPTHWISE_UNIT if rng.random() < share else JobKind.CONV for _ in range(JOBS)]
    sides = {True: dut.unit, False: dut.array}
    numbers = {
        is_unit: deque(n for n, kind in enumerate(kinds) if (kind is sides_kind(is_unit)))
        for is_unit in sides
    }

    async def bench(ctx: SimulatorContext) -> None:
        given = 0
        ended: list[int] = []
        done: set[int] = set()
        complete_before = 0
        waits_since = {True: 0, False: 0}
        for cycle in range(4_000):
            ctx.set(dut.jobs.valid, given < JOBS and rng.random() < 0.8)
            ctx.set(dut.jobs.payload.kind, kinds[min(given, JOBS - 1)])
            ctx.set(dut.jobs.payload.layer, given)
            for is_unit, side in sides.items():
                # A job takes some cycles, as those of the unit do.
                waits_since[is_unit] += 1
                may_end = waits_since[is_unit] > 3 and rng.random() < 0.3
                ctx.set(side.ready, ctx.get(side.valid) and may_end)
            await ctx.delay(1e-9)
            assert ctx.get(dut.complete) == complete_before, cycle
            if ctx.get(dut.ends):
                ended.append(ctx.get(dut.ended_number))
            complete_before = next(n for n in range(JOBS + 1) if n not in done)
            complete_before = min(complete_before, given)
            for is_unit, side in sides.items():
                if ctx.get(side.valid) and ctx.get(side.ready):
                    number = ctx.get(side.payload.layer)
                    assert number == numbers[is_unit].popleft()
                    done.add(number)
                    waits_since[is_unit] = 0
            given += ctx.get(dut.jobs.valid) and ctx.get(dut.jobs.ready)
            await ctx.tick()
            if len(ended) == JOBS:
                break
        assert sorted(ended) == list(range(JOBS))

    SIMULATION.run(bench)


def sides_kind(is_unit: bool) -> JobKind:
    return JobKind.DEPTHWISE_UNIT if is_unit else JobKind.CONV


def test_a_job_of_the_unit_lets_those_behind_it_through() -> None:
    """Two of them wait, one of which is offered; the third keeps back all that follows."""
    dut = SIMULATION.component
    kinds = [*[JobKind.DEPTHWISE_UNIT] * 2, JobKind.CONV, JobKind.DEPTHWISE_UNIT, JobKind.CONV]

    async def bench(ctx: SimulatorContext) -> None:
        given = 0
        ctx.set(dut.jobs.valid, 1)
        for _ in range(12):
            ctx.set(dut.jobs.payload.kind, kinds[min(given, len(kinds) - 1)])
            ctx.set(dut.jobs.payload.layer, given)
            await ctx.delay(1e-9)
            given += ctx.get(dut.jobs.ready)
            await ctx.tick()
        assert given == 3
        assert ctx.get(dut.array.valid)
        assert ctx.get(dut.array.payload.layer) == 2
        assert ctx.get(dut.unit.payload.layer) == 0
        assert ctx.get(dut.complete) == 0

    SIMULATION.run(bench)

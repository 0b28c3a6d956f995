"""A simulation that many benches share: each finds its component as after power-up."""

import pytest
from amaranth.hdl import Module
from amaranth.lib.wiring import Component, Out
from amaranth.sim import SimulatorContext

from tests.support.gateware.unit_simulation import UnitSimulation


class Counter(Component):
    """A count of cycles."""

    def __init__(self) -> None:
        super().__init__({"count": Out(4)})

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        m.d.sync += self.count.eq(self.count + 1)
        return m


def test_a_bench_sees_nothing_of_those_before_it() -> None:
    simulation = UnitSimulation(Counter())
    counter = simulation.component
    seen: list[int] = []

    async def good(ctx: SimulatorContext) -> None:
        seen.append(ctx.get(counter.count))
        await ctx.tick().repeat(3)
        seen.append(ctx.get(counter.count))

    async def bad(ctx: SimulatorContext) -> None:
        await ctx.tick()
        assert ctx.get(counter.count) == 2

    simulation.run(good)
    simulation.run(good)
    with pytest.raises(AssertionError):
        simulation.run(bad)
    simulation.run(good)
    assert seen == [0, 3] * 3

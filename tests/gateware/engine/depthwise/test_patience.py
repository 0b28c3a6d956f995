"""How long the depthwise unit waits before it asks for a share."""

from amaranth.sim import SimulatorContext

from kiwicha.gateware.engine.depthwise.patience import Patience
from tests.support.gateware.unit_simulation import UnitSimulation

SIMULATION = UnitSimulation(Patience())


def asked(waits: list[bool]) -> list[int]:
    """Return for each cycle whether it asks, one cycle later."""
    dut = SIMULATION.component
    found: list[int] = []

    async def bench(ctx: SimulatorContext) -> None:
        for one in waits:
            ctx.set(dut.waits, one)
            await ctx.tick()
            found.append(ctx.get(dut.asks))

    SIMULATION.run(bench)
    return found


def test_asks_for_every_other_cycle_after_eight() -> None:
    assert asked([True] * 16) == [0] * 8 + [1, 0] * 4


def test_asks_for_nothing_where_every_other_cycle_is_free() -> None:
    assert not any(asked([True, False] * 100))
    assert any(asked([True, True, False] * 100))


def test_forgets_what_it_waited_as_fast() -> None:
    """It counts no further than 15: then 8 cycles without waiting are enough."""
    found = asked([True] * 100 + [False] * 20)
    assert found[100:] == [1, 0] * 4 + [0] * 12

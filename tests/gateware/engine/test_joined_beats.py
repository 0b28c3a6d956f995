"""Two beats of a result in one write: the first one waits for the second."""

import random

from amaranth.sim import Simulator, SimulatorContext

from kiwicha.contract.latencies import PARAMETER_CYCLES, REQUANTIZER_CYCLES
from kiwicha.gateware.engine.joined_beats import JoinedBeats

LATENCY = PARAMETER_CYCLES + REQUANTIZER_CYCLES


def test_first_beats_wait_for_second_ones() -> None:
    rng = random.Random(1)
    enters = [False] * 400
    for cycle in range(2, 400):
        enters[cycle] = rng.random() < 0.5 and not enters[cycle - 1]
    octets = [rng.getrandbits(64) for _ in enters]
    joined = JoinedBeats()

    async def run(ctx: SimulatorContext) -> None:
        for cycle, is_first in enumerate(enters):
            ctx.set(joined.enters, is_first)
            ctx.set(joined.octets, octets[cycle])
            waits, was_first = (
                before >= 0 and enters[before] for before in (cycle - LATENCY, cycle - LATENCY - 1)
            )
            assert ctx.get(joined.waits) == waits
            assert ctx.get(joined.joins) == was_first
            if was_first:
                assert ctx.get(joined.first) == octets[cycle - 1]
            await ctx.tick()

    simulator = Simulator(joined)
    simulator.add_clock(1e-6)
    simulator.add_testbench(run)
    simulator.run()
    assert sum(enters) > 100

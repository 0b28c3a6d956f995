"""The depthwise unit's own requantizer: parameters of all places, bytes on the cycle."""

import random
from collections import deque

import numpy as np
from amaranth.sim import Simulator, SimulatorContext

from kiwicha.contract.depthwise import PARAMETER_PLACES, UNIT_CHANNELS
from kiwicha.contract.latencies import PARAMETER_CYCLES, REQUANTIZER_CYCLES
from kiwicha.gateware.engine.depthwise.unit_requantizer import UnitRequantizer
from kiwicha.gateware.engine.weights.interfaces import PARAMETER_BLOCK
from kiwicha.numerics.requantization import requantize

LATENCY = PARAMETER_CYCLES + REQUANTIZER_CYCLES
ZERO_POINT, MINIMUM, MAXIMUM = -7, -120, 101
BEATS = 500


def test_all_places_have_their_parameters() -> None:
    rng, numbers = random.Random(1), np.random.default_rng(1)
    shape = PARAMETER_PLACES, UNIT_CHANNELS
    biases = numbers.integers(-(2**20), 2**20, shape)
    multipliers = numbers.integers(2**30, 2**31, shape)
    shifts = numbers.integers(-20, 3, shape)
    unit = UnitRequantizer()
    expected: deque[tuple[int, tuple[int, list[int]]]] = deque()

    async def run(ctx: SimulatorContext) -> None:
        ctx.set(unit.job.output_zero_point, ZERO_POINT)
        ctx.set(unit.job.activation_min, MINIMUM)
        ctx.set(unit.job.activation_max, MAXIMUM)
        ctx.set(unit.parameters.write, 1)
        for place in range(PARAMETER_PLACES):
            for block in range(UNIT_CHANNELS // PARAMETER_BLOCK):
                channels = slice(block * PARAMETER_BLOCK, (block + 1) * PARAMETER_BLOCK)
                for field, values in enumerate((biases, multipliers, shifts)):
                    ctx.set(unit.parameters.place, place)
                    ctx.set(unit.parameters.block, block)
                    ctx.set(unit.parameters.field, field)
                    beat = values[place, channels].astype("<i4").tobytes()
                    ctx.set(unit.beat, int.from_bytes(beat, "little"))
                    await ctx.tick()
        ctx.set(unit.parameters.write, 0)
        for cycle in range(BEATS):
            takes, address = rng.random() < 0.7, rng.getrandbits(16)
            place = rng.randrange(PARAMETER_PLACES)
            sums = numbers.integers(-(2**20), 2**20, UNIT_CHANNELS)
            ctx.set(unit.takes, takes)
            ctx.set(unit.result.address, address)
            ctx.set(unit.result.place, place)
            for channel, total in enumerate(sums):
                ctx.set(unit.result.sums[channel], int(total))
            if takes:
                octets = requantize(
                    sums + biases[place],
                    multipliers[place],
                    shifts[place],
                    ZERO_POINT,
                    MINIMUM,
                    MAXIMUM,
                )
                expected.append((cycle + LATENCY, (address, octets.tolist())))
            is_due = bool(expected) and expected[0][0] == cycle
            assert ctx.get(unit.written.valid) == is_due
            if is_due:
                octets_now = ctx.get(unit.written.payload.octets).to_bytes(8, "little")
                got = np.frombuffer(octets_now, np.int8).tolist()
                assert (ctx.get(unit.written.payload.address), got) == expected.popleft()[1]
            await ctx.tick()

    simulator = Simulator(unit)
    simulator.add_clock(1e-6)
    simulator.add_testbench(run)
    simulator.run()
    assert len(expected) < LATENCY + 1

"""Rings of weights and parameters: room, places, and when groups can be used."""

import random
from collections import deque

import pytest
from amaranth.sim import SimulatorContext

from kiwicha.contract.depthwise import PARAMETER_PLACES, PASS_BEATS, PASS_PLACES, UNIT_CHANNELS
from kiwicha.gateware.engine.depthwise.unit_fills import UnitFills
from kiwicha.gateware.engine.weights.interfaces import FIELDS, PARAMETER_BLOCK
from tests.support.gateware.unit_simulation import UnitSimulation

SIMULATION = UnitSimulation(UnitFills())
PARAMETER_BEATS = FIELDS * UNIT_CHANNELS // PARAMETER_BLOCK
GROUPS = 160
READ_CYCLES = 12


class Rings:
    """Groups of some passes that are filled, taken, used and given back at random paces."""

    def __init__(self, rng: random.Random, most: int) -> None:
        self.rng = rng
        self.dut = SIMULATION.component
        self.passes = [rng.randint(1, most) for _ in range(GROUPS)]
        self.begun = self.filled = self.taken = self.ended = self.results = self.beat = 0
        self.available = 0
        self.words = deque([False] * 2)
        self.arrived = deque([False] * 3)
        self.written: list[tuple[int, int]] = []
        self.was_full = False
        # Room is there again when the last reads are over, and some cycles more.
        self.used = 0
        self.given_back = deque([0] * READ_CYCLES)

    def drive(self, ctx: SimulatorContext) -> tuple[bool, bool, bool]:
        """Set the inputs; return what ends in this cycle."""
        dut, rng = self.dut, self.rng
        is_between = self.begun == self.filled
        ctx.set(dut.fill.command, self.begun < GROUPS and is_between and rng.random() < 0.9)
        ctx.set(dut.fill.passes, self.passes[min(self.begun, GROUPS - 1)])
        ctx.set(dut.fill.beat, not is_between and rng.random() < 0.9)
        takes = bool(ctx.get(dut.has_weights)) and rng.random() < 0.015
        ends = self.ended < self.taken and rng.random() < 0.05
        ends_results = self.results < self.ended and rng.random() < 0.05
        ctx.set(dut.takes_weights, takes)
        ctx.set(dut.ends_group, ends)
        ctx.set(dut.group_passes, self.passes[min(self.ended, GROUPS - 1)])
        ctx.set(dut.ends_results, ends_results)
        return takes, ends, ends_results

    def look(self, ctx: SimulatorContext) -> None:
        """Check the outputs, and note what is filled."""
        dut = self.dut
        assert bool(ctx.get(dut.has_weights)) == (self.available > 0)
        assert bool(ctx.get(dut.write)) == self.words.popleft()
        if ctx.get(dut.write):
            self.written.append((ctx.get(dut.write_place), ctx.get(dut.write_pair)))
        self.was_full |= self.begun == self.filled and not ctx.get(dut.fill.ready)
        filled = self.filled
        if self.begun == self.filled:
            has_room = self.used + self.passes[min(self.begun, GROUPS - 1)] <= PASS_PLACES
            has_room &= self.begun - self.results < PARAMETER_PLACES
            assert bool(ctx.get(dut.fill.ready)) == has_room
        self.words.append(False)
        if ctx.get(dut.fill.command) and ctx.get(dut.fill.ready):
            used = sum(self.passes[self.ended : self.begun])
            assert used + self.passes[self.begun] <= PASS_PLACES
            assert self.begun - self.results < PARAMETER_PLACES
            self.used += self.passes[self.begun]
            self.begun, self.beat = self.begun + 1, 0
        elif ctx.get(dut.fill.beat) and ctx.get(dut.fill.takes):
            self.take_beat(ctx)
        self.arrived.append(self.filled > filled)

    def take_beat(self, ctx: SimulatorContext) -> None:
        """Check what a beat is."""
        parameters = self.dut.fill.parameters
        is_parameter = self.beat < PARAMETER_BEATS
        assert bool(ctx.get(parameters.write)) == is_parameter
        if is_parameter:
            block, field = divmod(self.beat, FIELDS)
            assert ctx.get(parameters.place) == self.filled % PARAMETER_PLACES
            assert (ctx.get(parameters.block), ctx.get(parameters.field)) == (block, field)
        self.words[-1] = not is_parameter
        self.beat += 1
        self.filled += self.beat == PARAMETER_BEATS + PASS_BEATS * self.passes[self.filled]

    async def run(self, ctx: SimulatorContext) -> None:
        """Go on until all groups are done."""
        for _ in range(24_000):
            takes, ends, ends_results = self.drive(ctx)
            await ctx.delay(1e-9)
            self.look(ctx)
            # A group can be used from the fourth cycle behind its last beat on.
            self.available += self.arrived.popleft() - takes
            self.taken += takes
            self.used -= self.given_back.popleft()
            self.given_back.append(self.passes[self.ended] if ends else 0)
            self.ended += ends
            self.results += ends_results
            await ctx.tick()
            if self.results == GROUPS:
                return
        raise AssertionError(f"only {self.results} groups are done")


@pytest.mark.parametrize(("seed", "most"), [(0, 1), (1, 4), (2, 9)])
def test_rings(seed: int, most: int) -> None:
    """What is written goes to the next places, never to one that is in use."""
    rings = Rings(random.Random(seed), most)
    SIMULATION.run(rings.run)
    assert rings.was_full
    assert rings.written == [
        (number % PASS_PLACES, pair)
        for number in range(sum(rings.passes))
        for pair in range(PASS_BEATS)
    ]

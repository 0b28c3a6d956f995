"""Groups of jobs: the controller of groups equals its model in every cycle."""

import functools
import random
from dataclasses import dataclass

import pytest
from amaranth.sim import SimulatorContext

from kiwicha.contract.engine import JobKind, outputs_of
from kiwicha.contract.latencies import MOVE_DRAIN_CYCLES, drain_cycles
from kiwicha.gateware.engine.addressing.group_controller import GroupController
from tests.support.gateware.unit_simulation import UnitSimulation

DRAIN_CYCLES = drain_cycles(64, outputs_of(64))
JOBS = 60
OFFSETS = 1 << 16


@dataclass
class Model:
    """What a `GroupController` does, cycle by cycle."""

    state: str = "IDLE"
    to_begin: int = 0
    to_end: int = 0
    offset: int = 0
    cycles: int = 0
    is_first: int = 0

    def outputs(self, given: dict[str, int]) -> dict[str, int]:
        """Return what ports show while these are given."""
        wants = bool(self.to_begin and given["is_free"])
        drain = MOVE_DRAIN_CYCLES if given["has_unit"] else DRAIN_CYCLES
        is_drained = self.state == "DRAIN" and self.cycles == drain
        is_last_group = self.to_begin == self.to_end
        return {
            "begins_group": int(wants and given["has_weights"]),
            "waits_weights": int(wants and not given["has_weights"] and is_last_group),
            "is_last": int(self.to_end == 1),
            "is_first": self.is_first,
            "input_offset": self.offset,
            "is_busy": int(self.state != "IDLE"),
            "done": int(is_drained and not given["holds"]),
        }

    def step(self, given: dict[str, int], shown: dict[str, int]) -> None:
        """Go to the next cycle."""
        if shown["begins_group"]:
            self.is_first = 0
            self.to_begin -= 1
            self.offset = (self.offset + given["group_input_step"]) % OFFSETS
        if self.state == "IDLE" and given["start"]:
            self.state, self.offset, self.is_first = "GROUPS", 0, 1
            self.to_begin = self.to_end = given["groups"]
        elif self.state == "GROUPS":
            self.cycles = 1
            if given["group_ends"]:
                self.state = "DRAIN" if self.to_end == 1 else "GROUPS"
                self.to_end -= 1
        elif self.state == "DRAIN":
            self.state = "IDLE" if shown["done"] else "DRAIN"
            drain = MOVE_DRAIN_CYCLES if given["has_unit"] else DRAIN_CYCLES
            self.cycles += self.cycles != drain


@functools.cache
def simulation() -> UnitSimulation[GroupController]:
    return UnitSimulation(GroupController(drain_cycles=DRAIN_CYCLES, has_softmax=True))


@pytest.mark.parametrize("seed", range(2))
def test_equals_its_model(seed: int) -> None:
    dut = simulation().component
    rng = random.Random(seed)
    model = Model()
    jobs = 0

    async def bench(ctx: SimulatorContext) -> None:
        nonlocal jobs
        given = {"groups": 0, "has_unit": 0, "group_input_step": 0}
        while jobs < JOBS:
            starts = model.state == "IDLE" and rng.random() < 0.5
            if starts:
                kind = rng.choice((JobKind.CONV, JobKind.ADD, JobKind.MOVE, JobKind.SOFTMAX))
                given["has_unit"] = int(kind in {JobKind.MOVE, JobKind.SOFTMAX})
                given["groups"] = rng.choice((1, 2, 3, 9, 70))
                given["group_input_step"] = rng.getrandbits(16)
                ctx.set(dut.job.kind, kind)
                ctx.set(dut.job.groups, given["groups"])
                ctx.set(dut.job.group_input_step, given["group_input_step"])
            has_begun = model.to_end - model.to_begin > 0
            given |= {
                "start": int(starts),
                "has_weights": int(rng.random() < 0.5),
                "is_free": int(rng.random() < 0.7),
                # A group ends when it has begun.
                "group_ends": int(model.state == "GROUPS" and has_begun and rng.random() < 0.4),
                "holds": int(rng.random() < 0.6),
            }
            for name in ("start", "has_weights", "is_free", "group_ends", "holds"):
                ctx.set(getattr(dut, name), given[name])
            shown = model.outputs(given)
            assert {name: ctx.get(getattr(dut, name)) for name in shown} == shown
            jobs += shown["done"]
            model.step(given, shown)
            await ctx.tick()

    simulation().run(bench)
    assert jobs == JOBS

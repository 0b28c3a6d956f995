"""The memory of sums: what a job finds is what the one before it has left, beat by beat."""

import re
from typing import Any

import numpy as np
import pytest
from amaranth.sim import Simulator, SimulatorContext

from kiwicha.contract.engine import MAX_KEPT_SUMS
from kiwicha.gateware.engine.array.sum_memory import SumMemory

LANES = (4, 8, 16)
_WORD = 1 << 32


def run(lanes: int, jobs: list[tuple[list[int], bool]], pauses: np.random.Generator) -> list[int]:
    """Return what jobs find; each has beats to write, and whether it keeps them."""
    dut = SumMemory(lanes=lanes)
    found: list[int] = []
    due: list[tuple[bool, int]] = [(False, 0)] * 2

    async def cycle(ctx: SimulatorContext, restart: bool, beat: int | None) -> None:
        """Take a beat, give what belongs to the one two cycles ago, look at the one before."""
        ctx.set(dut.restart, restart)
        ctx.set(dut.valid, beat is not None)
        due.append((beat is not None, beat or 0))
        has_total, total = due.pop(0)
        ctx.set(dut.totals.as_value(), total if has_total else _WORD - 1)
        if due[0][0]:
            found.append(ctx.get(dut.sums.as_value()))
        await ctx.tick()

    async def bench(ctx: SimulatorContext) -> None:
        for beats, keeps in jobs:
            ctx.set(dut.keeps, keeps)
            await cycle(ctx, True, None)
            await cycle(ctx, False, None)
            for beat in beats:
                for _ in range(pauses.integers(0, 3)):
                    await cycle(ctx, False, None)
                await cycle(ctx, False, beat)
            for _ in range(3):
                await cycle(ctx, False, None)

    simulator = Simulator(dut)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    return found


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("seed", [1, 2])
def test_a_job_finds_what_was_kept(lanes: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    depth = MAX_KEPT_SUMS // min(lanes, 8)
    memory = [0] * depth
    jobs, expected = [], []
    for count in (depth, 1, 7, depth, 3, depth):
        beats = [int.from_bytes(rng.bytes(4 * lanes), "little") for _ in range(count)]
        keeps = bool(rng.integers(3))
        jobs.append((beats, keeps))
        expected += memory[:count]
        memory[:count] = beats if keeps else memory[:count]
    assert run(lanes, jobs, rng) == expected


def test_one_lane_is_enough() -> None:
    assert SumMemory(lanes=1).lanes == 1


@pytest.mark.parametrize("lanes", [0, 3, MAX_KEPT_SUMS, "8"])
def test_refuses_lanes_that_do_not_fill_it(lanes: Any) -> None:
    with pytest.raises(
        ValueError, match=re.escape(f"lanes must be a divisor of 4096, not {lanes!r}")
    ):
        SumMemory(lanes=lanes)

"""Where lists can stop."""

import functools
from typing import Any

import pytest
from amaranth.sim import SimulatorContext

from kiwicha.contract.engine import JobFlag, JobKind, SumFlag
from kiwicha.gateware.engine.control.pause import Pause
from tests.support.gateware.unit_simulation import UnitSimulation

CONV, KEEP, BOTH, CONTINUE = (
    {"kind": JobKind.CONV, "sums": sums}
    for sums in (SumFlag.NONE, SumFlag.KEEP, SumFlag.KEEP | SumFlag.CONTINUE, SumFlag.CONTINUE)
)
MOVE = {"kind": JobKind.MOVE, "sums": SumFlag.KEEP}
TABLES = {"kind": JobKind.ADD, "flags": JobFlag.FUSED}
ADDED = {"kind": JobKind.CONV, "flags": JobFlag.FUSED}


@functools.cache
def simulation() -> UnitSimulation[Pause]:
    return UnitSimulation(Pause())


def places(*jobs: dict[str, Any]) -> list[int]:
    """Give the numbers of the jobs before which a list can stop; behind the last one counts."""
    dut = simulation().component
    found: list[int] = []

    async def pulse(ctx: SimulatorContext, signal: Any) -> None:
        ctx.set(signal, 1)
        await ctx.tick()
        ctx.set(signal, 0)

    async def bench(ctx: SimulatorContext) -> None:
        await pulse(ctx, dut.begins)
        for number in range(len(jobs) + 1):
            assert not ctx.get(dut.holds)
            assert not ctx.get(dut.is_between)
            ctx.set(dut.request, 1)
            assert ctx.get(dut.holds) == ctx.get(dut.is_between)
            if ctx.get(dut.is_between):
                found.append(number)
            ctx.set(dut.request, 0)
            if number == len(jobs):
                break
            ctx.set(dut.job, {"kind": 0, "flags": 0, "sums": 0, **jobs[number]})
            await pulse(ctx, dut.job_starts)
            ctx.set(dut.request, 1)
            assert not ctx.get(dut.is_between)
            ctx.set(dut.request, 0)
            await pulse(ctx, dut.job_done)
        # What one list keeps is no matter of the next one.
        await pulse(ctx, dut.begins)
        ctx.set(dut.request, 1)
        assert ctx.get(dut.is_between)

    simulation().run(bench)
    return found


@pytest.mark.parametrize(
    ("jobs", "expected"),
    [
        ([CONV, CONV], [0, 1, 2]),
        ([KEEP, CONTINUE, CONV], [0, 2, 3]),
        ([KEEP, CONV, BOTH, CONTINUE], [0, 4]),
        ([MOVE, CONV], [0, 1, 2]),
        ([CONV, TABLES, ADDED, CONV], [0, 1]),
        ([ADDED, {"kind": JobKind.ADD}, CONV], [0, 1, 2, 3]),
    ],
    ids=["apart", "sums", "longer", "moves", "tables", "without tables"],
)
def test_lists_stop_where_nothing_is_kept(jobs: list[dict[str, Any]], expected: list[int]) -> None:
    assert places(*jobs) == expected

"""Execute instructions on a `SignalUnit` in Amaranth's simulator."""

from typing import Any

from kiwicha.gateware.signal.signal_unit import SignalUnit

__all__ = ["execute"]

_LIMIT_CYCLES = 4000


async def execute(
    ctx: Any, dut: SignalUnit, op: int, index: int, a: int, b: int
) -> tuple[int, int]:
    """Execute an instruction; return its answer, and the cycles that it waited before."""
    waited = 0
    while ctx.get(dut.is_busy):
        await ctx.tick()
        waited += 1
        assert waited < _LIMIT_CYCLES
    for name, value in (("op", op), ("index", index), ("inputs_0", a), ("inputs_1", b)):
        ctx.set(getattr(dut.command, name), value)
    ctx.set(dut.start, 1)
    answer, waits = ctx.get(dut.answer), ctx.get(dut.waits)
    await ctx.tick()
    ctx.set(dut.start, 0)
    if waits:
        late = 0
        while not ctx.get(dut.has_answer):
            await ctx.tick()
            late += 1
            assert late < _LIMIT_CYCLES
        answer = ctx.get(dut.late_answer)
        await ctx.tick()
    return answer, waited

"""Reciprocals and products of SOFTMAX jobs against TFLite's arithmetic, all bits of them."""

import numpy as np
import pytest
from amaranth.sim import Simulator, SimulatorContext

from kiwicha.gateware.engine.softmax.quotients import Quotients
from kiwicha.numerics.requantization import saturating_rounding_doubling_high_mul as high_mul
from kiwicha.numerics.requantization import softmax_reciprocal

_DIVIDE_CYCLES = 22
_QUOTIENT_CYCLES = 4
_ONE = 1 << 19
SUMS = [_ONE, _ONE + 1, 2 * _ONE - 1, 2 * _ONE, 5 * _ONE // 4, 7 * _ONE // 4, (1 << 31) - 1]
"""The least and largest ones, and those where the first estimate is half a bit from the next."""
EXPONENTIALS = [2**31 - 1, 0, 1, 2**30, 3, 0x2AAA_AAAB]


def quotients_of(sums: list[int]) -> list[tuple[int, list[int]]]:
    """Return the exponent of each sum, and its quotients, which follow each other at once."""
    dut = Quotients()
    found = []

    async def bench(ctx: SimulatorContext) -> None:
        for total in sums:
            ctx.set(dut.sum, total)
            ctx.set(dut.begins, 1)
            await ctx.tick()
            ctx.set(dut.begins, 0)
            await ctx.tick()
            # The next row's exponentials are summed later.
            ctx.set(dut.sum, 0)
            for _ in range(_DIVIDE_CYCLES - 2):
                await ctx.tick()
            values = []
            for number in range(len(EXPONENTIALS) + _QUOTIENT_CYCLES):
                if number >= _QUOTIENT_CYCLES:
                    values.append(ctx.get(dut.quotient))
                ctx.set(dut.takes, number < len(EXPONENTIALS))
                ctx.set(dut.exponential, EXPONENTIALS[number % len(EXPONENTIALS)])
                await ctx.tick()
            found.append((ctx.get(dut.exponent), values))

    simulator = Simulator(dut)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    return found


@pytest.mark.parametrize("seed", range(2))
def test_quotients(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sums = [*SUMS, *(int(2 ** rng.uniform(19, 31)) for _ in range(60))]
    for total, (exponent, values) in zip(sums, quotients_of(sums), strict=True):
        scale, bits_over_unit = softmax_reciprocal(total)
        assert exponent == bits_over_unit, total
        expected = high_mul(np.int64(scale), np.array(EXPONENTIALS, np.int64))
        assert values == expected.tolist(), total

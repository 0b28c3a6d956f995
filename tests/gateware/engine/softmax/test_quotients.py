"""Reciprocals, products and logarithms of SOFTMAX jobs against TFLite's, all bits of them."""

import numpy as np
import pytest
from amaranth.sim import Simulator, SimulatorContext

from kiwicha.gateware.engine.softmax.quotients import Quotients
from kiwicha.numerics.logarithm import natural_logarithm
from kiwicha.numerics.requantization import saturating_rounding_doubling_high_mul as high_mul
from kiwicha.numerics.requantization import softmax_reciprocal

_DIVIDE_CYCLES = 22
_QUOTIENT_CYCLES = 4
_LOGARITHM_CYCLES = 41
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


def logarithms_of(sums: list[int]) -> list[int]:
    """Return the logarithm of each sum; exponentials change nothing."""
    dut = Quotients()
    found = []

    async def bench(ctx: SimulatorContext) -> None:
        ctx.set(dut.has_logarithm, 1)
        for total in sums:
            ctx.set(dut.sum, total)
            ctx.set(dut.begins, 1)
            await ctx.tick()
            ctx.set(dut.begins, 0)
            await ctx.tick()
            ctx.set(dut.sum, 0)
            await ctx.tick().repeat(_LOGARITHM_CYCLES - 3)
            ctx.set(dut.takes, 1)
            ctx.set(dut.exponential, 12345)
            for _ in range(6):
                await ctx.tick()
                found.append(ctx.get(dut.quotient))
            ctx.set(dut.takes, 0)

    simulator = Simulator(dut)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    return found


@pytest.mark.parametrize("seed", range(2))
def test_logarithms(seed: int) -> None:
    rng = np.random.default_rng(seed)
    # Where the sum times the root of 1/2 has a bit less only if it is not rounded, and beside it.
    edges = [round(2**bits * 0.5**0.5) + more for bits in range(20, 32) for more in (-2, -1, 0, 1)]
    sums = [*SUMS, *(edges if seed else ()), *(int(2 ** rng.uniform(19, 31)) for _ in range(60))]
    expected = [natural_logarithm(total) // 2 % 2**32 for total in sums for _ in range(6)]
    assert logarithms_of(sums) == expected

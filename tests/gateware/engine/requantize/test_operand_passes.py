"""Passes of the requantizer for operands and products of int16, between those of sums."""

import functools

import numpy as np
import pytest
from amaranth.sim import SimulatorContext

from kiwicha.contract.latencies import WIDE_REQUANTIZER_CYCLES
from kiwicha.contract.short_elements import OPERAND_SHIFT
from kiwicha.gateware.engine.requantize.requantizer import OPERAND_LEFT, Requantizer
from kiwicha.numerics.requantization import (
    multiply_by_quantized_multiplier,
    requantize_to_shorts,
)
from tests.support.gateware.unit_simulation import UnitSimulation

RAISED_CYCLES, PRODUCT_CYCLES = 8, 4
EDGES = [0, 1, -1, 2, -2, 2**15 - 1, -(2**15), -(2**15) + 1, 2**14, -(2**14), 21845, -21846]
MULTIPLIERS = [0, 1, 2**30, 2**30 + 1, 2**31 - 1, 3 << 29]


@functools.cache
def simulation() -> UnitSimulation[Requantizer]:
    return UnitSimulation(Requantizer(lanes=1, has_int16=True))


@pytest.mark.parametrize("is_difference", [False, True])
def test_operands_products_and_sums(is_difference: bool) -> None:
    """In four cycles two operands, of which the first may be one more, and a sum in two passes.

    In four others a product, and a sum.
    """
    unit = simulation().component
    rng = np.random.default_rng(11)
    due: dict[tuple[int, str], int] = {}

    def number() -> int:
        return int(rng.choice(EDGES) if rng.integers(3) == 0 else rng.integers(-(2**15), 2**15))

    def multiplier() -> int:
        return int(rng.choice(MULTIPLIERS) if rng.integers(3) == 0 else rng.integers(2**30, 2**31))

    async def bench(ctx: SimulatorContext) -> None:
        ctx.set(unit.is_wide, 1)
        ctx.set(unit.is_short, 1)
        ctx.set(unit.is_difference, is_difference)
        ctx.set(unit.minimum, -128)
        ctx.set(unit.maximum, 127)
        outputs = {"raised": unit.raised[0], "product": unit.products[0]}
        beat = unit.beats.payload
        parameters = beat.parameters[0]
        for cycle in range(1600):
            turn, phase = divmod(cycle, 4)
            is_product = turn % 2 == 1 and phase == 0
            is_operand = turn % 2 == 0 and phase < 2
            ctx.set(unit.beats.valid, is_product or is_operand or phase == 2)
            ctx.set(unit.is_product, is_product)
            ctx.set(unit.is_operand, is_operand)
            scale, shift, left = multiplier(), int(rng.integers(32)), 0
            if is_operand:
                x, left = number(), OPERAND_LEFT
                value = multiply_by_quantized_multiplier(x << OPERAND_SHIFT, scale, -shift)
                more = int(is_difference and phase == 0)
                due[cycle + RAISED_CYCLES, "raised"] = int(value) + more
            elif is_product:
                x, other = number(), number()
                ctx.set(unit.others[0], other)
                due[cycle + PRODUCT_CYCLES, "product"] = x * other
            elif phase == 2:
                x = int(rng.integers(-(2**31), 2**31))
                value = requantize_to_shorts(x, scale, -shift, -128, 127)
                due[cycle + WIDE_REQUANTIZER_CYCLES, "result"] = int(value)
            if phase != 3 and (is_operand or is_product or phase == 2):
                ctx.set(beat.sums[0], x)
            ctx.set(parameters.multiplier, scale)
            ctx.set(parameters.left, left)
            ctx.set(parameters.right, shift)
            for kind, output in outputs.items():
                if (cycle, kind) in due:
                    assert ctx.get(output) == due.pop((cycle, kind)), (cycle, kind)
            assert ctx.get(unit.results.valid) == ((cycle, "result") in due)
            if (cycle, "result") in due:
                got = 256 * ctx.get(unit.results.payload.values[0]) + ctx.get(unit.lowers[0])
                assert got == due.pop((cycle, "result")), cycle
            await ctx.tick()

    simulation().run(bench)

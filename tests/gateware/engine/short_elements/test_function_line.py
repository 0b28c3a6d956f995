"""Functions of a beat of int16 against their definition, and the cycles that they take."""

import functools

import numpy as np
import pytest
from amaranth.sim import SimulatorContext

from kiwicha.contract.latencies import (
    SHORT_FUNCTION_CYCLES,
    SHORT_LINE_CYCLES,
    SHORT_PASS_CYCLES,
)
from kiwicha.contract.short_elements import ELEMENT_LANES
from kiwicha.gateware.engine.short_elements.function_line import FunctionLine
from kiwicha.numerics.short_activations import short_logistic, short_tanh
from tests.support.gateware.unit_simulation import UnitSimulation

LATENCY = SHORT_LINE_CYCLES - SHORT_PASS_CYCLES
EDGES = [
    *(0, 1, -1, 255, 256, 257, 511, 512, -511, -512, -513),
    *(255 * 256 - 1, 255 * 256, -255 * 256, 65535, 65536, -65536, -65537),
    *(255 * 512 - 1, 255 * 512, 255 * 512 + 1, -255 * 512 + 1, -255 * 512, -255 * 512 - 1),
    *(131071, 131072, -131072, -131073, 262144, -262144, 2**30, -(2**30), 2**31 - 1, -(2**31)),
]


@functools.cache
def simulation() -> UnitSimulation[FunctionLine]:
    return UnitSimulation(FunctionLine())


@pytest.mark.parametrize("is_tanh", [False, True])
def test_beats_behind_each_other(is_tanh: bool) -> None:
    unit = simulation().component
    rng = np.random.default_rng(3)
    numbers = np.concatenate([EDGES, rng.integers(-(2**18), 2**18, 98 - len(EDGES) % 8)])
    beats = numbers[: len(numbers) // ELEMENT_LANES * ELEMENT_LANES].reshape(-1, ELEMENT_LANES)
    function = short_tanh if is_tanh else short_logistic

    async def bench(ctx: SimulatorContext) -> None:
        ctx.set(unit.is_tanh, is_tanh)
        for cycle in range(len(beats) * SHORT_FUNCTION_CYCLES + LATENCY + 1):
            number, turn = divmod(cycle, SHORT_FUNCTION_CYCLES)
            ctx.set(unit.start, turn == 0 and number < len(beats))
            if turn == 1 and number < len(beats):
                for lane, value in enumerate(beats[number].tolist()):
                    ctx.set(unit.arguments[lane], value)
            done, rest = divmod(cycle - LATENCY, SHORT_FUNCTION_CYCLES)
            if rest == 0 and 0 <= done < len(beats):
                got = [ctx.get(unit.values[lane]) for lane in range(ELEMENT_LANES)]
                assert got == function(beats[done]).tolist(), beats[done]
            await ctx.tick()

    simulation().run(bench)

"""The decoder, for every function id there is."""

from typing import Any

import pytest
from amaranth.sim import Simulator

from kiwicha.contract.cfu import INSTRUCTIONS, UNKNOWN_RESPONSE, function_id
from kiwicha.contract.configs import CONFIGS
from kiwicha.gateware.instructions.decode import Decoder
from kiwicha.sim.reference.cfu_model import CfuModel


@pytest.mark.parametrize("config", CONFIGS)
def test_knows_what_the_model_knows(config: str) -> None:
    dut = Decoder(has_simd=CONFIGS[config].has_simd)
    names_of: dict[int, str] = {
        function_id(item.group, item.op, index): name
        for name, item in INSTRUCTIONS.items()
        for index in range(item.indexes)
    }

    async def testbench(ctx: Any) -> None:
        for number in range(1024):
            ctx.set(dut.function_id, number)
            await ctx.delay(1e-9)
            is_known = CfuModel(CONFIGS[config]).execute(number) != UNKNOWN_RESPONSE + number
            flags = [name for name in INSTRUCTIONS if ctx.get(dut.o[name])]
            assert flags == ([names_of[number]] if is_known else [])
            assert ctx.get(dut.o.is_known) == is_known
            assert ctx.get(dut.o.index) == number >> 3 & 15

    simulator = Simulator(dut)
    simulator.add_testbench(testbench)
    simulator.run()

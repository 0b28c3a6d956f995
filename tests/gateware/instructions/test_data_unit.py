"""The data unit against its definition."""

import random
from typing import Any

import pytest
from amaranth.sim import Simulator

from kiwicha.contract.cfu import INSTRUCTIONS, DataOp, Group, function_id
from kiwicha.contract.configs import CONFIGS
from kiwicha.gateware.instructions.data_unit import DataUnit
from kiwicha.sim.reference.cfu_model import CfuModel

EXTREMES = [0, 0xFFFF_FFFF, 0x7F80_7F80, 0x807F_807F, 0x0102_0304, 0xFF00_01FE]


@pytest.mark.parametrize("seed", range(2))
def test_equals_the_model(seed: int) -> None:
    rng = random.Random(seed)
    dut = DataUnit()
    model = CfuModel(CONFIGS["simd"])
    pairs = [(a, b) for a in EXTREMES for b in EXTREMES]
    pairs += [(rng.getrandbits(32), rng.getrandbits(32)) for _ in range(100)]

    async def testbench(ctx: Any) -> None:
        for a, b in pairs:
            ctx.set(dut.inputs_0, a)
            ctx.set(dut.inputs_1, b)
            for op in DataOp:
                for flag in set(DataOp) - {DataOp.ALIGN}:
                    ctx.set(getattr(dut, f"is_{flag.name.lower()}"), op == flag)
                for index in range(INSTRUCTIONS[op.name.lower()].indexes):
                    ctx.set(dut.index, index)
                    await ctx.delay(1e-9)
                    expected = model.execute(function_id(Group.DATA, op, index), a, b)
                    assert ctx.get(dut.o) == expected, (op, index, hex(a), hex(b))

    simulator = Simulator(dut)
    simulator.add_testbench(testbench)
    simulator.run()


def test_each_result_on_one_example() -> None:
    model = CfuModel(CONFIGS["simd"])
    a, b = 0x80FF_7F01, 0x7F01_8002
    assert model.execute(function_id(Group.DATA, DataOp.ALIGN, 3), a, b) == 0x0180_0280
    assert model.execute(function_id(Group.DATA, DataOp.EXTRACT, 2), a, b) == 0xFFFF_FFFF
    assert model.execute(function_id(Group.DATA, DataOp.EXTRACT, 1), a, b) == 0x7F
    assert model.execute(function_id(Group.DATA, DataOp.PACK), a, b) == 0x0280_FF7F
    assert model.execute(function_id(Group.DATA, DataOp.MAX), a, b) == 0x7F01_7F02

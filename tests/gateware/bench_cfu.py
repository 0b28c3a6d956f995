"""Benches of the whole custom function unit, against `CfuModel`."""

import itertools
import random
from typing import Any

import cocotb
from cocotb.triggers import FallingEdge

from kiwicha.contract.configs import CONFIGS
from kiwicha.sim.reference import cfu_vectors
from kiwicha.sim.reference.cfu_model import CfuModel
from kiwicha.sim.reference.cfu_orders import Instruction
from kiwicha.sim.reference.cfu_vectors import CYCLES, random_instructions
from tests.gateware.cfu_driver import Answers, execute, feed
from tests.support.gateware import bench, stream_drivers

__all__ = ["every_function_id", "orders", "random_streams", "resets"]


async def _reset(dut: Any) -> None:
    dut.cmd_valid.value = 0
    dut.reset.value = 1
    for _ in range(2):
        await FallingEdge(dut.clk)
    dut.reset.value = 0


def _compare(
    instructions: list[Instruction], answers: Answers, config: str, place: str = ""
) -> None:
    model = CfuModel(CONFIGS[config])
    first_cycle = None
    for number, (instruction, answer) in enumerate(zip(instructions, answers.values, strict=True)):
        expected = model.execute(*instruction)
        if instruction[0] == CYCLES:
            counted = answer - answers.accepted[number]
            first_cycle = counted if first_cycle is None else first_cycle
            expected = first_cycle + answers.accepted[number]
        assert answer == expected, (
            f"{place}instruction {number}, {[hex(x) for x in instruction]}: "
            f"{answer:#x}, not {expected:#x}"
        )


@cocotb.test()
async def random_streams(dut: Any) -> None:
    """Execute random instructions with stalls on both sides."""
    values = bench.parameters()
    rng = random.Random(values["seed"])
    instructions = random_instructions(rng, values["count"])
    answers = await feed(
        dut,
        instructions,
        seed=values["seed"],
        command_stall=values["command_stall"],
        response_stall=values["response_stall"],
    )
    _compare(instructions, answers, "simd")


@cocotb.test()
async def resets(dut: Any) -> None:
    """Reset the CFU in the middle of random instructions, again and again."""
    values = bench.parameters()
    rng = random.Random(values["seed"])
    await stream_drivers.reset(dut.clk, dut.reset)
    for _ in range(values["count"]):
        instructions = random_instructions(rng, values["instructions"])
        _compare(instructions, await execute(dut, instructions), "simd")
        await FallingEdge(dut.clk)
        # Others follow, whether they are taken or not.
        for function_id, *inputs in random_instructions(rng, rng.randrange(40)):
            dut.cmd_valid.value = 1
            dut.cmd_payload_function_id.value = function_id
            for number, value in enumerate(inputs):
                getattr(dut, f"cmd_payload_inputs_{number}").value = value
            dut.rsp_ready.value = rng.random() < 0.9
            await FallingEdge(dut.clk)
        await _reset(dut)


@cocotb.test()
async def every_function_id(dut: Any) -> None:
    """Execute every function id there is, twice in random order."""
    values = bench.parameters()
    rng = random.Random(values["seed"])
    instructions = cfu_vectors.every_function_id(rng, CONFIGS[values["config"]])
    answers = await feed(dut, instructions)
    _compare(instructions, answers, values["config"])


@cocotb.test()
async def orders(dut: Any) -> None:
    """Execute given instructions at full speed; check answers, and when they come.

    Parameters: by the name of each order ``instructions``, ``latencies``, the cycles from each
    command to its answer, and ``distances``, those to the next command. Each begins with a reset.
    """
    await stream_drivers.reset(dut.clk, dut.reset)
    for name, values in bench.parameters().items():
        await FallingEdge(dut.clk)
        await _reset(dut)
        instructions: list[Instruction] = [tuple(words) for words in values["instructions"]]
        answers = await execute(dut, instructions)
        _compare(instructions, answers, "simd", f"{name}: ")
        latencies = [
            answered - accepted
            for accepted, answered in zip(answers.accepted, answers.answered, strict=True)
        ]
        assert latencies == values["latencies"], f"{name}: latencies are {latencies}"
        steps = itertools.pairwise(answers.accepted)
        distances = [after - before for before, after in steps]
        assert distances == values["distances"][:-1], f"{name}: distances are {distances}"

"""Feed a stream of custom instructions to module ``Cfu`` in cocotb and collect the answers."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kiwicha.sim.reference.cfu_orders import Instruction
from tests.support.gateware import stream_drivers

__all__ = ["Answers", "execute", "feed"]


@dataclass(frozen=True)
class Answers:
    """What came of a stream of instructions.

    Parameters
    ----------
    values : list of int
        The answers.
    accepted : list of int
        Cycle in which each instruction was taken.
    answered : list of int
        Cycle in which each answer was there for the first time.
    """

    values: list[int]
    accepted: list[int]
    answered: list[int]


async def feed(dut: Any, instructions: Sequence[Instruction], **options: Any) -> Answers:
    """Start the clock, reset the CFU and execute instructions; options as for `execute`."""
    await stream_drivers.reset(dut.clk, dut.reset)
    return await execute(dut, instructions, **options)


async def execute(
    dut: Any,
    instructions: Sequence[Instruction],
    *,
    seed: int = 0,
    command_stall: float = 0,
    response_stall: float = 0,
    limit_cycles: int = 0,
) -> Answers:
    """Execute instructions.

    Parameters
    ----------
    dut : cocotb handle
        Module ``Cfu``.
    instructions : sequence of Instruction
        In program order.
    seed : int
        Of the stalls.
    command_stall, response_stall : float
        Share of the cycles without a command and without readiness for a response.
    limit_cycles : int
        Fails after so many; 0 means 20 per instruction at full speed, more with stalls.
    """
    rng = random.Random(seed)
    names = ("function_id", "inputs_0", "inputs_1")
    source = stream_drivers.Source(
        dut.cmd_valid,
        dut.cmd_ready,
        {name: getattr(dut, f"cmd_payload_{name}") for name in names},
        [dict(zip(names, instruction, strict=True)) for instruction in instructions],
        rng,
        command_stall,
    )
    sink = stream_drivers.Sink(
        dut.rsp_valid, dut.rsp_ready, dut.rsp_payload_outputs_0, rng, response_stall
    )
    busiest = max(command_stall, response_stall)
    limit = limit_cycles or int(100 + 20 * len(instructions) / (1 - busiest))
    await stream_drivers.run_until(
        dut.clk,
        [source, sink],
        lambda: source.is_done and len(sink.taken) == len(instructions),
        limit_cycles=limit,
    )
    return Answers(sink.taken, source.taken_cycles, sink.first_valid_cycles)

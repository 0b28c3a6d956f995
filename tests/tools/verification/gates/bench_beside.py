"""Bench of a design that compares itself: random inputs."""

import random
from typing import Any

import cocotb
from cocotb.triggers import FallingEdge

from tests.support.gateware import bench, stream_drivers

__all__ = ["random_inputs"]


@cocotb.test()
async def random_inputs(dut: Any) -> None:
    """Drive inputs of so many bits in each cycle; a difference ends the simulator."""
    values = bench.parameters()
    rng = random.Random(values["seed"])
    await stream_drivers.reset(dut.clk, dut.rst)
    for _ in range(values["cycles"]):
        for name, bits in values["inputs"].items():
            getattr(dut, name).value = rng.getrandbits(bits)
        await FallingEdge(dut.clk)

"""All sums of two numbers of four bits."""

from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge, Timer

__all__ = ["all_sums"]


@cocotb.test()
async def all_sums(dut: Any) -> None:
    """Compare the sum behind each edge, and reset it."""
    Clock(dut.clk, 10, unit="ns").start()
    dut.rst.value = 0
    for a in range(16):
        for b in range(16):
            dut.a.value, dut.b.value = a, b
            await RisingEdge(dut.clk)
            await Timer(1, "ns")
            assert int(dut.sum.value) == a + b
    for is_reset, wanted in ((1, 0), (0, 30)):
        dut.rst.value = is_reset
        await RisingEdge(dut.clk)
        await Timer(1, "ns")
        assert int(dut.sum.value) == wanted

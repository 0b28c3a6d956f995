"""Bench of two forms of the multiplier cell that are compared inside the design."""

from typing import Any

import cocotb
from cocotb.triggers import Timer

from tests.support.gateware import bench, stream_drivers

__all__ = ["forms_are_equal"]


@cocotb.test()
async def forms_are_equal(dut: Any) -> None:
    """Run the design's own stimuli to their end, then look at its verdict."""
    await stream_drivers.reset(dut.clk, dut.rst)
    # Python has nothing to do in between.
    await Timer(bench.parameters()["cycles"] * stream_drivers.CLOCK_NS, unit="ns")
    assert int(dut.is_done.value) == 1
    assert int(dut.is_active.value) == 1, "the sums must have changed"
    assert int(dut.is_different.value) == 0

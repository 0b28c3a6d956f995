"""Verilog of memories that start with zeros."""

import re

import pytest

from kiwicha.contract.configs import ENGINE_CONFIGS
from kiwicha.gateware import cfu
from kiwicha.gateware.engine.array.mac_cell import Vendor
from kiwicha.sim.verilator.power_up import without_zeros


def test_words_of_zero_alone_are_left_out() -> None:
    before = """\
  reg [15:0] bank [2:0];
  initial begin
    bank[0] = 16'h0000;
    bank[1] = 16'h0010;
    bank[2] = 16'h0000;
  end
  reg flag = 1'h0;
    flag = 1'h0;
    bank[address] = 16'h0000;
"""
    lines = before.splitlines(keepends=True)
    assert without_zeros(before) == "".join(lines[:2] + lines[3:4] + lines[5:])


@pytest.mark.slow
def test_the_scratchpad_starts_with_zeros() -> None:
    before = cfu.verilog(ENGINE_CONFIGS["64"], Vendor.GENERIC)
    after = without_zeros(before)
    left_out = set(before.splitlines()) - set(after.splitlines())
    assert {"bank_0", "bank_1"} <= {line.split("[")[0].strip() for line in left_out}
    assert not re.search(r"bank_\d\[\d+\] =", after)

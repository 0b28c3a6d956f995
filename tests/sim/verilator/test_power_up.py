"""Verilog of memories that start with zeros."""

import re

from amaranth.back import verilog

from kiwicha.gateware.engine.memory.scratchpad import Scratchpad
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


def test_nothing_is_left_of_a_scratchpad() -> None:
    before = str(verilog.convert(Scratchpad(size_bytes=2048), emit_src=False))
    words = re.findall(r"^ +bank_\d\[\d+\] = .*\n", before, re.M)
    assert len(words) == 2048 // 16
    assert without_zeros(before) == re.sub(r"^ +bank_\d\[\d+\] = .*\n", "", before, flags=re.M)

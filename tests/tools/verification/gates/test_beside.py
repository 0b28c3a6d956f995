"""A netlist beside its source: what differs is seen, and what was never written."""

from pathlib import Path

import pytest

from kiwicha.boards.family import Family
from kiwicha.errors import SimulationError
from tests.support.gateware import bench, vendor_cells
from tools.verification.gates.beside import COMPARED_FILE, beside
from tools.verification.gates.gate_engine import VERILATOR_FLAGS, any_start
from tools.verification.gates.gate_netlist import Port

BENCH = "tests.tools.verification.gates.bench_beside.random_inputs"
TOP = "both"
PORTS = (
    Port("clk", True, 1),
    Port("rst", True, 1),
    Port("x", True, 6),
    Port("kept__valid", False, 1),
    Port("kept__payload", False, 1),
)
# The payload is known from when it becomes valid, which takes some time.
RTL = """
module rtl(input clk, input rst, input [5:0] x, output reg kept__valid, output reg kept__payload);
  initial {kept__valid, kept__payload} = 0;
  always @(posedge clk) begin
    if (rst) kept__valid <= 0;
    else if (&x[4:0]) kept__valid <= 1;
    if (&x[4:0]) kept__payload <= x[4] & x[5];
  end
endmodule
"""


def gate(*, init: str = "8", has_reset: bool = True) -> str:
    """Return the same from cells of Xilinx; INIT of the smaller LUT is that of AND."""
    reset = "rst" if has_reset else "1'b0"
    return f"""
module gate(input clk, input rst, input [5:0] x, output kept__valid, output kept__payload);
  wire product, all;
  LUT2 #(.INIT(4'h{init})) one(.O(product), .I0(x[4]), .I1(x[5]));
  LUT5 #(.INIT(32'h80000000)) other(.O(all), .I0(x[0]), .I1(x[1]), .I2(x[2]), .I3(x[3]), .I4(x[4]));
  FDRE valid(.C(clk), .CE(all), .D(1'b1), .R({reset}), .Q(kept__valid));
  FDRE payload(.C(clk), .CE(all), .D(product), .R(1'b0), .Q(kept__payload));
endmodule
"""


def run(text: str, folder: Path, plusargs: tuple[str, ...] = ()) -> int:
    """Return how many cycles were compared."""
    both = beside(
        TOP,
        PORTS,
        clock="clk",
        reset="rst",
        answer="kept__valid",
        any_start=vendor_cells.ANY_START,
    )
    cells = vendor_cells.cells(Family.XC7, ["LUT2", "LUT5", "FDRE"])
    simulator = bench.build(both + RTL + text + cells, TOP, VERILATOR_FLAGS)
    values = {"seed": 1, "cycles": 200, "inputs": {"x": 6}}
    bench.run(simulator, TOP, BENCH, values, folder, plusargs)
    return int((folder / COMPARED_FILE).read_text().split()[-1])


@pytest.mark.nightly
@pytest.mark.verilator
@pytest.mark.synth
def test_what_is_equal_is_compared_from_any_start(tmp_path: Path) -> None:
    assert run(gate(), tmp_path) > 0
    for seed in (1, 2, 3):
        run(gate(), tmp_path, any_start(seed))


@pytest.mark.verilator
@pytest.mark.synth
def test_a_bit_of_a_lut_is_seen(tmp_path: Path) -> None:
    with pytest.raises(SimulationError, match="kept__payload must be"):
        run(gate(init="0"), tmp_path)


@pytest.mark.nightly
@pytest.mark.verilator
@pytest.mark.synth
def test_a_register_without_reset_is_seen_from_some_starts_only(tmp_path: Path) -> None:
    text = gate(has_reset=False)
    run(text, tmp_path)
    seen = 0
    for seed in range(1, 9):
        try:
            run(text, tmp_path, any_start(seed))
        except SimulationError as error:
            seen += "kept__valid must be 0, not 1" in str(error)
    assert 0 < seen < 8

"""Hashes of Verilog as LiteX writes it: names of a module's own signals do not count."""

import pytest

from kiwicha.contract.configs import CONFIGS
from kiwicha.sim.soc import hardware_hash
from kiwicha.sim.soc.hardware_hash import cfu_hash, verilog_hash

TEXT = """\
module soc (
    input  wire clk,
    output reg  [3:0] out
);
reg  [3:0] count = 4'd3;
wire       ready;
assign ready = clk;
always @(posedge clk) begin
    count <= (count + 4'd1);
    out <= count;
end
Cfu cfu(.clk(clk), .ready(ready));
endmodule
"""


def changed(*pairs: tuple[str, str]) -> str:
    text = TEXT
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    return verilog_hash({"soc.v": text})


def test_names_of_signals_comments_layout_and_their_order_do_not_count() -> None:
    declarations = "reg  [3:0] count = 4'd3;\nwire       ready;\n"
    swapped = "wire       ready;\nreg  [3:0] count = 4'd3;\n"
    for pairs in (
        [("count", "zero")],
        [("wire       ready", "wire yes"), ("ready = ", "yes = "), ("(ready)", "(yes)")],
        [("begin\n", "begin // comment\n  /* and\n another */")],
        [(declarations, swapped)],
    ):
        assert changed(*pairs) == changed()


@pytest.mark.parametrize(
    "pair",
    [
        ("4'd3", "4'd2"),
        ("[3:0] count", "[4:0] count"),
        ("+", "-"),
        ("out <= count", "out <= clk"),
        (".ready(", ".valid("),
        ("Cfu cfu", "Other cfu"),
        ("clk", "clock"),
    ],
    ids=" for ".join,
)
def test_everything_else_counts(pair: tuple[str, str]) -> None:
    assert changed(pair) != changed()


def test_each_cfu_has_a_hash_that_is_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [cfu_hash(config) for config in CONFIGS.values()]
    assert len(set(found)) == len(CONFIGS)
    monkeypatch.setattr(hardware_hash, "design_hash", lambda *_: pytest.fail("computed again"))
    assert [cfu_hash(config) for config in CONFIGS.values()] == found

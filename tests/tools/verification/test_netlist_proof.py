"""Tests of the proof that a netlist computes the same as its source."""

import json
from pathlib import Path

import pytest

from tools.verification.correspondence import correspond
from tools.verification.netlist_proof import Proof, prove
from tools.verification.netlist_text import renamed
from tools.yosys import run_yosys

pytestmark = [pytest.mark.nightly, pytest.mark.synth]

PORTS = "module top(input clk, a, b, output o, n);"
SOURCE = f"""{PORTS}
    reg p = 0, q = 0;
    always @(posedge clk) begin p <= a ^ q; q <= b; end
    assign o = p;
    assign n = q ^ b;
endmodule"""


def proof(folder: Path, source: str, netlist: str) -> Proof:
    """Return what is proven of two texts in Verilog."""
    for name, text in (("gold", source), ("gate", netlist)):
        (folder / f"{name}.v").write_text(text, encoding="utf-8")
        made = f"read_verilog {name}.v; proc; opt_clean; dffunmap; write_json {name}.json"
        run_yosys(["-p", f"{made}; write_rtlil {name}.il"], folder)
    gold, gate = (
        json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
        for name in ("gold", "gate")
    )
    found = correspond(gold["modules"]["top"], gate["modules"]["top"])
    (folder / "gold.json").write_text(json.dumps(gold), encoding="utf-8")
    words = gold["modules"]["top"]["netnames"]
    text = renamed(
        (folder / "gate.il").read_text(encoding="utf-8"),
        widths={name: len(word["bits"]) for name, word in words.items()},
        more=found.shifted | found.merged,
    )
    (folder / "gate.il").write_text(text, encoding="utf-8")
    return prove(folder, 300)


def test_what_is_the_same_is_equal_from_the_first_cycle_on(tmp_path: Path) -> None:
    found = proof(tmp_path, SOURCE, SOURCE.replace("q ^ b", "(q & ~b) | (b & ~q)"))
    assert found == Proof(4, 0, 1, (), True, True)


def test_another_first_value_is_noticed(tmp_path: Path) -> None:
    found = proof(tmp_path, SOURCE, SOURCE.replace("q = 0", "q = 1"))
    assert (found.unproven, found.starts) == (0, False)


def test_no_first_value_is_noticed(tmp_path: Path) -> None:
    found = proof(tmp_path, SOURCE, SOURCE.replace("q = 0", "q"))
    assert (found.unproven, found.starts) == (0, False)


def test_another_function_is_noticed(tmp_path: Path) -> None:
    found = proof(tmp_path, SOURCE, SOURCE.replace("a ^ q", "a | q"))
    assert found.unproven
    assert {"o", "p"} & set(found.names)


def test_an_output_that_the_netlist_takes_from_a_register_must_be_this_one(tmp_path: Path) -> None:
    # The register and the output have one net in the netlist.
    found = proof(tmp_path, SOURCE.replace("o = p", "o = ~p"), SOURCE)
    assert found.unproven
    assert "o" in found.names


def test_what_is_computed_may_be_a_register_in_the_netlist(tmp_path: Path) -> None:
    found = proof(tmp_path, SOURCE.replace("o = p", "o = a ^ (a ^ p)"), SOURCE)
    assert found == Proof(4, 0, 1, (), True, True)


def test_registers_that_are_one_in_the_netlist_must_be_the_same(tmp_path: Path) -> None:
    two = SOURCE.replace("q <= b", "q <= b; r <= b").replace("q = 0", "q = 0, r = 0")
    two = two.replace("q ^ b", "r ^ b")
    found = proof(tmp_path, two, SOURCE)
    assert (found.unproven, found.starts) == (0, True)
    named = SOURCE.replace("assign o", "wire r = q; assign o")
    assert proof(tmp_path, two, named).unproven == 0
    assert proof(tmp_path, two.replace("r <= b", "r <= a"), named).unproven


def test_a_register_that_keeps_its_first_value_may_be_a_constant(tmp_path: Path) -> None:
    kept = SOURCE.replace("q <= b", "q <= b; if (a) r <= r & 0").replace("q = 0", "q = 0, r = 0")
    kept = kept.replace("q ^ b", "q ^ b ^ r")
    assert proof(tmp_path, kept.replace("r & 0", "r"), SOURCE).starts
    assert proof(tmp_path, kept.replace("r & 0", "b"), SOURCE).unproven
    assert proof(tmp_path, kept.replace("r & 0", "r").replace("r = 0", "r = 1"), SOURCE).unproven

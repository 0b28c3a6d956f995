"""Tests of the proof that a netlist computes the same as its source."""

from pathlib import Path

import pytest

from kiwicha.errors import ToolError
from tests.tools.verification.two_netlists import SOURCE, write_netlists
from tools.verification.netlist_proof import Proof, prove

pytestmark = [pytest.mark.nightly, pytest.mark.synth]


def proof(folder: Path, source: str, netlist: str) -> Proof:
    """Return what is proven of two texts in Verilog."""
    write_netlists(folder, source, netlist)
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


def test_registers_of_another_clock_are_refused(tmp_path: Path) -> None:
    other = SOURCE.replace("posedge clk", "negedge clk")
    for one, two in ((SOURCE, other), (other, SOURCE), (other, other)):
        with pytest.raises(ToolError, match="of_another_clock"):
            proof(tmp_path, one, two)
    with pytest.raises(ToolError, match="of_another_clock"):
        proof(tmp_path, SOURCE, SOURCE.replace("posedge clk", "posedge b"))

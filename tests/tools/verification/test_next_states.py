"""Tests of the proof, by ABC, that a netlist computes the same as its source."""

from pathlib import Path

import pytest

from kiwicha.errors import ToolError
from tests.tools.verification.two_netlists import SOURCE, write_netlists
from tools.verification.next_states import NextStates, prove_next_states

pytestmark = pytest.mark.synth

OTHER_TEXT = SOURCE.replace("q ^ b", "(q & ~b) | (b & ~q)")


def proof(folder: Path, source: str, netlist: str) -> NextStates:
    """Return what is proven of two texts in Verilog."""
    write_netlists(folder, source, netlist)
    return prove_next_states(folder, 60)


def test_what_is_the_same_is_equal(tmp_path: Path) -> None:
    assert proof(tmp_path, SOURCE, OTHER_TEXT) == NextStates(
        compared=4, constant=0, absent=0, starts=True, are_equal=True
    )


@pytest.mark.parametrize(
    "change",
    [
        ("q <= b", "q <= a"),
        pytest.param(("a ^ q", "a | q"), marks=pytest.mark.nightly),
        pytest.param(("q ^ b", "q & b"), marks=pytest.mark.nightly),
    ],
)
def test_another_function_is_noticed(tmp_path: Path, change: tuple[str, str]) -> None:
    assert proof(tmp_path, SOURCE, SOURCE.replace(*change)).are_equal is False


@pytest.mark.nightly
def test_another_first_value_is_noticed(tmp_path: Path) -> None:
    for first in ("q = 1", "q"):
        found = proof(tmp_path, SOURCE, SOURCE.replace("q = 0", first))
        assert (found.are_equal, found.starts) == (True, False)
    unknown = SOURCE.replace("q = 0", "q")
    assert proof(tmp_path, unknown, unknown).starts is False


@pytest.mark.nightly
def test_registers_of_another_clock_are_refused(tmp_path: Path) -> None:
    for edge in ("negedge clk", "posedge b"):
        other = SOURCE.replace("posedge clk", edge)
        for one, two in ((SOURCE, other), (other, SOURCE)):
            with pytest.raises(ToolError, match="registers must be of the rising edge of clk"):
                proof(tmp_path, one, two)


@pytest.mark.nightly
def test_registers_that_are_one_in_the_netlist_must_be_the_same(tmp_path: Path) -> None:
    two = SOURCE.replace("q <= b", "q <= b; r <= b").replace("q = 0", "q = 0, r = 0")
    two = two.replace("q ^ b", "r ^ b")
    found = proof(tmp_path, two, SOURCE)
    assert (found.compared, found.are_equal, found.starts) == (5, True, True)
    named = SOURCE.replace("assign o", "wire r = q; assign o")
    assert proof(tmp_path, two, named).are_equal is True
    assert proof(tmp_path, two.replace("r <= b", "r <= a"), named).are_equal is False
    assert proof(tmp_path, two.replace("r = 0", "r = 1"), named).starts is False


@pytest.mark.nightly
def test_a_register_that_the_netlist_does_not_have_must_not_matter(tmp_path: Path) -> None:
    more = SOURCE.replace("q <= b", "q <= b; r <= a").replace("q = 0", "q = 0, r = 0")
    unread = more.replace("q ^ b", "q ^ b ^ (r & a & ~a)")
    found = proof(tmp_path, unread, SOURCE)
    assert (found.absent, found.are_equal) == (1, True)
    assert proof(tmp_path, more.replace("q ^ b", "q ^ b ^ r"), SOURCE).are_equal is False


@pytest.mark.nightly
def test_a_register_that_keeps_its_first_value_may_be_a_constant(tmp_path: Path) -> None:
    # The second one gets another bit only if the first is high.
    kept = SOURCE.replace("q <= b", "q <= b; r <= r & a; s <= r ? b : s")
    kept = kept.replace("q = 0", "q = 0, r = 0, s = 0").replace("q ^ b", "q ^ b ^ s")
    found = proof(tmp_path, kept, SOURCE)
    assert (found.constant, found.are_equal, found.starts) == (2, True, True)
    assert proof(tmp_path, kept, kept).are_equal is True
    assert proof(tmp_path, kept.replace("r & a", "r | a"), SOURCE).are_equal is False
    assert proof(tmp_path, kept.replace("r = 0", "r = 1"), SOURCE).are_equal is False


@pytest.mark.nightly
def test_nothing_may_depend_on_bits_without_a_value(tmp_path: Path) -> None:
    chosen = SOURCE.replace("q ^ b", "a ? q ^ b : 1'bx")
    assert proof(tmp_path, chosen, SOURCE).are_equal is False
    assert proof(tmp_path, SOURCE, chosen).are_equal is False
    # Not even on both sides alike.
    assert proof(tmp_path, chosen, chosen).are_equal is False
    unread = SOURCE.replace("q ^ b", "a & (a ? q ^ b : 1'bx)")
    assert proof(tmp_path, unread, SOURCE.replace("q ^ b", "a & (q ^ b)")).are_equal is True
    nothing = SOURCE.replace("assign o = p", "wire u; assign o = u")
    assert proof(tmp_path, nothing, nothing).are_equal is False

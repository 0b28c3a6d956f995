"""Tests of what ABC answers."""

from pathlib import Path

import pytest

from tools.abc import Answer, can_be_high

pytestmark = pytest.mark.synth


@pytest.mark.parametrize(
    ("netlist", "answer"),
    [
        # An input and another one; an input and its inverse; nothing; and no netlist.
        (b"aig 3 2 0 1 1\n6\n\x02\x02", Answer.ONCE),
        (b"aig 2 1 0 1 1\n4\n\x01\x01", Answer.NEVER),
        (b"aig 2 2 0 1 0\n0\n", Answer.NEVER),
        (b"", Answer.UNKNOWN),
    ],
    ids=["and", "never", "nothing", "none"],
)
def test_a_netlist_without_registers_can_be_high_for_some_inputs(
    tmp_path: Path, netlist: bytes, answer: Answer
) -> None:
    (tmp_path / "one.aig").write_bytes(netlist)
    # An answer of before is none.
    (tmp_path / "status").write_text("snl_UNSAT", encoding="utf-8")
    assert can_be_high(tmp_path, "one.aig", 10) is answer

"""Netlists in AIGER, and what ABC says of them."""

from pathlib import Path

import pytest

from kiwicha.errors import ToolError
from tools.abc import Answer, ever_high
from tools.aiger import Gates, read_aiger, write_aiger
from tools.yosys import run_yosys

STEPS = "techmap; dffunmap; simplemap; aigmap; write_aiger -zinit -map names.txt gates.aig"


def counter(last: int, shown: int) -> Gates:
    """Return registers that count from 0 to a number of two bits, and show when they are at one."""
    low, high, gates = 2, 4, []

    def both(a: int, b: int) -> int:
        gates.append((a, b))
        return 2 * (2 + len(gates))

    def is_at(number: int) -> int:
        return both(low ^ (not number & 1), high ^ (not number >> 1))

    ends = is_at(last)
    next_low = both(low ^ 1, ends ^ 1)
    same = both(both(low, high) ^ 1, both(low ^ 1, high ^ 1) ^ 1)
    next_high = both(same, ends ^ 1)
    output = is_at(shown)
    return Gates((), (next_low, next_high), tuple(gates), ((("shown", 0), output),))


@pytest.mark.parametrize(
    ("last", "shown", "answer"),
    [(2, 3, Answer.NEVER), (2, 2, Answer.ONCE), (3, 3, Answer.ONCE), (1, 2, Answer.NEVER)],
)
def test_states_are_reached_or_not(last: int, shown: int, answer: Answer, tmp_path: Path) -> None:
    write_aiger(tmp_path / "counter.aig", counter(last, shown))
    assert ever_high(tmp_path, "counter.aig", 5) == answer


def test_what_is_written_is_read(tmp_path: Path) -> None:
    """Also differences of literals that take more than one byte."""
    inputs = tuple(("data", bit) for bit in range(300))
    gates = ((2, 600), (601, 603), (5, 604))
    netlist = Gates(inputs, (606, 3), gates, ((("sum", 1), 608), (("ready", 0), 7)))
    write_aiger(tmp_path / "some.aig", netlist)
    names = [f"input {number} {bit} {name}" for number, (name, bit) in enumerate(inputs)]
    names += ["latch 300 0 state", "output 0 1 sum", "output 1 0 ready"]
    (tmp_path / "names.txt").write_text("\n".join(names), encoding="utf-8")
    read = read_aiger(tmp_path / "some.aig", tmp_path / "names.txt")
    assert [set(pair) for pair in read.gates] == [set(pair) for pair in gates]
    assert (read.inputs, read.registers, read.outputs) == (
        netlist.inputs,
        netlist.registers,
        netlist.outputs,
    )


@pytest.mark.parametrize("start", ["", "initial q = 1;"])
def test_registers_need_first_values(start: str, tmp_path: Path) -> None:
    text = (
        f"module top(input clk, d, output reg q); {start} always @(posedge clk) q <= d; endmodule"
    )
    (tmp_path / "top.v").write_text(text, encoding="utf-8")
    run_yosys(["-p", f"read_verilog top.v; proc; {STEPS}"], tmp_path)
    paths = tmp_path / "gates.aig", tmp_path / "names.txt"
    if start:
        (output,) = read_aiger(*paths).outputs
        assert output[0] == ("q", 0)
    else:
        with pytest.raises(ToolError, match=r"^registers must have first values \(gates\.aig\)$"):
            read_aiger(*paths)

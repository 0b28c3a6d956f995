"""Bits that flip while the engine runs."""

import pytest

from kiwicha.contract.engine import EngineError
from kiwicha.gateware.engine.engine import Engine
from tests.gateware.engine.campaign import Outcome
from tools.verification import upsets
from tools.verification.upset_engine import Place, build, instrumented
from tools.verification.upsets import Result, cases_of, classify, group_of, run_trial

VERILOG = r"""
module \engine.part (clk, d, q);
  reg [7:0] q = 8'h00;
  reg \$held  = 1'h0;
  reg [3:0] memory [15:0];
  always @(posedge clk)
    q <= d;
  always @(posedge clk) begin
    if (enable) begin
      \$held  <= d[0];
    end
  end
  always @(posedge clk) begin
    if (write)
      memory[d[3:0]] <= d[7:4];
  end
endmodule

module engine(clk);
endmodule
"""


def test_each_register_and_memory_can_flip() -> None:
    text, places = instrumented(VERILOG)
    assert places == (
        Place("part", "q", 8, 0),
        Place("part", r"\$held", 1, 0),
        Place("part", "memory", 4, 16),
    )
    assert [place.total for place in places] == [8, 1, 64]
    assert "q <= (d) ^ (engine.upset_number == 1 ? 8'd1 << engine.upset_bit : 8'd0);" in text
    assert r"\$held  <= (enable ? (d[0]) : \$held ) ^ (engine.upset_number == 2 ?" in text
    assert "if (engine.upset_number == 3) memory[engine.upset_word] <=" in text
    assert "memory[d[3:0]] <= d[7:4];" in text
    assert text.index('$readmemh("upset"') > text.index("module engine(")


def test_a_register_that_is_assigned_otherwise_is_not_passed_over() -> None:
    other = VERILOG.replace("    q <= d;", "    if (enable) q <= d;")
    with pytest.raises(ValueError, match=r"of engine\.part must be assigned in one of two ways"):
        instrumented(other)


def test_places_belong_to_groups() -> None:
    found = [
        group_of(Place(module, "name", 1, words))
        for module, words in (
            ("datapath.scratchpad", 0),
            ("datapath.scratchpad", 4),
            ("datapath.weights$191.weights$85", 4),
            ("controller.port.tags", 4),
        )
    ]
    assert found == list(upsets.GROUPS)


def test_what_came_of_a_list_is_told_apart() -> None:
    case, _ = cases_of(0)[0]
    stopped = Outcome(EngineError.WATCHDOG << 16, case.given.arena)
    assert classify(case, stopped) == Result.REPORTED
    assert classify(case, Outcome(0, bytes(len(case.given.arena)))) == Result.WRONG


@pytest.mark.nightly
@pytest.mark.verilator
def test_upsets_come_to_what_they_must() -> None:
    """A bit that is stored flips the output; the end of the list is reported; others are lost."""
    engine = build(Engine(macs=64, scratchpad_bytes=8192, has_softmax=False))
    cases = cases_of(0)[0]
    _, cycles = upsets.run_lists(engine, cases, upsets.NO_UPSET, 1_000_000)

    def flip(module: str, name: str, *, bit: int = 0, word: int = 0, at: int) -> upsets.Trial:
        number = next(
            k
            for k, place in enumerate(engine.places)
            if (place.module, place.name) == (module, name)
        )
        return run_trial(engine, cases, upsets.Upset(number, bit, word, at), cycles)

    early = flip("datapath.scratchpad", "bank_0", word=3, at=2)
    assert early.result == Result.RIGHT
    assert early.is_usable
    count = flip("controller.sequencer", "jobs_done", bit=3, at=cycles // 2)
    assert count.result == Result.REPORTED
    assert count.is_usable
    lines = {
        flip("datapath.scratchpad", "bank_0", bit=5, word=word, at=at).result
        for word in (1, 40, 90)
        for at in (cycles // 2, cycles - 300)
    }
    assert Result.WRONG in lines

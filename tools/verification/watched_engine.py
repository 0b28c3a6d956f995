"""The engine in a shell that resets it while lists run, and measures waits for its port."""

import dataclasses
import re
from collections.abc import Sequence
from pathlib import Path

from kiwicha.gateware.engine.engine import Engine
from tests.gateware.engine.campaign import compile_engine, engine_verilog

__all__ = ["CLIENTS", "Cut", "Watched", "build", "read_watched", "write_cuts"]

CLIENTS = ("jobs", "transfers", "weights", "lines", "writer")
"""Of the port, in its order: fetchers of jobs and transfers, the loader of weights, what loads
lines of the scratchpad, and what stores them."""
CUT_FILE = "cuts"
WATCHED_FILE = "watched"
_MOST_LISTS = 4096
_NEVER = 0xFFFF_FFFF
_RUNS = "inner.controller.sequencer.lists__is_running"
_PORT = "inner.controller.port"


@dataclasses.dataclass(frozen=True)
class Cut:
    """A reset while a list runs.

    Parameters
    ----------
    cycle : int
        Of the list.
    cycles : int
        How long, 1 to 15.
    is_alone : bool
        DRAM is not reset with it: it still takes the command that waits, and gives what it owes,
        late and with any bits.
    """

    cycle: int
    cycles: int
    is_alone: bool


@dataclasses.dataclass(frozen=True)
class Watched:
    """What was measured of a list.

    Parameters
    ----------
    cycles : int
        In which it ran.
    is_cut : bool
        It was reset.
    owed : int
        Commands for which DRAM owed data then.
    waits : tuple of (int, int)
        For each of `CLIENTS` the longest wait for the port since the simulation began: in cycles,
        and in words that others were granted meanwhile.
    """

    cycles: int
    is_cut: bool
    owed: int
    waits: tuple[tuple[int, int], ...]


def write_cuts(folder: Path, cuts: Sequence[Cut | None]) -> None:
    """Tell the engine that runs in a folder when lists are cut, one by one."""
    words = [_NEVER if cut is None else cut.cycle for cut in cuts]
    kinds = [0 if cut is None else cut.cycles << 1 | cut.is_alone for cut in cuts]
    lines = [f"{word:08x}{kind:02x}\n" for word, kind in zip(words, kinds, strict=True)]
    lines += [f"{_NEVER:08x}00\n"] * (_MOST_LISTS - len(lines))
    (folder / CUT_FILE).write_text("".join(lines), encoding="utf-8")


def read_watched(folder: Path) -> list[Watched]:
    """Return what an engine has measured in a folder."""
    found = []
    for line in (folder / WATCHED_FILE).read_text(encoding="utf-8").splitlines():
        cycles, is_cut, owed, *numbers = map(int, line.split())
        waits = tuple(zip(numbers[::2], numbers[1::2], strict=True))
        found.append(Watched(cycles, bool(is_cut), owed, waits))
    return found


def watched(text: str) -> str:
    """Return Verilog of an engine in the shell.

    Parameters
    ----------
    text : str
        Of an engine whose top module is ``engine``.
    """
    inner, count = re.subn(r"(?m)^module engine\(", "module engine_inner(", text)
    if count != 1:
        raise ValueError(f"there must be one module of the name engine, not {count}")
    return inner + _shell()


def _waits() -> tuple[str, str]:
    """Return what measures waits, and arguments that tell them."""
    lines, told = [], []
    for number, _ in enumerate(CLIENTS):
        name = f"readers__{number}" if number < len(CLIENTS) - 1 else "writer"
        valid, ready = (f"{_PORT}.{name}__commands__{part}" for part in ("valid", "ready"))
        lines.append(f"""
  reg [31:0] wait_{number} = 0, words_{number} = 0, most_wait_{number} = 0, most_words_{number} = 0;
  always @(posedge clk) begin
    if (resets | ~{valid} | {ready}) begin
      wait_{number} <= 0;
      words_{number} <= 0;
    end else begin
      wait_{number} <= wait_{number} + 1;
      words_{number} <= words_{number} + {_PORT}.takes;
      if (wait_{number} >= most_wait_{number}) most_wait_{number} <= wait_{number} + 1;
      if (words_{number} + {_PORT}.takes > most_words_{number})
        most_words_{number} <= words_{number} + {_PORT}.takes;
    end
  end
""")
        told += [f"most_wait_{number}", f"most_words_{number}"]
    return "".join(lines), ", ".join(told)


def _shell() -> str:
    lines, told = _waits()
    places = " ".join(["%0d"] * (2 * len(CLIENTS)))
    return f"""
module engine(commands__valid, responses__ready, memory__cmd__ready, memory__wdata__ready,
    memory__rdata__payload, memory__rdata__valid, reset, clk, rst, commands__ready,
    responses__payload, responses__valid, memory__cmd__payload, memory__cmd__valid,
    memory__wdata__payload, memory__wdata__valid, commands__payload);
  input commands__valid, responses__ready, memory__cmd__ready, memory__wdata__ready;
  input memory__rdata__valid, reset, clk, rst;
  input [127:0] memory__rdata__payload;
  input [70:0] commands__payload;
  output commands__ready, responses__valid, memory__cmd__valid, memory__wdata__valid;
  output [31:0] responses__payload;
  output [24:0] memory__cmd__payload;
  output [143:0] memory__wdata__payload;

  wire inner_commands_ready, inner_responses_valid, inner_cmd_valid, inner_wdata_valid;
  wire [31:0] inner_responses_payload;
  wire [24:0] inner_cmd_payload;
  wire [143:0] inner_wdata_payload;

  reg [39:0] cuts [0:{_MOST_LISTS - 1}];
  initial $readmemh("{CUT_FILE}", cuts);
  integer watched_file;
  initial watched_file = $fopen("{WATCHED_FILE}", "w");
  reg [31:0] list = 0, cycle = 0;
  reg ran = 0;
  wire runs = {_RUNS};
  wire [39:0] cut = cuts[list];

  // A reset: as long as it is said, and until DRAM owes nothing if it is DRAM's as well.
  reg [3:0] left = 0;
  reg drains = 0;
  wire starts = runs & cycle == cut[39:8];
  wire resets = starts | left != 0 | drains;
  // Commands for which data are owed, by kind; a command that waited is held until it is taken.
  reg [7:0] reads = 0, writes = 0, old_writes = 0;
  reg holds = 0;
  reg [24:0] held = 0;
  wire takes = memory__cmd__valid & memory__cmd__ready;
  wire [7:0] reads_next = reads + (takes & ~memory__cmd__payload[0]) - memory__rdata__valid;
  wire [7:0] writes_next = writes + (takes & memory__cmd__payload[0]) - memory__wdata__ready;
  // Nothing is answered until then: who runs lists here takes an answer for their end. What DRAM
  // has owed an engine that is reset alone comes late, while the next list begins, with any bits.
  reg settles = 0;
  reg [7:0] late = 0, delay = 0;
  wire comes_late = late != 0 & delay == 0 & ~settles & ~memory__rdata__valid;
  wire is_quiet = reads_next == 0 & writes_next == 0 & ~holds & left == 0;
  reg owes = 0, answers = 0;
  reg was_cut = 0;
  reg [7:0] owed = 0;

  assign memory__cmd__valid = holds | (inner_cmd_valid & (starts | ~resets));
  assign memory__cmd__payload = holds ? held : inner_cmd_payload;
  assign memory__wdata__valid = inner_wdata_valid | old_writes != 0;
  assign memory__wdata__payload = drains ? 144'd0 : inner_wdata_payload;
  assign commands__ready = inner_commands_ready & ~resets & ~settles & ~answers;
  assign responses__valid = answers ? ~settles : inner_responses_valid & (starts | ~resets);
  assign responses__payload = answers ? 32'd0 : inner_responses_payload;

  always @(posedge clk) begin
    reads <= reads_next;
    writes <= writes_next;
    if (holds & memory__cmd__ready) holds <= 0;
    if (memory__wdata__ready & old_writes != 0) old_writes <= old_writes - 1;
    owes <= (owes | commands__valid & commands__ready) & ~(responses__valid & responses__ready);
    if (responses__ready & ~settles) answers <= 0;
    if (left != 0) left <= left - 1;
    if (is_quiet) drains <= 0;
    if (is_quiet) settles <= 0;
    if (comes_late) late <= late - 1;
    if (comes_late) delay <= 5;
    else if (delay != 0 & ~settles) delay <= delay - 1;
    if (starts) begin
      left <= cut[4:1] - 1;
      drains <= ~cut[0];
      settles <= 1;
      late <= cut[0]
          ? reads_next + (memory__cmd__valid & ~memory__cmd__ready & ~memory__cmd__payload[0]) : 0;
      delay <= 120;
      was_cut <= 1;
      owed <= reads_next + writes_next;
      holds <= memory__cmd__valid & ~memory__cmd__ready;
      held <= memory__cmd__payload;
      old_writes <= writes_next
          + (memory__cmd__valid & ~memory__cmd__ready & memory__cmd__payload[0]);
      answers <= owes & ~(responses__valid & responses__ready);
    end
    ran <= runs;
    if (runs) cycle <= cycle + 1;
    if (ran & ~runs) begin
      $fdisplay(watched_file, "%0d %0d %0d {places}", cycle, was_cut, owed, {told});
      list <= list + 1;
      cycle <= 0;
      was_cut <= 0;
      owed <= 0;
    end
  end
{lines}
  engine_inner inner(
      .commands__valid(commands__valid & ~resets & ~settles & ~answers),
      .responses__ready(responses__ready),
      .memory__cmd__ready(memory__cmd__ready & ~holds), .memory__wdata__ready(memory__wdata__ready),
      .memory__rdata__payload(comes_late ? {{4{{32'hA5A5F00F}}}} : memory__rdata__payload),
      .memory__rdata__valid(comes_late | (memory__rdata__valid & ~settles & ~drains)),
      .reset(reset), .clk(clk), .rst(rst | resets),
      .commands__ready(inner_commands_ready),
      .responses__payload(inner_responses_payload), .responses__valid(inner_responses_valid),
      .memory__cmd__payload(inner_cmd_payload), .memory__cmd__valid(inner_cmd_valid),
      .memory__wdata__payload(inner_wdata_payload), .memory__wdata__valid(inner_wdata_valid),
      .commands__payload(commands__payload));
endmodule
"""


def build(engine: Engine, *, is_fast: bool = False) -> Path:
    """Return the program of an engine in the shell, compiled at most once; see `compile_engine`."""
    return compile_engine(watched(engine_verilog(engine)), is_fast=is_fast)

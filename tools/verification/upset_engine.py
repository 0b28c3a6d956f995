"""The engine with a port for upsets: one bit of one register or memory flips in one cycle."""

import re
from dataclasses import dataclass
from pathlib import Path

from kiwicha.gateware.engine.engine import Engine
from tests.gateware.engine.campaign import compile_engine, engine_verilog

__all__ = ["CYCLES_FILE", "UPSET_FILE", "Place", "Upset", "UpsetEngine", "build", "instrumented"]

UPSET_FILE = "upset"
"""What flips, read where the program runs."""
CYCLES_FILE = "cycles"
"""Receives the cycles that lists have run so far, at the end of each."""

_TOP = "engine"
_RUNS = "engine.controller.sequencer.lists__is_running"
_NAME = r"(?:\\\S+ |\w+)"
_REGISTER = re.compile(
    rf"^    (?:if \((?P<enable>.*)\) begin\n      )?(?P<name>{_NAME}) <= (?P<value>[^;]*);$"
    r"(?(enable)\n    end$)",
    re.MULTILINE,
)
_ASSIGNED = re.compile(rf"^ +(?:if \(.*\) )?{_NAME} <= ", re.MULTILINE)
_DECLARED = re.compile(
    rf"^  reg (?:\[(?P<high>\d+):0\] )?(?P<name>{_NAME})"
    r"(?: ?\[(?P<last>\d+):0\])?(?: = [^;]*)?;$",
    re.MULTILINE,
)
_MODULE = re.compile(r"^module (\\\S+ |\w+).*?^endmodule", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Place:
    """A register or a memory.

    Parameters
    ----------
    module : str
        Path of its component in the engine; empty for the engine itself.
    name : str
        Of the signal or memory.
    bits : int
        Of the register or of a word.
    words : int
        Of a memory; 0 for a register.
    """

    module: str
    name: str
    bits: int
    words: int

    @property
    def total(self) -> int:
        """How many bits can flip."""
        return self.bits * max(self.words, 1)


@dataclass(frozen=True)
class Upset:
    """What flips: a bit of a place, of a word if it is a memory, in a cycle of the first list."""

    place: int
    bit: int
    word: int
    cycle: int

    def write(self, folder: Path) -> None:
        """Tell the engine that runs in a folder."""
        words = (self.place + 1, self.bit, self.word, self.cycle)
        (folder / UPSET_FILE).write_text("".join(f"{word:08x}\n" for word in words))


@dataclass(frozen=True)
class UpsetEngine:
    """A program for `run_rounds`, and what can flip in it, by number."""

    program: Path
    places: tuple[Place, ...]


def instrumented(text: str) -> tuple[str, tuple[Place, ...]]:
    """Return Verilog in which bits can flip, and what can flip.

    Parameters
    ----------
    text : str
        Of an engine, as Amaranth writes it: a register is assigned once, in each cycle.

    Raises
    ------
    ValueError
        If there is a clocked process of another form than a register's or a memory's.
    """
    places: list[Place] = []

    def of_module(match: re.Match[str]) -> str:
        return _with_upsets(match[0], match[1].strip().removeprefix("\\"), places)

    return _MODULE.sub(of_module, text), tuple(places)


def _with_upsets(body: str, name: str, places: list[Place]) -> str:
    path = name.removeprefix(_TOP).removeprefix(".")
    declared = {match["name"].strip(): match for match in _DECLARED.finditer(body)}

    def number_of(signal: str) -> tuple[int, int]:
        match = declared[signal]
        bits = int(match["high"] or 0) + 1
        words = int(match["last"]) + 1 if match["last"] else 0
        places.append(Place(path, signal, bits, words))
        return len(places), bits

    def flips(match: re.Match[str]) -> str:
        register = match["name"]
        number, bits = number_of(register.strip())
        value = f"({match['value']})"
        if match["enable"]:
            value = f"({match['enable']} ? {value} : {register})"
        mask = f"({_TOP}.upset_number == {number} ? {bits}'d1 << {_TOP}.upset_bit : {bits}'d0)"
        return f"    {register} <= {value} ^ {mask};"

    count = len(_ASSIGNED.findall(body))
    changed, done = _REGISTER.subn(flips, body)
    if done != count:
        raise ValueError(
            f"registers of {name} must be assigned in one of two ways, not so {count - done} of "
            f"{count}"
        )
    memories = [signal for signal, match in declared.items() if match["last"]]
    lines = []
    for signal in memories:
        number, bits = number_of(signal)
        escaped = declared[signal]["name"]
        word = f"{escaped}[{_TOP}.upset_word]"
        lines.append(
            f"  always @(posedge clk) if ({_TOP}.upset_number == {number}) "
            f"{word} <= {word} ^ ({bits}'d1 << {_TOP}.upset_bit);\n"
        )
    if path == "":
        lines.append(_port())
    return changed.removesuffix("endmodule") + "".join(lines) + "endmodule"


def _port() -> str:
    """Return what reads the upset, and counts the cycles in which lists run."""
    return f"""
  reg [31:0] upset [0:3];
  initial $readmemh("{UPSET_FILE}", upset);
  integer upset_file;
  initial upset_file = $fopen("{CYCLES_FILE}", "w");
  reg [31:0] upset_cycle = 0;
  reg upset_ran = 0;
  wire upset_runs = {_RUNS};
  wire [31:0] upset_number = upset_runs & upset_cycle == upset[3] ? upset[0] : 0;
  wire [31:0] upset_word = upset[2];
  wire [31:0] upset_bit = upset[1];
  always @(posedge clk) begin
    upset_ran <= upset_runs;
    if (upset_runs) upset_cycle <= upset_cycle + 1;
    if (upset_ran & ~upset_runs) $fdisplay(upset_file, "%0d", upset_cycle);
  end
"""


def build(engine: Engine, *, is_fast: bool = False) -> UpsetEngine:
    """Return an engine in which bits can flip, compiled at most once; see `compile_engine`."""
    text, places = instrumented(engine_verilog(engine))
    return UpsetEngine(compile_engine(text, is_fast=is_fast), places)

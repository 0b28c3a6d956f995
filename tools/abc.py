"""ABC, as Yosys in WebAssembly brings it: whether the output of a netlist can ever be high."""

import contextlib
import math
import subprocess
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

from kiwicha.errors import ToolError
from tools.yosys import run_yosys

__all__ = ["Answer", "can_be_high", "ever_high"]

_REDUCE = ("", "&get; &scorr; &put", "scorr; dc2")
"""What is tried one after the other: registers that are proven to be the same become one."""
_REDUCING_SECONDS = 60
"""What that may take in each attempt."""
_NEVER = "snl_UNSAT"
_ONCE = "snl_SAT"
_HELD = ["0", "0"]
"""Latches and gates of a netlist whose output was found to be a constant."""
# Yosys takes a netlist to ABC and fetches one; ABC is wanted for its commands alone.
_STAND_IN = "module stand_in(input a, b, output y); assign y = a ^ b; endmodule\n"


class Answer(StrEnum):
    """Whether an output can be high."""

    NEVER = "never"
    ONCE = "once"
    """In some cycle, with some inputs."""
    UNKNOWN = "unknown"
    """No answer in time."""


def ever_high(folder: Path, netlist: str, seconds: int) -> Answer:
    """Return whether the only output of a netlist is high in any cycle, for any inputs.

    Parameters
    ----------
    folder : Path
        Where the netlist is; files are added.
    netlist : str
        Name of an AIGER file; its latches start with zero.
    seconds : int
        What each of the attempts may take, besides what makes the netlist smaller.
    """
    for reduce in _REDUCE:
        answer = _try(folder, netlist, reduce, seconds)
        if answer != Answer.UNKNOWN:
            return answer
    return Answer.UNKNOWN


def can_be_high(folder: Path, netlist: str, seconds: float) -> Answer:
    """Return whether the only output of a netlist without registers is high for any inputs.

    Parameters
    ----------
    folder : Path
        Where the netlist is; files are added.
    netlist : str
        Name of an AIGER file.
    seconds : float
        What it may take.
    """
    # ABC's own limit, in whole seconds, is not kept in each of its steps.
    compare = f"&cec -m -T {math.ceil(seconds)}"
    return _run(folder, [f"read_aiger {netlist}", "&get", compare], 2 * seconds)


def _try(folder: Path, netlist: str, reduce: str, seconds: int) -> Answer:
    reduced = folder / "reduced.aig"
    reduced.unlink(missing_ok=True)
    steps = [f"read_aiger {netlist}", *reduce.split("; "), "write_aiger reduced.aig"]
    answer = _run(folder, [*steps, f"pdr -T {seconds}"], seconds + _REDUCING_SECONDS)
    if reduced.exists() and _is_constant_zero(reduced):
        return Answer.NEVER
    return answer


def _run(folder: Path, steps: Sequence[str], seconds: float) -> Answer:
    """Run commands of ABC in a folder, and return the answer of the last one."""
    status = folder / "status"
    status.unlink(missing_ok=True)
    commands = "\n".join([*steps, "write_status status", ""])
    (folder / "commands.abc").write_text(commands, encoding="utf-8")
    (folder / "stand_in.v").write_text(_STAND_IN, encoding="utf-8")
    script = "read_verilog stand_in.v; proc; simplemap; abc -script commands.abc"
    # It ends with an error in any case: there is no netlist to fetch.
    with contextlib.suppress(ToolError, subprocess.TimeoutExpired):
        run_yosys(["-p", script], folder, seconds)
    text = status.read_text(encoding="utf-8") if status.exists() else ""
    return {_NEVER: Answer.NEVER, _ONCE: Answer.ONCE}.get(text.split(" ")[0], Answer.UNKNOWN)


def _is_constant_zero(path: Path) -> bool:
    header, output, *_ = path.read_bytes().split(b"\n", 2)
    _, _, _, latches, outputs, gates = header.decode().split(" ")[:6]
    return [latches, gates] == _HELD and outputs == "1" and output == b"0"

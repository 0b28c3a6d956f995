"""The proof that two netlists compute the same, from the first cycle on, by Yosys."""

import re
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

from tools.yosys import run_yosys

__all__ = ["Proof", "prove"]

_INDUCTIONS = (
    ("equiv_simple; equiv_induct -seq 1", 1),
    ("equiv_induct -seq 1", 1),
    ("equiv_induct -seq 4", 4),
)
"""Proofs that are tried one after the other, with the cycles of their induction. What goes bit by
bit first takes least time; but it forgets that registers are the same which the netlist has once.
"""
# Bits of words that nothing reads but themselves are taken away.
_BITWISE = "simplemap t:$mux t:$dff t:$dffe t:$sdff t:$sdffe t:$sdffce"
# Yosys proves what registers become, and not when they do.
_CLOCKED = (
    # As JSON has numbers, and as RTLIL has them.
    "select -set rising r:CLK_POLARITY=1 r:CLK_POLARITY=1'1 %u",
    "select -set clocked i:clk %co1:+$dff[CLK] t:$dff %i @rising %i",
    "select -set of_another_clock t:$*ff* t:$*latch* t:$sr %u %u @clocked %d",
    "select -assert-none @of_another_clock",
)
_EQUAL = r"""
(* techmap_celltype = "$equiv" *)
module equal (input A, B, output Y);
    assign Y = A;
    \$assert same (.A(A ~^ B), .EN(1'b1));
endmodule
"""
"""What is to be equal, for Yosys' solver."""
_STATUS = re.compile(r"Of those cells (\d+) are proven and (\d+) are unproven")
_UNPROVEN = re.compile(r"Unproven \$equiv \S+: \\?(\S+)_gold\s")


@dataclass(frozen=True)
class Proof:
    """What was proven of two netlists.

    Parameters
    ----------
    proven, unproven : int
        Bits of registers and outputs that are equal if they were, and that may not be.
    cycles : int
        In which they were equal.
    names : tuple of str
        Some that may not be.
    starts : bool or None
        They are equal in the first ``cycles``, with the first values of both; None if that is not
        known.
    has_ended : bool
        The solver ended in time.
    """

    proven: int = 0
    unproven: int = 0
    cycles: int = 0
    names: tuple[str, ...] = ()
    starts: bool | None = None
    has_ended: bool = False

    @property
    def is_complete(self) -> bool:
        """Whether nothing is left to be proven or refuted."""
        return self.has_ended and not self.unproven and self.starts is not None


def prove(folder: Path, seconds: float) -> Proof:
    """Prove that ``top`` of ``gold.json`` and of ``gate.il`` are equal.

    Registers and outputs of one name are taken for the same. If they are the same in some cycles,
    they must be in the next one; and in the first ones, with the first values of registers.

    Parameters
    ----------
    folder : Path
        Files are added to it.
    seconds : float
        What each step may take.

    Raises
    ------
    ToolError
        If Yosys fails, or there are registers of another clock than the rising edge of ``clk``.
    """
    make = [
        *("read_rtlil gate.il", *_CLOCKED, "rename top gate", "design -stash gate"),
        *("read_json gold.json", *_CLOCKED, _BITWISE, "opt_clean"),
        *("rename top gold", "design -stash gold"),
        *("design -copy-from gold gold", "design -copy-from gate gate"),
        *("equiv_make gold gate both", "hierarchy -top both"),
        # What is to be proven has no other use, and is kept.
        *("setattr -set keep 1 t:$equiv", "opt_clean", "write_rtlil both.il"),
    ]
    run_yosys(["-p", "; ".join(make)], folder, seconds)
    proof = Proof()
    for commands, cycles in _INDUCTIONS:
        found = _induction(folder, commands, cycles, seconds)
        proof = found or proof
        if found is None or not found.unproven:
            break
    if not proof.has_ended or proof.unproven:
        return proof
    return replace(proof, starts=_starts(folder, proof.cycles, seconds))


def _induction(folder: Path, commands: str, cycles: int, seconds: float) -> Proof | None:
    """Return what an induction proves; None if it does not end in time."""
    script = f"read_rtlil both.il; {commands}; tee -o status equiv_status"
    try:
        run_yosys(["-p", script], folder, seconds)
    except subprocess.TimeoutExpired:
        return None
    status = (folder / "status").read_text(encoding="utf-8")
    found = _STATUS.search(status)
    proven, unproven = (int(found[1]), int(found[2])) if found else (0, 0)
    names = tuple(dict.fromkeys(_UNPROVEN.findall(status)))[:8]
    return Proof(proven, unproven, cycles, names, has_ended=True)


def _starts(folder: Path, cycles: int, seconds: float) -> bool | None:
    """Return whether all is equal in the first cycles; None if there is no answer in time."""
    (folder / "equal.v").write_text(_EQUAL, encoding="utf-8")
    solve = f"sat -prove-asserts -tempinduct -tempinduct-baseonly -maxsteps {cycles} both"
    script = f"read_rtlil both.il; techmap -map equal.v; tee -o base {solve}"
    try:
        run_yosys(["-p", script], folder, seconds)
    except subprocess.TimeoutExpired:
        return None
    return "SUCCESS" in (folder / "base").read_text(encoding="utf-8")

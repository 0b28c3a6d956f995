"""Whether a component and its netlist for a board compute the same for ever.

Memories and multipliers are cut out before synthesis: what goes into them becomes outputs, and what
comes out becomes inputs, in the same way on both sides. The rest is synthesized as for a board,
vendor's cells are replaced by Yosys' models of them, and registers of one name are proven equal,
from the first cycle on: by Yosys' induction, and where that leaves something by ABC.
"""

import json
import re
import tempfile
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from amaranth import Signal, Value
from amaranth.back import rtlil

from kiwicha.errors import ToolError
from tools.verification.correspondence import correspond
from tools.verification.netlist_proof import Proof, prove
from tools.verification.netlist_text import renamed
from tools.verification.next_states import NextStates, prove_next_states
from tools.yosys import run_yosys

__all__ = ["FAMILIES", "Comparison", "Means", "compare", "cut", "source"]

FAMILIES = {
    "xc7": ("synth_xilinx -family xc7 -flatten -noiopad -noclkbuf -top top", "xilinx"),
    "ecp5": ("synth_ecp5 -noiopad -top top", "ecp5"),
}
"""Synthesis, and the folder of Yosys' cell models."""

# ABC of this package ends at some netlists, in the last step of its script.
_WITHOUT_LAST = "+&scorr; &sweep; &dc2; &dch -f -r; &ps; &if {W} {D} {R} -v".replace(" ", ",")
_CUT = {"$mem_v2": ("RD_DATA",), "$mul": ("Y",)}
"""Cells that are cut out, and their outputs."""
# Amaranth names elements of an array as Yosys' mapper names bits of a port, and fails of it.
_ELEMENT = re.compile(r"(\\[^\s\[]+)\[(\d+)\](?=\s)")


class Means(StrEnum):
    """What has proven netlist and source equal, or has found a difference."""

    INDUCTION = "induction"
    """Yosys; see `tools.verification.netlist_proof`."""
    NEXT_STATES = "next states"
    """ABC; see `tools.verification.next_states`."""


@dataclass(frozen=True)
class Comparison:
    """What a proof came to.

    Parameters
    ----------
    proven, unproven : int
        Bits of registers and outputs that are proven to be equal, and that are not.
    cycles : int
        Cycles in which they are taken to be equal, to be so in the next one.
    starts : bool or None
        They are equal in the first cycles, too; None if that got no answer.
    cut : dict
        How many cells were cut out, by their kind.
    means : Means
    names : tuple of str
        Some of the bits that are not proven.
    held, absent, shifted, merged : int
        Bits of registers as of a `Correspondence`. By `Means.NEXT_STATES` those that are held are
        proven to be, and so may be some that are absent.
    seconds : float
        That it may take, if it did not end in them; else 0.
    is_short : bool
        The mapper's last step, which makes LUTs of fewer inputs, was left out: it ends with an
        error of its own.
    """

    proven: int
    unproven: int
    cycles: int
    starts: bool | None
    cut: dict[str, int]
    means: Means = Means.INDUCTION
    names: tuple[str, ...] = ()
    held: int = 0
    absent: int = 0
    shifted: int = 0
    merged: int = 0
    seconds: float = 0
    is_short: bool = False

    @property
    def is_proven(self) -> bool:
        """Whether netlist and source are equal, from the first cycle on."""
        return self.proven > 0 and self.unproven == 0 and self.starts is True


def cut(netlist: dict[str, Any]) -> dict[str, int]:
    """Make ports of a netlist's memories and multipliers; return how many there were, by kind.

    Parameters
    ----------
    netlist : dict
        As Yosys writes it in JSON, of one module.
    """
    (module,) = netlist["modules"].values()
    counts: dict[str, int] = {}
    for name, cell in sorted(module["cells"].items()):
        outputs = _CUT.get(cell["type"])
        if outputs is None or _has_constant(cell):
            continue
        number = counts[cell["type"]] = counts.get(cell["type"], 0) + 1
        for port, bits in cell["connections"].items():
            if not bits:
                continue
            is_input = port in outputs
            label = f"cut_{cell['type'].strip('$')}_{number}_{port}"
            module["ports"][label] = {"direction": "input" if is_input else "output", "bits": bits}
            module["netnames"][label] = {"hide_name": 0, "bits": bits, "attributes": {}}
        del module["cells"][name]
    module.pop("memories", None)
    return counts


def _has_constant(cell: dict[str, Any]) -> bool:
    """Return whether a multiplication is by a constant, which takes no multiplier."""
    operands = (cell["connections"].get(name) for name in ("A", "B"))
    return cell["type"] == "$mul" and any(
        bits and all(isinstance(bit, str) for bit in bits) for bits in operands
    )


def source(component: Any) -> str:
    """Return a component as Yosys reads it; it is elaborated once."""
    values = [Value.cast(value) for _, _, value in component.signature.flatten(component)]
    ports = [value for value in values if isinstance(value, Signal)]
    text = str(rtlil.convert(component, name="top", ports=ports, emit_src=False))
    return _ELEMENT.sub(r"\1(\2)", text)


def compare(
    component: Any,
    family: str,
    *,
    seconds: float,
    change: tuple[str, str] | None = None,
    spoil: str | None = None,
) -> Comparison:
    """Prove that a component and its netlist for a family of boards are equal.

    Parameters
    ----------
    component : amaranth.lib.wiring.Component
        It is elaborated once.
    family : str
        One of `FAMILIES`.
    seconds : float
        What each step of the proof may take.
    change : tuple of str or None
        A kind of cell of Yosys, and the kind that it becomes before synthesis: a fault.
    spoil : str or None
        A command of Yosys that changes the netlist: another one.

    Raises
    ------
    ToolError
        If Yosys fails.
    """
    synthesis, library = FAMILIES[family]
    with tempfile.TemporaryDirectory(prefix="kiwicha-netlist-") as name:
        folder = Path(name)
        (folder / "rtl.il").write_text(source(component), encoding="utf-8")
        flat = ["read_rtlil rtl.il", "hierarchy -top top", "proc", "flatten", "memory_collect"]
        run_yosys(["-p", "; ".join([*flat, "opt_clean", "write_json rtl.json"])], folder)
        netlist = json.loads((folder / "rtl.json").read_text(encoding="utf-8"))
        counts = cut(netlist)
        (folder / "cut.json").write_text(json.dumps(netlist), encoding="utf-8")
        before = [] if change is None else [f"chtype -set {change[1]} t:{change[0]}"]
        after = [] if spoil is None else [spoil]
        is_short = _synthesise(folder, [*before, synthesis, *after], library)
        gold, mapped = (
            json.loads((folder / f"{part}.json").read_text(encoding="utf-8"))
            for part in ("source", "mapped")
        )
        module = gold["modules"]["top"]
        found = correspond(module, mapped["modules"]["top"])
        (folder / "gold.json").write_text(json.dumps(gold), encoding="utf-8")
        text = renamed(
            (folder / "gate.il").read_text(encoding="utf-8"),
            widths={name: len(word["bits"]) for name, word in module["netnames"].items()},
            more=found.shifted | found.merged,
        )
        (folder / "gate.il").write_text(text, encoding="utf-8")
        proof = prove(folder, seconds)
        next_states = None if proof.is_complete else prove_next_states(folder, seconds)
    return _comparison(
        proof,
        next_states,
        cut=counts,
        held=len(found.held),
        absent=len(found.absent),
        shifted=len(found.shifted),
        merged=len(found.merged),
        seconds=0 if proof.has_ended else seconds,
        is_short=is_short,
    )


def _comparison(proof: Proof, next_states: NextStates | None, **more: Any) -> Comparison:
    """Return what came of an induction, and of ABC after it if that knows more."""
    known = next_states.are_equal if next_states is not None else None
    if next_states is None or known is None or (proof.unproven and not known):
        return Comparison(
            proven=proof.proven,
            unproven=proof.unproven,
            cycles=proof.cycles,
            starts=proof.starts,
            names=proof.names,
            **more,
        )
    more["seconds"] = 0
    return Comparison(
        proven=next_states.compared if known else 0,
        unproven=0 if known else next_states.compared,
        cycles=1,
        starts=next_states.starts,
        means=Means.NEXT_STATES,
        **more,
    )


def _synthesise(folder: Path, synthesis: list[str], library: str) -> bool:
    """Synthesize ``cut.json`` to ``mapped.json``, and that to ``gate.il``, its cells being Yosys'.

    The source is in ``source.json`` then. First values of registers in ``gate.il`` are those of the
    vendor's cells, not what words of the source start with. Return whether the mapper's last step
    had to be left out.
    """
    first = ["read_json cut.json", "opt_clean", "dffunmap", "write_json source.json"]
    last = [
        *("write_json mapped.json", "setattr -unset init top/w:*"),
        f"techmap -wb -D EQUIV -autoproc -map +/{library}/cells_sim.v",
        *("flatten", "opt_clean", "dffunmap", "write_rtlil gate.il"),
    ]
    try:
        run_yosys(["-p", "; ".join([*first, *synthesis, *last])], folder)
    except ToolError:
        shorter = f'scratchpad -set abc9.script "{_WITHOUT_LAST}"'
        run_yosys(["-p", "; ".join([*first, shorter, *synthesis, *last])], folder)
        return True
    return False

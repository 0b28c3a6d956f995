"""Whether a component and its netlist for a board compute the same for ever.

Memories and multipliers are cut out before synthesis: what goes into them becomes outputs, and what
comes out becomes inputs, in the same way on both sides. The rest is synthesized as for a board,
vendor's cells are replaced by Yosys' models of them, and registers of one name are proven equal.
"""

import json
import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from amaranth import Signal, Value
from amaranth.back import rtlil

from kiwicha.errors import ToolError
from tools.yosys import run_yosys

__all__ = ["FAMILIES", "Comparison", "compare", "cut"]

FAMILIES = {
    "xc7": ("synth_xilinx -family xc7 -flatten -noiopad -noclkbuf -top top", "xilinx"),
    "ecp5": ("synth_ecp5 -noiopad -top top", "ecp5"),
}
"""Synthesis, and the folder of Yosys' cell models."""

_STEPS, _MORE_STEPS = 4, 10
"""Cycles of an induction, and of another one where the first does not prove all: it takes longer,
but reaches over the shift registers of Xilinx."""
# Bits of words that nothing reads but themselves are taken away.
_BITWISE = "simplemap t:$mux t:$dff t:$dffe t:$sdff t:$sdffe t:$sdffce"
# ABC of this package ends at some netlists, in the last step of its script.
_WITHOUT_LAST = "+&scorr; &sweep; &dc2; &dch -f -r; &ps; &if {W} {D} {R} -v".replace(" ", ",")
_CUT = {"$mem_v2": ("RD_DATA",), "$mul": ("Y",)}
"""Cells that are cut out, and their outputs."""
# Amaranth names elements of an array as Yosys' mapper names bits of a port, and fails of it.
_ELEMENT = re.compile(r"(\\[^\s\[]+)\[(\d+)\](?=\s)")
_STATUS = re.compile(r"Of those cells (\d+) are proven and (\d+) are unproven")
_UNPROVEN = re.compile(r"Unproven \$equiv \S+: \\?(\S+)_gold\s")


@dataclass(frozen=True)
class Comparison:
    """What a proof came to.

    Parameters
    ----------
    proven, unproven : int
        Bits of registers and outputs that are proven to be equal, and that are not.
    cut : dict
        How many cells were cut out, by their kind.
    names : tuple of str
        Some of the bits that are not proven.
    seconds : float
        That it may take, if it did not end in them; else 0.
    is_short : bool
        The mapper's last step, which makes LUTs of fewer inputs, was left out: it ends with an
        error of its own.
    """

    proven: int
    unproven: int
    cut: dict[str, int]
    names: tuple[str, ...] = ()
    seconds: float = 0
    is_short: bool = False

    @property
    def is_proven(self) -> bool:
        """Whether all are."""
        return self.proven > 0 and self.unproven == 0 and not self.seconds


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


def _netlist(component: Any) -> str:
    values = [Value.cast(value) for _, _, value in component.signature.flatten(component)]
    ports = [value for value in values if isinstance(value, Signal)]
    text = str(rtlil.convert(component, name="top", ports=ports, emit_src=False))
    return _ELEMENT.sub(r"\1(\2)", text)


def compare(
    component: Any, family: str, *, seconds: float, change: tuple[str, str] | None = None
) -> Comparison:
    """Prove that a component and its netlist for a family of boards are equal.

    Parameters
    ----------
    component : amaranth.lib.wiring.Component
        It is elaborated once.
    family : str
        One of `FAMILIES`.
    seconds : float
        What synthesis and proof may take, each.
    change : tuple of str or None
        A kind of cell of Yosys, and the kind that it becomes before synthesis: a fault.

    Raises
    ------
    ToolError
        If Yosys fails.
    """
    synthesis, library = FAMILIES[family]
    with tempfile.TemporaryDirectory(prefix="kiwicha-netlist-") as name:
        folder = Path(name)
        (folder / "rtl.il").write_text(_netlist(component), encoding="utf-8")
        flat = ["read_rtlil rtl.il", "hierarchy -top top", "proc", "flatten", "memory_collect"]
        run_yosys(["-p", "; ".join([*flat, "opt_clean", "write_json rtl.json"])], folder, seconds)
        netlist = json.loads((folder / "rtl.json").read_text(encoding="utf-8"))
        counts = cut(netlist)
        (folder / "cut.json").write_text(json.dumps(netlist), encoding="utf-8")
        spoil = [] if change is None else [f"chtype -set {change[1]} t:{change[0]}"]
        is_short = _synthesise(folder, [*spoil, synthesis], library, seconds)
        script = [
            *("read_rtlil gate.il", "rename top gate", "design -stash gate"),
            *("read_rtlil gold.il", _BITWISE, "opt_clean", "rename top gold", "design -stash gold"),
            *("design -copy-from gold gold", "design -copy-from gate gate"),
            *("equiv_make gold gate both", "hierarchy -top both", "opt_clean"),
            f"equiv_simple -seq {_STEPS}",
            *("equiv_struct", f"equiv_induct -seq {_STEPS}", "tee -o status equiv_status"),
            *(f"equiv_induct -seq {_MORE_STEPS}", "tee -o more equiv_status"),
        ]
        try:
            run_yosys(["-p", "; ".join(script)], folder, seconds)
        except subprocess.TimeoutExpired:
            if not (folder / "status").exists():
                return Comparison(0, 0, counts, seconds=seconds, is_short=is_short)
        last = folder / "more"
        status = (last if last.exists() else folder / "status").read_text(encoding="utf-8")
    found = _STATUS.search(status)
    proven, unproven = (int(found[1]), int(found[2])) if found else (0, 0)
    names = tuple(dict.fromkeys(_UNPROVEN.findall(status)))[:8]
    return Comparison(proven, unproven, counts, names, is_short=is_short)


def _synthesise(folder: Path, synthesis: list[str], library: str, seconds: float) -> bool:
    """Synthesize ``cut.json`` to ``gate.il``, its source being ``gold.il``.

    Return whether the mapper's last step had to be left out.
    """
    first = ["read_json cut.json", "opt_clean", "dffunmap", "write_rtlil gold.il"]
    last = [
        f"techmap -wb -D EQUIV -autoproc -map +/{library}/cells_sim.v",
        *("flatten", "opt_clean", "dffunmap", "write_rtlil gate.il"),
    ]
    try:
        run_yosys(["-p", "; ".join([*first, *synthesis, *last])], folder, seconds)
    except ToolError:
        shorter = f'scratchpad -set abc9.script "{_WITHOUT_LAST}"'
        run_yosys(["-p", "; ".join([*first, shorter, *synthesis, *last])], folder, seconds)
        return True
    return False

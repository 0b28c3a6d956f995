"""Whether a fault leaves a whole netlist as it is, once all that nothing reads is gone from it."""

import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tools.mutation.netlist_faults import Fault, FaultyNetlist
from tools.yosys import run_yosys

__all__ = ["identical_faults"]

_GOOD = 0
_FEW = 8
"""Cells that other names of unread bits may change, at most."""
_INIT = "  attribute \\init "
_CONNECT = re.compile(r" +connect ")
_PORT = re.compile(r"  wire .*\b(?:in|out)put \d+ ")
_NAME = re.compile(r"[\\$]\S+(?! \[)(?=\s|$)")
"""Of a whole wire: `_FINE` leaves others of ports only."""
_COARSE = ("opt_expr", "opt_clean -purge")
_FINE = (*_COARSE, "splitnets w:*", "opt_clean -purge")
"""Of words of which some bits are read, the others go as well. This takes several times as long."""


def identical_faults(netlist: FaultyNetlist, top: str, faults: Sequence[Fault]) -> set[int]:
    """Return numbers of faults with which the netlist has the same cells, connected likewise.

    In what surrounds it nothing reads the bit of such a fault, or it has the value of the fault
    anyway. `netlist_equivalence` looks at what the ports of its component show; here it is what the
    ports of all show.

    Parameters
    ----------
    netlist : FaultyNetlist
    top : str
        Name of its uppermost module.
    faults : sequence of Fault
        Some of its.

    Raises
    ------
    ToolError
        If Yosys fails.
    """
    same, near = _compared(netlist, top, faults, _COARSE)
    if near:
        same |= _compared(netlist, top, near, _FINE)[0]
    return same


def _compared(
    netlist: FaultyNetlist, top: str, faults: Sequence[Fault], steps: Sequence[str]
) -> tuple[set[int], list[Fault]]:
    """Return the faults that leave all parts as they are, and those that change few of them."""
    script = ["read_rtlil good.il", "design -save good"]
    for number, command in ((_GOOD, ""), *((fault.number, fault.command) for fault in faults)):
        script += ["design -load good", command, f"hierarchy -top {top}", "flatten", *steps]
        script.append(f"write_rtlil {number}.il")
    with tempfile.TemporaryDirectory(prefix="kiwicha-identity-") as name:
        folder = Path(name)
        shutil.copy(netlist.good, folder / "good.il")
        (folder / "all.ys").write_text("\n".join(script), encoding="utf-8")
        run_yosys(["all.ys"], folder)
        is_fine = steps is _FINE
        good = _parts(folder / f"{_GOOD}.il", is_fine=is_fine)
        same, near = set(), []
        for fault in faults:
            parts = _parts(folder / f"{fault.number}.il", is_fine=is_fine)
            lost, gained = _cells(good - parts), _cells(parts - good)
            if parts == good:
                same.add(fault.number)
            elif lost == gained <= _FEW:
                near.append(fault)
    return same, near


def _cells(parts: Counter[str]) -> int:
    return sum(count for part, count in parts.items() if part.startswith("  cell "))


def _parts(path: Path, *, is_fine: bool) -> Counter[str]:
    """Return cells with their connections, and all else, in any order.

    If wires have one bit each, those without a reader have no name: they occur once.
    """
    lines = path.read_text(encoding="utf-8").splitlines()
    names = Counter(
        name
        for line in lines
        if _CONNECT.match(line) or _PORT.match(line)
        for name in _NAME.findall(line)
    )

    def known(line: str) -> str:
        return _NAME.sub(lambda name: name[0] if names[name[0]] > 1 else "_", line)

    parts: Counter[str] = Counter()
    cell: list[str] = []
    init = ""
    for line in lines:
        if line.startswith("  cell "):
            cell = [line]
        elif cell and line == "  end":
            parts["\n".join([cell[0], *sorted(cell[1:])])] += 1
            cell = []
        elif cell:
            cell.append(known(line) if is_fine and _CONNECT.match(line) else line)
        elif line.startswith(_INIT):
            init = line
        elif _PORT.match(line) or _CONNECT.match(line) or (init and line.startswith("  wire ")):
            parts[init + line] += 1
            init = ""
    return parts

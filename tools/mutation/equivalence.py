"""Whether two sources of a component make netlists that compute the same for ever."""

import contextlib
import importlib
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from kiwicha.errors import ToolError
from tools.mutation.hook import loaded
from tools.mutation.targets import Target
from tools.yosys import component_rtlil, equality_script, run_yosys

__all__ = ["is_equivalent"]

_SECONDS = 120
_PREPARE = "hierarchy -top top; proc; flatten; memory_map; opt_clean"
_SCRIPT = "; ".join([
    f"read_rtlil gold.il; {_PREPARE}; rename top gold; design -stash gold",
    f"read_rtlil gate.il; {_PREPARE}; rename top gate; design -stash gate",
    equality_script(),
])


def is_equivalent(target: Target, source: str) -> bool | None:
    """Return whether a mutant of a component cannot be told from it; None if that is unknown.

    Parameters
    ----------
    target : Target
        With a component.
    source : str
        Of its module, with a fault.
    """
    module = importlib.import_module(target.module)
    gold, gate = _netlist(module, target), ""
    with contextlib.suppress(Exception):
        gate = _netlist(loaded(module, source), target)
    if not gate:
        # Some faults are such that it is not even built.
        return None
    if gold == gate:
        # The fault is in what depends on parameters, such as their check.
        return None
    with tempfile.TemporaryDirectory(prefix="kiwicha-miter-") as name:
        folder = Path(name)
        (folder / "gold.il").write_text(gold, encoding="utf-8")
        (folder / "gate.il").write_text(gate, encoding="utf-8")
        try:
            run_yosys(["-p", _SCRIPT], folder, _SECONDS)
        except (ToolError, subprocess.TimeoutExpired):
            return None
    return True


def _netlist(module: Any, target: Target) -> str:
    return component_rtlil(getattr(module, target.component)(**target.parameters), "top")

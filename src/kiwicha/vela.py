"""Estimates of Arm's compiler Vela for Ethos-U55, to stand beside our measurements."""

import csv
import sys
import tempfile
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from kiwicha import tools
from kiwicha.compiler.onnx.container import is_onnx
from kiwicha.contract.configs import Config
from kiwicha.errors import ToolError, UsageError

__all__ = ["MEMORY_MODE", "Estimate", "accelerator", "estimate"]

MEMORY_MODE = "Sram_Only"
_PACKAGE = "ethos-u-vela"
_MACS = (32, 64, 128, 256)
"""Multiply-accumulates per cycle of the members of the family."""


@dataclass(frozen=True)
class Estimate:
    """What Vela says of a model.

    Parameters
    ----------
    accelerator : str
        What it is for.
    cycles : int
        Of one inference.
    version : str
        Of Vela.
    """

    accelerator: str
    cycles: int
    version: str


def accelerator(config: Config) -> str | None:
    """Return Arm's accelerator with as many multipliers, None without an engine."""
    return f"ethos-u55-{config.engine_macs}" if config.engine_macs in _MACS else None


def estimate(model: Path, name: str) -> Estimate:
    """Compile a model with Vela and return its estimate.

    Parameters
    ----------
    model : Path
        A ``.tflite`` file.
    name : str
        From `accelerator`.

    Raises
    ------
    UsageError
        If it is an ONNX model, which Vela does not read.
    ToolError
        If Vela is not installed, fails, or writes no summary.
    """
    if is_onnx(model.read_bytes()):
        raise UsageError(f"model must be a .tflite file to compare with Vela, not ONNX ({model})")
    try:
        installed = version(_PACKAGE)
    except PackageNotFoundError as error:
        raise ToolError(
            "Vela must be installed for --compare vela; get it with: pip install 'kiwicha[vela]'"
        ) from error
    with tempfile.TemporaryDirectory(prefix="kiwicha-") as folder:
        words = [sys.executable, "-m", "ethosu.vela", str(model.absolute())]
        words += ["--accelerator-config", name, "--memory-mode", MEMORY_MODE]
        tools.run([*words, "--output-dir", folder], name="Vela")
        summaries = sorted(Path(folder).glob("*_summary_*.csv"))
        if not summaries:
            raise ToolError(f"Vela must write a summary ({model})")
        with summaries[0].open(encoding="utf-8", newline="") as file:
            cycles = next(csv.DictReader(file))["cycles_total"]
    return Estimate(name, round(float(cycles)), installed)

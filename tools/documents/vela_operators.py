"""What Arm's compiler Vela says it can place on an Ethos-U, to stand beside our operators.

``python -m tools.documents.vela_operators`` asks the installed Vela and writes `PATH`.
"""

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

__all__ = ["PATH", "VelaOperators", "main", "parsed", "vela_operators"]

PATH = Path(__file__).with_name("vela_operators.json")
_PACKAGE = "ethos-u-vela"
_REPORT = "SUPPORTED_OPS.md"
_SECTIONS = {
    "Ethos-U55, U65": "Ethos-U55 and Ethos-U65 TFLite Summary Table",
    "Ethos-U85": "Ethos-U85 TFLite Summary Table",
}
"""What we call accelerators, and the section of the report about them."""


@dataclass(frozen=True)
class VelaOperators:
    """Operators by accelerator.

    Parameters
    ----------
    version : str
        Of Vela.
    operators : mapping of str to tuple of str
        TFLite names of the operators that it places there, by accelerator.
    """

    version: str
    operators: Mapping[str, tuple[str, ...]]


def vela_operators() -> VelaOperators:
    """Return what `PATH` holds."""
    stored = json.loads(PATH.read_text(encoding="utf-8"))
    found = {name: tuple(names) for name, names in stored["operators"].items()}
    return VelaOperators(stored["version"], found)


def parsed(report: str) -> dict[str, list[str]]:
    """Return the operators by accelerator that Vela's report lists.

    Raises
    ------
    ValueError
        If a table is missing.
    """
    parts = re.split(r"^## ", report, flags=re.MULTILINE)
    sections = {part.partition("\n")[0].strip(): part for part in parts}
    found = {
        name: re.findall(r"^\| ([A-Z0-9_]+) \|", sections.get(title, ""), re.MULTILINE)
        for name, title in _SECTIONS.items()
    }
    if not all(found.values()):
        raise ValueError(f"Vela's report must have the sections {list(_SECTIONS.values())}")
    return found


def main() -> int:
    """Ask Vela and write the file."""
    with tempfile.TemporaryDirectory(prefix="kiwicha-") as folder:
        command = [sys.executable, "-m", "ethosu.vela", "--supported-ops-report"]
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        report = (Path(folder) / _REPORT).read_text(encoding="utf-8")
    stored = {"version": version(_PACKAGE), "operators": parsed(report)}
    PATH.write_text(json.dumps(stored, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

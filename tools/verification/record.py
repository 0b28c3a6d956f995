"""Where measurements are recorded."""

import json
import sys
from pathlib import Path
from typing import Any

__all__ = ["FOLDER", "command", "read", "say", "write"]

FOLDER = Path("docs/results/verification")
"""In the project."""


def command() -> str:
    """Return the command that runs."""
    return " ".join(["python -m", f"tools.verification.{Path(sys.argv[0]).stem}", *sys.argv[1:]])


def write(name: str, values: Any) -> None:
    """Write a record, ``name.json``."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    text = json.dumps(values, indent=1)
    (FOLDER / f"{name}.json").write_text(f"{text}\n", encoding="utf-8")


def read(project: Path, name: str) -> Any:
    """Return a record; None if there is none."""
    path = project / FOLDER / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def say(text: str) -> None:
    """Tell how far a measurement is."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()

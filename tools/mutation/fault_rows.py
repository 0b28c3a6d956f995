"""What became of faults: lines of JSON, which later runs go on from."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ["Row", "read_rows", "write_rows"]

Row = dict[str, Any]


def read_rows(path: Path) -> dict[Any, Row]:
    """Return what is recorded, by the number of the fault."""
    if not path.exists():
        return {}
    lines = path.read_text(encoding="utf-8").splitlines()
    return {row["number"]: row for row in map(json.loads, lines)}


def write_rows(path: Path, rows: Mapping[Any, Row]) -> None:
    """Record rows, in the order of their numbers."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(f"{json.dumps(rows[number])}\n" for number in sorted(rows))
    path.write_text(text, encoding="utf-8")

"""``docs/results/present.json``: what every file of results would record now.

``make results`` writes it, since it takes minutes to compute; pages are written from it.
"""

import json
from collections.abc import Mapping
from pathlib import Path

from tools.results.result import FOLDER, Fingerprint

__all__ = ["read", "text_of", "write"]

_FILE = "present.json"


def read(project: Path) -> dict[str, Fingerprint]:
    """Return the fingerprints by name; empty if there is no file."""
    path = project / FOLDER / _FILE
    if not path.exists():
        return {}
    found: dict[str, Fingerprint] = json.loads(path.read_text(encoding="utf-8"))
    return found


def text_of(found: Mapping[str, Fingerprint]) -> str:
    """Return the file's text, the same for the same fingerprints."""
    return json.dumps(found, indent=2, sort_keys=True) + "\n"


def write(project: Path, found: Mapping[str, Fingerprint]) -> None:
    """Write the file."""
    (project / FOLDER / _FILE).write_text(text_of(found), encoding="utf-8")

"""Netlists beside sources: ``python -m tools.verification.equivalence`` proves components equal.

What was tried before is not tried again while its source is the same, unless ``--again`` asks for
it. What has no result yet comes first, and then what is not proven.
"""

import argparse
import dataclasses
import hashlib
import sys
import time
from pathlib import Path
from typing import Any

from kiwicha.errors import ToolError
from tools.verification import record
from tools.verification.components import COMPONENTS, CONFIG
from tools.verification.netlists import FAMILIES, compare, source

__all__ = ["RECORD", "main"]

RECORD = "equivalence"


def _row(name: str, family: str, seconds: float) -> dict[str, Any]:
    """Return the record of a component on a family of boards."""
    start = time.monotonic()
    row: dict[str, Any] = {"component": name, "family": family, "config": CONFIG}
    row |= {"given_seconds": seconds, "source": _digest(name)}
    try:
        found = compare(COMPONENTS[name](), family, seconds=seconds)
    except ToolError as error:
        return {**row, "failed": str(error)[-300:]}
    row |= dataclasses.asdict(found)
    row |= {
        "names": list(found.names),
        "is_proven": found.is_proven,
        "limit_seconds": row.pop("seconds"),
        "seconds": round(time.monotonic() - start, 1),
    }
    return row


def _digest(name: str) -> str:
    """Return what tells the source of a component from others."""
    return hashlib.sha256(source(COMPONENTS[name]()).encode()).hexdigest()[:12]


def _turn(row: dict[str, Any] | None) -> int:
    """Return when it is the turn of what has this result."""
    return 0 if row is None else 1 + bool(row.get("is_proven"))


def main(arguments: list[str] | None = None) -> int:
    """Compare components until time is up; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="COMPONENT", help="by default all")
    parser.add_argument("--seconds", type=float, default=300.0, help="for each proof")
    parser.add_argument("--minutes", type=float, default=60.0, help="for all together")
    parser.add_argument("--again", action="store_true", help="what was tried before, too")
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.names) - set(COMPONENTS))
    if unknown:
        parser.error(f"COMPONENT must be one of {', '.join(COMPONENTS)}, not {', '.join(unknown)}")
    deadline = time.monotonic() + 60 * options.minutes
    rows: list[dict[str, Any]] = record.read(Path(), RECORD) or []
    known = {(row["component"], row["family"]): row for row in rows}
    wanted = [(name, family) for name in options.names or COMPONENTS for family in FAMILIES]
    for key in sorted(wanted, key=lambda key: _turn(known.get(key))):
        if time.monotonic() > deadline:
            break
        if not options.again and known.get(key, {}).get("source") == _digest(key[0]):
            continue
        row = _row(*key, options.seconds)
        rows = [old for old in rows if (old["component"], old["family"]) != key]
        rows.append(row)
        record.write(RECORD, rows)
        record.say(str(row))
    return 0


if __name__ == "__main__":
    sys.exit(main())

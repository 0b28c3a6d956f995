"""Netlists beside sources: ``python -m tools.verification.equivalence`` proves components equal.

What was tried before is not tried again: ``--again`` forgets it.
"""

import argparse
import sys
import time
from pathlib import Path
from typing import Any

from kiwicha.errors import ToolError
from tools.verification import record
from tools.verification.components import COMPONENTS, CONFIG
from tools.verification.netlists import FAMILIES, compare

__all__ = ["RECORD", "main"]

RECORD = "equivalence"


def _row(name: str, family: str, seconds: float) -> dict[str, Any]:
    """Return the record of a component on a family of boards."""
    start = time.monotonic()
    row: dict[str, Any] = {"component": name, "family": family, "config": CONFIG}
    row["given_seconds"] = seconds
    try:
        found = compare(COMPONENTS[name](), family, seconds=seconds)
    except ToolError as error:
        return {**row, "failed": str(error)[-300:]}
    row |= {
        "proven": found.proven,
        "unproven": found.unproven,
        "cut": found.cut,
        "names": list(found.names),
        "is_proven": found.is_proven,
        "limit_seconds": found.seconds,
        "is_short": found.is_short,
        "seconds": round(time.monotonic() - start, 1),
    }
    return row


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
    wanted = [(name, family) for name in options.names or COMPONENTS for family in FAMILIES]
    rows: list[dict[str, Any]] = record.read(Path(), RECORD) or []
    if options.again:
        rows = [row for row in rows if (row["component"], row["family"]) not in wanted]
    known = {(row["component"], row["family"]) for row in rows}
    for name, family in wanted:
        if (name, family) in known or time.monotonic() > deadline:
            continue
        row = _row(name, family, options.seconds)
        rows.append(row)
        record.write(RECORD, rows)
        record.say(str(row))
    return 0


if __name__ == "__main__":
    sys.exit(main())

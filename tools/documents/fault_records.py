"""What became of faults, as the sections of the page on verification read it."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tools.mutation.trial import Result
from tools.verification import record

__all__ = ["Row", "counted", "fault_rows", "results", "source_rows"]

Row = Mapping[str, Any]


def fault_rows(path: Path) -> list[Row]:
    """Return the rows of a record; none if it does not exist."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def source_rows(project: Path) -> dict[str, list[Row]]:
    """Return the rows of faults in sources, by module.

    Parameters
    ----------
    project : Path
        Top folder of the project.
    """
    paths = sorted((project / record.FOLDER / "mutation").glob("*.jsonl"))
    return {path.stem: fault_rows(path) for path in paths}


def results(rows: Iterable[Row]) -> Counter[str]:
    """Return how many faults had which result."""
    return Counter(row["result"] for row in rows)


def counted(counts: Mapping[str, int]) -> tuple[int, int]:
    """Return the faults that count, and those of them that were seen.

    Parameters
    ----------
    counts : mapping
        From `results`.
    """
    seen = sum(counts.get(result, 0) for result in (Result.KILLED, Result.HANGS))
    return seen + counts.get(Result.SURVIVED, 0), seen

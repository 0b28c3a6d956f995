"""The section of the page on verification about faults in C kernels."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tools.documents.markdown import folded

__all__ = ["c_faults_section"]

_RECORD = "docs/results/verification/c_faults.jsonl"


def c_faults_section(project: Path) -> Iterator[str]:
    """Give the section, if there is a record.

    Parameters
    ----------
    project : Path
        Top folder of the project.
    """
    path = project / _RECORD
    if not path.exists():
        return
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    counts = Counter(row["result"] for row in rows)
    seen, left = counts["killed"], counts["survived"]
    files = len({row["file"] for row in rows})
    yield from (
        "## What Programs see of faults in C kernels",
        "",
        f"Of {files} files of `firmware/kernels`, {seen + left} faults could be compiled: another",
        "comparison, operation or number, or a statement left out. Programs of random steps of",
        f"each kernel, and models, see {seen} of them ({_share(seen, seen + left)}): an output is",
        "another than the reference executor's. What checks parameters and arguments is left",
        "alone, and so are files that no Program of `simd` executes.",
        "",
        "measured with",
        "",
        "```",
        "python -m tools.mutation.kernels",
        "```",
        "",
    )
    if left:
        yield from folded(f"{left} faults that these Programs do not see", _survivors(rows))


def _survivors(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for row in rows:
        if row["result"] == "survived":
            change = row["change"].replace("`", "'")
            yield f"- `{row['file']}`, line {row['line']}: `{change}`"


def _share(part: int, whole: int) -> str:
    """Return a share, rounded down: 100% is all."""
    return f"{100 * part // whole}%" if whole else ""

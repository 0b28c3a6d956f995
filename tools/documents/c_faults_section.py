"""The section of the page on verification about faults in C kernels."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tools.documents.fault_records import Row, counted, fault_rows, results
from tools.documents.markdown import folded, measured_with, table
from tools.mutation.c_equivalents import C_EQUIVALENTS, CEquivalent

__all__ = ["c_faults_section"]

_RECORD = "docs/results/verification/c_faults.jsonl"
_CHECKS_RECORD = "docs/results/verification/c_check_faults.jsonl"


def c_faults_section(project: Path) -> Iterator[str]:
    """Give the section, if there is a record.

    Parameters
    ----------
    project : Path
        Top folder of the project.
    """
    rows = fault_rows(project / _RECORD)
    if not rows:
        return
    checks = fault_rows(project / _CHECKS_RECORD)
    yield from (
        "## What Programs see of faults in C kernels",
        "",
        "Another comparison, operation or number, or a statement left out, in",
        "`firmware/kernels`. Programs of random steps of each kernel, models of one operator,",
        "models that keep something and others run on the host. They see a fault if an output is",
        "another than the reference executor's; one in a check of parameters also if a Program",
        "with a bad one gets another status than tests of the firmware ask for. Lines that look",
        "at arguments of calls are left alone, and so is what starts the engine.",
        "",
    )
    yield from table(
        ("faults in", "files:", "tried:", "seen:", "equivalent:", "survived:", "share seen:"),
        (
            _counts(name, part)
            for name, part in (("kernels", rows), ("checks of parameters", checks))
            if part
        ),
    )
    yield from measured_with(
        "python -m tools.mutation.kernels", "python -m tools.mutation.kernels --checks"
    )
    left = [row for row in (*rows, *checks) if row["result"] == "survived"]
    if left:
        title = f"{len(left)} faults that these Programs do not see"
        yield from folded(title, map(_survivor, left))
    if C_EQUIVALENTS:
        title = f"{len(C_EQUIVALENTS)} faults that change nothing, and why"
        yield from folded(title, map(_equivalent, C_EQUIVALENTS))


def _survivor(row: Mapping[str, Any]) -> str:
    change = row["change"].replace("`", "'")
    return f"- `{row['file']}`, line {row['line']}: `{change}`"


def _equivalent(item: CEquivalent) -> str:
    return f"- `{item.file}`, in `{item.text}`: `{item.change}`: {item.reason}."


def _counts(name: str, rows: Sequence[Row]) -> tuple[str, ...]:
    """Return a row of the table."""
    counts = results(rows)
    tried, seen = counted(counts)
    files = len({row["file"] for row in rows})
    numbers = (files, tried, seen, counts["equivalent"], tried - seen)
    return (name, *(f"{number:,}" for number in numbers), _share(seen, tried))


def _share(part: int, whole: int) -> str:
    """Return a share, rounded down: 100% is all."""
    return f"{100 * part // whole}%" if whole else ""

"""The section on sweeps."""

from collections.abc import Iterable

import pytest

from kiwicha.errors import UsageError
from tools.documents.sweep_section import sweep_section

SWEEP = {
    "combinations": 4824,
    "configs": ["simd", "64"],
    "differing": [],
    "jobs": 2,
    "seconds": 70,
    "processor_seconds": 1130,
}


def fresh(paths: Iterable[str]) -> str:
    return f"fresh: {', '.join(paths)}"


def test_it_shows_what_a_sweep_compared() -> None:
    lines = sweep_section({"s/c.json": SWEEP}, fresh).splitlines()
    assert "| 4,824 | `simd`, `64` | 70 | 1,130 | 2 |" in lines
    assert lines[-4:] == [
        "python -m tools.reference_sweep --json s/c.json",
        "```",
        "",
        "fresh: s/c.json",
    ]


def test_there_is_none_without_a_sweep() -> None:
    assert sweep_section({}, fresh) == ""


def test_sweeps_that_found_differences_are_refused() -> None:
    with pytest.raises(UsageError, match=r"^differing must be none, not x 64 \(s/c.json\)$"):
        sweep_section({"s/c.json": SWEEP | {"differing": ["x 64"]}}, fresh)

"""The section on inferences in a row."""

from collections.abc import Iterable

import pytest

from kiwicha.errors import UsageError
from tools.documents.soak_section import soak_section

SOAK = {
    "model": "nabu",
    "config": "64",
    "inferences": 10000,
    "beginning": 1000,
    "differing": [],
    "least": 5240,
    "most_at_beginning": 5441,
    "most_after": 5395,
}


def fresh(paths: Iterable[str]) -> str:
    return f"fresh: {', '.join(paths)}"


def test_it_shows_what_came_of_them() -> None:
    lines = soak_section({"s/c.json": SOAK}, fresh).splitlines()
    assert "| nabu | `64` | 10,000 | 5,240 | 5,441 | 1,000 | 5,395 |" in lines
    assert lines[-4:] == [
        "python -m tools.soak nabu --config 64 --inferences 10000 --json s/c.json",
        "```",
        "",
        "fresh: s/c.json",
    ]


def test_there_is_none_without_any() -> None:
    assert soak_section({}, fresh) == ""


def test_other_bytes_are_refused() -> None:
    with pytest.raises(UsageError, match=r"^differing must be none, not inference 7 \(s/c.json\)$"):
        soak_section({"s/c.json": SOAK | {"differing": [7]}}, fresh)

"""The table of the guide on cameras."""

from collections.abc import Iterable
from typing import Any

import pytest

from kiwicha.errors import UsageError
from tools.documents.camera_table import camera_table

REPORT: dict[str, Any] = {
    "model": "person_detect",
    "config": "64",
    "count": 24,
    "wrong": 0,
    "dropped": 12,
    "period": 131071.5,
    "frames_per_second": 762.9,
    "camera_frames_per_second": 1145.5,
}


def fresh(paths: Iterable[str]) -> str:
    return f"fresh: {', '.join(paths)}"


def test_it_shows_rates_and_the_command() -> None:
    lines = camera_table({"c/a.json": REPORT}, fresh).splitlines()
    assert "| `person_detect` | `64` | 131,072 | 763 | 1,146 | 24 | 12 | 0 |" in lines
    assert lines[-4] == (
        "python -m tools.camera --model person_detect --config 64 --count 24 --json c/a.json"
    )
    assert lines[-1] == "fresh: c/a.json"
    assert camera_table({}, fresh) == ""


def test_wrong_outputs_are_refused() -> None:
    with pytest.raises(UsageError, match=r"^wrong outputs must be none, not 1 \(a\)$"):
        camera_table({"a": REPORT | {"wrong": 1}}, fresh)

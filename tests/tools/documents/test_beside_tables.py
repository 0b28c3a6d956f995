"""The tables of the guide on work beside the engine."""

import copy
from collections.abc import Iterable
from typing import Any

import pytest

from kiwicha.errors import UsageError
from tools.documents.beside_tables import beside_tables

REPORT: dict[str, Any] = {
    "slow": "person_detect",
    "urgent": "kws",
    "config": "64-preempt",
    "count": 30,
    "longest_job": 2000,
    "bound": 4000,
    "period": {"invoke": 1000.0, "sleep": 1012.4, "noise": 1100.0},
    "asleep": 0.9,
    "requests": {"random": 30, "millisecond": 3},
    "longest_wait": {"random": 3210, "millisecond": 800},
    "histogram": {
        "random": [[500, 1], [1000, 10], [1500, 11], [2000, 0], [2500, 0], [3000, 8]],
        "millisecond": [[500, 3]],
    },
    "slow_inferences": {"invoke": 8, "random": 5},
    "wrong": {"invoke": 0, "random": 0},
}


def fresh(paths: Iterable[str]) -> str:
    return f"fresh: {', '.join(paths)}"


def test_they_show_periods_waits_and_the_command() -> None:
    text = beside_tables({"b/a.json": REPORT}, fresh)
    lines = text.splitlines()
    assert "| sleeps until the interrupt | 1,012 | 90.0 % |" in lines
    assert "The interrupt costs 1.2 % of the period." in lines
    assert "| 0 to 999 | 1 | ▇ |" in lines
    assert "| 1,000 to 1,999 | 21 | ▇▇▇ |" in lines
    assert "| 2,000 to 2,999 | 0 |  |" in lines
    assert "| 3,000 to 3,210 | 8 | ▇ |" in lines
    assert "The longest wait is 3,210 cycles: the longest job, 2,000, and 1,210." in text
    assert "of 13 inferences of `person_detect` and 33 of `kws`." in text
    assert lines[-4].startswith("python -m tools.beside --slow person_detect ")
    assert lines[-1] == "fresh: b/a.json"


@pytest.mark.parametrize(
    ("part", "value", "text"),
    [
        ("wrong", {"noise": 2}, r"wrong outputs must be none, not \{'noise': 2\} \(a\)"),
        ("longest_wait", {"random": 4001}, r"wait must be at most 4000 cycles, not 4001 \(a\)"),
    ],
)
def test_what_misses_its_bound_is_refused(part: str, value: dict[str, int], text: str) -> None:
    report = copy.deepcopy(REPORT)
    report[part] |= value
    with pytest.raises(UsageError, match=f"^{text}$"):
        beside_tables({"a": report}, fresh)


def test_files_of_another_command_are_refused() -> None:
    with pytest.raises(UsageError):
        beside_tables({"a": {"wrong": {}}}, fresh)

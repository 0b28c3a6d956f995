"""Tables of the page on the timing estimate."""

from collections.abc import Iterable
from typing import Any

import pytest

from kiwicha.errors import UsageError
from tools.documents.timing_tables import timing_tables


def fresh(paths: Iterable[str]) -> str:
    return f"fresh: {', '.join(paths)}"


def estimate(config: str) -> dict[str, Any]:
    path = {
        "start": {"path": "a.start", "source": "a.py:1"},
        "end": {"path": "a.end", "source": "", "port": "CE"},
        "ends": 1200,
        "delay_ns": 12.345,
        "logic_ns": 4.005,
        "route_ns": 8.34,
        "luts": 9,
        "carries": 2,
        "blocks": [],
        "steps": [{"loads": 3}, {"loads": 2500}],
    }
    return {
        "config": config,
        "board": "arty_a7_35",
        "clock_mhz": 81.0,
        "wanted_mhz": 100.0,
        "period_ns": 12.345,
        "slack_ns": -2.345,
        "ends": 35_000,
        "late": 146,
        "paths": [path],
    }


def test_configurations_are_rows_and_paths_have_tables() -> None:
    files = {f"docs/results/timing/{name}.json": estimate(name) for name in ("128", "64", "simd")}
    lines = timing_tables(files, fresh).splitlines()
    row = "81.0 MHz | 12.35 ns | -2.35 ns at 100 MHz | 146 of 35,000 |"
    assert [line for line in lines if row in line] == [
        f"| `{name}` | {row}" for name in ("simd", "64", "128")
    ]
    assert lines.count("### `64`") == 1
    path = "| 9 | 2 | 1,200 | `a.start` (a.py:1) | `a.end.CE` | 2,500 loads |"
    assert sum(path in line for line in lines) == 3
    assert (
        "kiwicha timing --config 64 --board arty_a7_35 --json docs/results/timing/64.json" in lines
    )
    assert lines[-1].startswith("fresh: docs/results/timing/128.json, ")


def test_no_estimates_are_no_tables() -> None:
    assert timing_tables({}, fresh) == ""


def test_other_results_are_refused() -> None:
    with pytest.raises(
        UsageError, match=r"^results must be those of kiwicha timing: 'config' \(a\)"
    ):
        timing_tables({"a": {}}, fresh)

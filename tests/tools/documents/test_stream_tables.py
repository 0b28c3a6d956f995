"""Table of streams on the page on performance."""

from typing import Any

import pytest

from kiwicha.errors import UsageError
from tools.documents.stream_tables import stream_tables

_RUN: dict[str, Any] = {
    "model": "ad",
    "config": "64",
    "memory": "ddr3-quarter-rate",
    "cycles": 20_000,
    "period": 21_500,
    "copied_bytes": 1280,
    "counters": {"wait_weights": 15_000},
}


def test_a_stream_has_what_it_takes_more() -> None:
    alone = {key: item for key, item in _RUN.items() if key not in {"period", "copied_bytes"}}
    lines = stream_tables({"a.json": [_RUN, alone], "b.json": [alone]}).splitlines()
    row = "| ad | 64 | 75 % | 20,000 | 21,500 | 1,280 | 1,500 | 18.8 | 268.8 |"
    assert [line for line in lines if line.startswith("| ad")] == [row]
    assert "kiwicha bench ad --config 64 --stream --json a.json" in lines
    assert not any("b.json" in line for line in lines)


def test_a_run_without_counters_is_refused() -> None:
    run = {key: item for key, item in _RUN.items() if key != "counters"}
    with pytest.raises(UsageError, match="kiwicha bench --stream: 'counters'"):
        stream_tables({"a.json": [run]})

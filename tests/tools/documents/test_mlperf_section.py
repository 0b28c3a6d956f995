"""The section on MLPerf Tiny."""

from collections.abc import Iterable
from typing import Any

import pytest

from kiwicha.errors import UsageError
from tools.documents.mlperf_section import mlperf_section


def result(**changes: Any) -> dict[str, Any]:
    values = {"benchmark": "kws", "config": "64", "clock_hz": 100_000_000, "bit_exact": True}
    return {**values, "milliseconds": 0.5, "inputs": {}, **changes}


def fresh(paths: Iterable[str]) -> str:
    return f"fresh: {', '.join(paths)}"


def test_configurations_stand_above_published_systems() -> None:
    results = [result(), result(benchmark="ad", milliseconds=0.25), result(config="128")]
    lines = mlperf_section({"m/m.json": {"results": results}}, fresh).splitlines()
    first = lines.index("| simulated | Kiwicha `64` | 100 MHz |  | 0.500 |  | 0.250 |  |")
    assert lines[first + 1] == "| simulated | Kiwicha `128` | 100 MHz |  | 0.500 |  |  |  |"
    assert lines[first + 2].startswith("| v1.3 | ")
    assert "kiwicha mlperf run kws ad --config 64,128 --json m/m.json" in lines
    assert any(line.startswith("v1.2: closed division, github.com/mlcommons/") for line in lines)
    assert lines[-1] == "fresh: m/m.json"


def test_there_is_none_without_a_file() -> None:
    assert mlperf_section({}, fresh) == ""


def test_wrong_outputs_are_refused() -> None:
    files = {"m/m.json": {"results": [result(bit_exact=False)]}}
    with pytest.raises(UsageError, match=r"^outputs must be bit-exact, not those of kws \(m/m"):
        mlperf_section(files, fresh)

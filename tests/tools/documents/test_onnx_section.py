"""The section on ONNX operators."""

from collections.abc import Iterable
from typing import Any

import pytest

from kiwicha.errors import UsageError
from tools.documents.onnx_section import onnx_section

TALLY = {
    "draws": 2,
    "elements": 1000,
    "equal": 1000,
    "most_steps": 0,
    "halves": 0,
    "equal_halves": 0,
    "even_halves": 0,
}
POOL = {
    "draws": 1,
    "elements": 1000,
    "equal": 979,
    "most_steps": 1,
    "halves": 40,
    "equal_halves": 20,
    "even_halves": 30,
}


def outcome(**operators: Any) -> dict[str, Any]:
    return {"operators": operators, "versions": {"onnxruntime": "1.2"}}


def fresh(paths: Iterable[str]) -> str:
    return f"fresh: {', '.join(paths)}"


def test_it_counts_what_is_equal_with_and_without_halves() -> None:
    files = {"o/o.json": outcome(Conv=TALLY, Pool=POOL, Relu=TALLY)}
    lines = onnx_section(files, fresh).splitlines()
    assert "| Pool | 1 | 1,000 | 97.900 % | 40 | 50 % | 75 % | 99.896 % |" in lines
    assert "| 2 others | 4 | 2,000 | 100.000 % |  |  |  | 100.000 % |" in lines
    assert "| all | 5 | 3,000 | 99.300 % | 40 | 50 % | 75 % | 99.966 % |" in lines
    # 10 of 3,000 more than are equal.
    assert any("make 99.63 % of all elements equal" in line for line in lines)
    assert lines[-4:] == [
        "python -m tools.onnx_draws --json o/o.json",
        "```",
        "",
        "fresh: o/o.json",
    ]


def test_there_is_none_without_draws() -> None:
    assert onnx_section({}, fresh) == ""


def test_more_than_a_step_is_refused() -> None:
    files = {"o/o.json": outcome(Conv={**TALLY, "most_steps": 2})}
    with pytest.raises(UsageError, match=r"^most_steps must be 1 at most, not 2 \(o/o.json\)$"):
        onnx_section(files, fresh)


def test_other_files_are_refused() -> None:
    with pytest.raises(UsageError, match=r"^results must be those of python -m tools.onnx_draws"):
        onnx_section({"o/o.json": {}}, fresh)

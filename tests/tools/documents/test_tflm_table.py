"""The table of the guide on TensorFlow Lite Micro."""

from collections.abc import Iterable
from typing import Any

import pytest

from kiwicha.errors import UsageError
from tools.documents.tflm_table import tflm_table
from tools.tflm.__main__ import EQUAL, REFUSED

FACTS = {"programs": 1, "operators": 2, "inputs": {"firmware": "1", "program": "2"}}


def fresh(paths: Iterable[str]) -> str:
    return f"fresh: {', '.join(paths)}"


def compared(**models: dict[str, Any]) -> dict[str, Any]:
    return {"t/a.json": {"tflm_commit": "90b9", "inferences": 3, "models": models}}


def test_it_shows_what_was_compared_and_what_could_not_be() -> None:
    refused = {**FACTS, "outcome": REFUSED, "reason": "Hybrid"}
    files = compared(kws={**FACTS, "outcome": EQUAL, "bytes": 1234}, ssd=refused, v2=refused)
    lines = tflm_table(files, fresh).splitlines()
    assert "| `kws` | 1 | 2 | 1,234 | equal |" in lines
    assert "| `ssd` | 1 | 2 | 0 | nothing to compare with |" in lines
    assert lines.count("Hybrid") == 1
    assert any(line.endswith("tflite-micro at 90b9.") for line in lines)
    assert lines[-4:] == ["python -m tools.tflm --json t/a.json", "```", "", "fresh: t/a.json"]
    assert tflm_table({}, fresh) == ""


def test_nothing_is_said_of_models_that_were_not_refused() -> None:
    text = tflm_table(compared(kws={**FACTS, "outcome": EQUAL, "bytes": 1}), fresh)
    assert "refuses" not in text


@pytest.mark.parametrize("outcome", ["different", "refused by Kiwicha"])
def test_other_outcomes_are_refused(outcome: str) -> None:
    with pytest.raises(UsageError, match=rf"^outcome must be equal or .*, not {outcome} \(t/a"):
        tflm_table(compared(kws={**FACTS, "outcome": outcome}), fresh)

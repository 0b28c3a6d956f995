"""The page on supported models has every operator, rule and limit."""

import pytest

from kiwicha.compiler import (
    CONTROL_FLOW,
    FOLDED_ONLY,
    onnx_rules,
    support_rules,
    supported_operators,
)
from kiwicha.compiler.engine.select.limits import ENGINE_OPERATORS, engine_limits
from kiwicha.compiler.engine.select.recurrent import RECURRENT_OPERATORS
from tools.documents.operator_table import REFUSED
from tools.documents.supported_page import supported_page
from tools.documents.vela_operators import parsed, vela_operators


def rows() -> dict[str, list[str]]:
    """Return the other columns of each operator's row."""
    lines = [line for line in supported_page().splitlines() if line.startswith("| ")][1:]
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
    return {name: others for name, *others in cells}


def test_each_operator_has_a_row_that_says_where_it_runs() -> None:
    places = {name: place for name, (place, *_) in rows().items()}
    assert list(places) == sorted({
        *(*supported_operators(), *FOLDED_ONLY, *CONTROL_FLOW, *REFUSED)
    })
    on_engine = {name for name, place in places.items() if place.startswith("engine")}
    assert on_engine == {*ENGINE_OPERATORS} - {*RECURRENT_OPERATORS}
    for name in RECURRENT_OPERATORS:
        assert places[name] == "CPU, with `-recurrent` engine"
    assert {name for name, place in places.items() if place.startswith("refused: ")} == {*REFUSED}
    assert {name for name, place in places.items() if place == "compiler"} == {
        *(*FOLDED_ONLY, *CONTROL_FLOW)
    }


def test_each_operator_of_vela_is_marked() -> None:
    found = rows()
    for column, names in enumerate(vela_operators().operators.values(), 1):
        assert {name for name, cells in found.items() if cells[column]} == {*names}
    assert {*REFUSED} <= {n for names in vela_operators().operators.values() for n in names}


def test_vela_reports_are_understood() -> None:
    titles = "Ethos-U55 and Ethos-U65", "Ethos-U85"
    report = "# Supported\n\n".join(
        f"## {title} TFLite Summary Table\n\n| Operator | Constraints |\n| --- | --- |\n"
        f"| ABS | [Generic](#a) |\n| PADV{number} | [Generic](#b), [Specific](#c) |\n"
        for number, title in enumerate(titles)
    )
    found = parsed(f"{report}\n## Ethos-U85 TOSA Operator Support\n\n| CLZ | [Generic](#a) |\n")
    assert found == {"Ethos-U55, U65": ["ABS", "PADV0"], "Ethos-U85": ["ABS", "PADV1"]}
    with pytest.raises(ValueError, match="must have the sections"):
        parsed(report.replace("U85 TFLite", "U85 Other"))


def test_each_rule_and_each_limit_has_a_line() -> None:
    lines = [line for line in supported_page().splitlines() if line.startswith("- ")]
    texts = [text for text, _ in [*support_rules(), *engine_limits()]]
    texts += [text for _, text in onnx_rules()]
    assert len(lines) == len(texts)
    for text in texts:
        assert any(line.endswith(text) for line in lines), text

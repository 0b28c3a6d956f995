"""The page on supported models has every operator, rule and limit."""

from kiwicha.compiler import support_rules, supported_operators
from kiwicha.compiler.engine.select.limits import ENGINE_OPERATORS, engine_limits
from tools.documents.supported_page import supported_page


def test_each_operator_has_a_row_that_says_where_it_runs() -> None:
    rows = [line for line in supported_page().splitlines() if line.startswith("| ")][1:]
    places = dict(row.strip("| ").split(" | ")[:2] for row in rows)
    assert list(places) == list(supported_operators())
    assert {name for name, place in places.items() if place == "engine"} == set(ENGINE_OPERATORS)


def test_each_rule_and_each_limit_has_a_line() -> None:
    lines = [line for line in supported_page().splitlines() if line.startswith("- ")]
    texts = [text for text, _ in [*support_rules(), *engine_limits()]]
    assert len(lines) == len(texts)
    for text in texts:
        assert any(line.endswith(text) for line in lines), text

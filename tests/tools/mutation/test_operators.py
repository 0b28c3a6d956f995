"""Faults that are put into sources."""

import pytest

from tools.mutation.operators import mutants


def changes(source: str) -> set[str]:
    return {mutant.change for mutant in mutants(source)}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x = a < b", {"a < b -> a <= b"}),
        ("x = a + b", {"a + b -> a - b"}),
        ("x = a and b", {"a and b -> a or b"}),
        ("x = ~a", {"~a -> a"}),
        ("x = 3", {"3 -> 4", "3 -> 2"}),
        ("x = True", {"True -> False"}),
        ("x = a if b else c", {"a if b else c -> c if b else a"}),
        ("if a:\n    b()", {"if a: ... -> if not a: ...", "b() -> pass"}),
        ("assert f(a)", {"assert f(a) -> pass"}),
        ("assert isinstance(a, f(2))\nassert a is not None", set()),
        ("m.d.comb += [a.eq(b), c]", {"m.d.comb += [a.eq(b), c] -> pass", "a.eq(b) -> nothing"}),
        ("def f(x: int = 0) -> 'int':\n    '''Text.'''\n    raise ValueError(1)", {"0 -> 1"}),
        ("import a\n__all__ = ['a']", set()),
    ],
)
def test_each_part_has_its_faults(source: str, expected: set[str]) -> None:
    assert expected <= changes(source)
    assert bool(expected) == bool(changes(source))


def test_a_mutant_differs_in_one_place() -> None:
    source = "def f(a, b):\n    return a * 2 + b\n"
    made = mutants(source)
    assert [mutant.number for mutant in made] == list(range(len(made)))
    assert len({mutant.source for mutant in made}) == len(made)
    assert {mutant.line for mutant in made} == {2}
    assert "return a * 2 - b" in "".join(mutant.source for mutant in made)

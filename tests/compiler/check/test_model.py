"""Circles of calls between subgraphs, and subgraphs that nothing executes."""

from types import SimpleNamespace
from typing import Any

import pytest

from kiwicha.compiler.check.model import has_no_circle_of_calls, has_one_subgraph


def graph(*called: tuple[int, ...], name: str = "CALL_ONCE") -> Any:
    """Give subgraphs of an operator each, which executes others."""
    graphs = [
        SimpleNamespace(
            operators=[
                SimpleNamespace(index=0, name=name, options=SimpleNamespace(subgraphs=numbers))
            ],
            others=(),
        )
        for numbers in called
    ]
    graphs[0].others = tuple(graphs[1:])
    return graphs[0]


@pytest.mark.parametrize(
    "called",
    [
        ((),),
        ((1,), ()),
        ((1, 2), (2,), ()),
        # -1 is none; the last is one that the file does not have.
        ((-1,),),
        ((1,), (2,)),
    ],
)
def test_calls_without_a_circle(called: tuple[tuple[int, ...], ...]) -> None:
    assert not [*has_no_circle_of_calls(graph(*called))]


@pytest.mark.parametrize(
    ("called", "circle"),
    [
        (((0,),), [(0, 0)]),
        (((1,), (0,)), [(0, 1), (1, 0)]),
        (((1,), (1,)), [(1, 1)]),
        (((1,), (2,), (1,)), [(1, 2), (2, 1)]),
        (((1, 3), (2,), (), (1, 4), (3,)), [(3, 4), (4, 3)]),
        # One that nothing executes.
        (((), (2,), (1,)), [(1, 2), (2, 1)]),
    ],
)
def test_circles_are_named(
    called: tuple[tuple[int, ...], ...], circle: list[tuple[int, int]]
) -> None:
    (found,) = has_no_circle_of_calls(graph(*called))
    steps = ", ".join(
        f"operator 0 CALL_ONCE of subgraph {a} executes subgraph {b}" for a, b in circle
    )
    assert found.text == f"subgraphs must not execute each other in circles: {steps}"


@pytest.mark.parametrize(
    ("called", "text"),
    [
        (((1, 2), (), ()), ""),
        (((), ()), "must be 1, not 2: no CALL_ONCE executes subgraph 1"),
        (((1,), (), (), ()), "must be 2, not 4: no CALL_ONCE executes subgraph 2"),
        (((2,), (), ()), "must be 2, not 3: no CALL_ONCE executes subgraph 1"),
    ],
)
def test_subgraphs_are_executed(called: tuple[tuple[int, ...], ...], text: str) -> None:
    found = [problem.text for problem in has_one_subgraph(graph(*called))]
    assert found == ([f"number of subgraphs {text}"] if text else [])
    # What IF and WHILE execute is not known here; other operators execute nothing.
    assert not [*has_one_subgraph(graph(*called, name="WHILE"))]
    assert bool([*has_one_subgraph(graph(*called, name="ADD"))]) == (len(called) > 1)

"""Sums, products and comparisons of tensors of any shapes: on the engine, equal to the oracle."""

import pytest

from kiwicha.compiler import compile_stages
from kiwicha.compiler.engine.ir.element_operations import Addition, Multiplication
from kiwicha.compiler.engine.ir.move_operations import MoveOperation
from kiwicha.compiler.engine.ir.window_operations import Convolution
from kiwicha.contract.program import Where
from tests.support.choices import at_night
from tests.support.models.pair_layers import Shape, pair
from tests.support.models.random_broadcasts import network
from tests.support.oracle.on_engine import on_engine

REPEATED = "with operands repeated"
PAIRS = [
    ((1, 9, 11, 1), (1, 9, 11, 16)),
    ((1, 9, 11, 1), (1, 9, 11, 3)),
    ((1, 9, 1, 8), (1, 9, 11, 8)),
    ((1, 9, 1, 3), (1, 9, 11, 3)),
    ((1, 1, 11, 5), (1, 9, 11, 5)),
    ((1, 1, 1, 1), (1, 9, 11, 13)),
    ((1, 5, 1, 1), (1, 5, 6, 48)),
    ((1, 1, 6, 1), (1, 5, 6, 48)),
    ((2, 1, 1, 24), (2, 7, 6, 24)),
    ((1, 6, 7, 8), (3, 6, 7, 8)),
    ((1, 9, 1, 16), (1, 1, 11, 16)),
    ((9, 1), (1, 30)),
    ((6, 5, 4, 1), (1, 7)),
    ((4, 1, 3, 1, 5), (1, 6, 1, 7, 1)),
    ((1, 16, 16, 32), (1, 16, 16, 32)),
    ((1, 9, 11, 24), (24,)),
]
"""Shapes of two operands."""


@pytest.mark.parametrize(
    ("operator", "constant"),
    [
        *[("ADD", None), ("SUB", 0), ("MUL", 1), ("MAXIMUM", None), ("MINIMUM", 1)],
        *map(at_night, [("SQUARED_DIFFERENCE", None), ("SQUARED_DIFFERENCE", 1)]),
        *map(at_night, [("ADD", 0), ("ADD", 1), ("SUB", None), ("SUB", 1), ("MUL", None)]),
        *map(at_night, [("MAXIMUM", 0), ("MINIMUM", None)]),
    ],
)
@pytest.mark.parametrize(("first", "second"), PAIRS, ids=str)
def test_shapes(first: Shape, second: Shape, operator: str, constant: int | None) -> None:
    case = pair(operator, first, second, constant)
    on_engine(case, "64")
    on_engine(pair(operator, second, first, constant), "128")


@pytest.mark.parametrize("constant", [None, 1], ids=["computed", "constant"])
@pytest.mark.parametrize(
    ("source", "factors"),
    [
        ((1, 9, 11, 24), (1, 1, 24)),
        ((1, 9, 11, 5), (5,)),
        ((1, 9, 11, 16), (9, 11, 16)),
        ((1, 9, 11, 16), (1, 11, 16)),
        ((1, 9, 11, 16), (9, 11, 1)),
        ((9, 30), (1, 30)),
    ],
    ids=str,
)
def test_prelu(source: Shape, factors: Shape, constant: int | None) -> None:
    for config in ("64", "128", "64-8k"):
        on_engine(pair("PRELU", source, factors, constant), config)


@pytest.mark.parametrize("operator", ["ADD", "MUL"])
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ((1, 112, 112, 1), (1, 112, 112, 32)),
        ((1, 112, 1, 32), (1, 112, 112, 32)),
        ((1, 1, 112, 32), (1, 112, 112, 32)),
        ((1, 2000, 1), (1, 2000, 70)),
        ((1, 300000), (1, 1)),
    ],
    ids=str,
)
def test_more_than_the_scratchpad(first: Shape, second: Shape, operator: str) -> None:
    for config in ("64", "64-8k"):
        on_engine(pair(operator, first, second), config)


@pytest.mark.parametrize("is_unsigned", [False, True], ids=["int8", "uint8"])
@pytest.mark.parametrize("seed", [*range(6), *map(at_night, range(6, 120))])
def test_networks(seed: int, is_unsigned: bool) -> None:
    for config in ("32", "64", "128", "64-8k"):
        on_engine(network(seed, is_unsigned=is_unsigned), config, is_all=False)


@pytest.mark.parametrize(
    ("operator", "first", "second", "constant", "form", "kinds"),
    [
        ("ADD", (1, 56, 1, 64), (1, 56, 56, 64), None, REPEATED, [MoveOperation, Addition]),
        # Longer runs first; those of a constant are in the Program.
        ("ADD", (1, 9, 1, 3), (1, 9, 56, 3), None, REPEATED, [*[MoveOperation] * 2, Addition]),
        ("ADD", (1, 9, 1, 3), (1, 9, 200, 3), 0, REPEATED, [MoveOperation, Addition]),
        ("ADD", (1, 9, 9, 8), (1, 9, 9, 8), 0, REPEATED, [Addition]),
        (
            *("MUL", (1, 56, 56, 1), (1, 56, 56, 8), None),
            *(f"{REPEATED} by a convolution", [Convolution, Multiplication]),
        ),
        ("MUL", (1, 1, 6, 1), (1, 200, 6, 1), None, "row by row", [Multiplication]),
        ("MAXIMUM", (1, 9, 9, 8), (1, 1, 1, 8), None, "", [Addition, Addition]),
        ("MUL", (1, 300000), (1, 1), None, "in short rows", [*[MoveOperation] * 2, Multiplication]),
    ],
)
def test_the_fastest_form_is_chosen(
    operator: str,
    first: Shape,
    second: Shape,
    constant: int | None,
    form: str,
    kinds: list[type],
) -> None:
    stages = compile_stages(pair(operator, first, second, constant).model, "64")
    chosen = stages.engine.selection.decisions[-1].chosen
    assert chosen is not None
    assert chosen.form == form
    assert [type(step) for step in chosen.operation.steps] == kinds


def test_few_elements_stay_on_the_cpu() -> None:
    for operator, first, second in (("MUL", (1, 2), (1, 1)), ("MAXIMUM", (1, 4), (1, 4))):
        stages = on_engine(pair(operator, first, second), "64", is_all=False)
        (layer,) = stages.program.layers
        assert layer.where is not Where.ENGINE
        assert "in a list of its own" in stages.engine.selection.decisions[0].why_not

"""The table of operators: what it names exists, and what it says fits together."""

import dataclasses

import pytest
import tflite

from kiwicha.compiler.tflite.graph import Options
from kiwicha.compiler.tflite.operators import OPERATORS, Family, OperatorKind, of_family

by_name = pytest.mark.parametrize(("name", "kind"), OPERATORS.items(), ids=OPERATORS)


@by_name
def test_operators_are_those_of_the_schema(name: str, kind: OperatorKind) -> None:
    assert isinstance(getattr(tflite.BuiltinOperator, name), int)
    if kind.options is not None:
        table = getattr(tflite, kind.options.name)
        assert all(hasattr(table, accessor) for accessor in kind.options.fields.values())
        assert set(kind.options.fields) <= {field.name for field in dataclasses.fields(Options)}


@by_name
def test_operands_are_counted_once(name: str, kind: OperatorKind) -> None:
    positions = [p for p in range(9) if p not in kind.constants][: len(kind.activations)]
    named = sorted([*positions, *kind.constants])
    assert named == list(range(len(named))), (
        f"an input of {name} is neither constant nor activation"
    )
    assert set(kind.types) <= {*kind.activations, "output"}


def test_families_are_parts_of_others() -> None:
    for part, whole in (
        (Family.PAIR, Family.BROADCAST),
        (Family.RESHAPE, Family.MOVE),
        (Family.JOIN, Family.MOVE),
        (Family.SPLIT, Family.MOVE),
    ):
        assert of_family(part)
        assert set(of_family(part)) < set(of_family(whole))


def test_lowering_has_one_way_for_each() -> None:
    ways = (
        Family.WEIGHTED,
        Family.POOL,
        Family.BROADCAST,
        Family.REDUCTION,
        Family.UNARY,
        Family.POSITION,
    )
    others = (Family.MOVE, Family.VARIABLE)
    names = [name for family in (*ways, *others) for name in of_family(family)]
    assert len(names) == len(set(names))
    rest = {"L2_NORMALIZATION", "LOG_SOFTMAX", "RESIZE_BILINEAR", "SOFTMAX", "SVDF"}
    rest.add("UNIDIRECTIONAL_SEQUENCE_LSTM")
    assert set(OPERATORS) - set(names) == rest

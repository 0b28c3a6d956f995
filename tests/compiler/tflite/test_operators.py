"""The table of operators: what it names exists, and what it says fits together."""

import dataclasses

import pytest
import tflite

from kiwicha.compiler.tflite.graph import Options
from kiwicha.compiler.tflite.operators import BYTE_TABLE, OPERATORS, Family, OperatorKind, of_family

by_name = pytest.mark.parametrize(("name", "kind"), OPERATORS.items(), ids=OPERATORS)


@by_name
def test_operators_are_those_of_the_schema(name: str, kind: OperatorKind) -> None:
    # What other front ends have besides is none of TFLite's.
    assert hasattr(tflite.BuiltinOperator, name) == (name != BYTE_TABLE)
    if kind.options is not None:
        table = getattr(tflite, kind.options.name)
        assert all(hasattr(table, accessor) for accessor in kind.options.fields.values())
        assert set(kind.options.fields) <= {field.name for field in dataclasses.fields(Options)}


@by_name
def test_operands_are_counted_once(name: str, kind: OperatorKind) -> None:
    others = {*kind.constants, *kind.indices}
    positions = [p for p in range(9) if p not in others][: len(kind.activations)]
    named = sorted([*positions, *kind.constants, *kind.indices])
    assert named == list(range(len(named))), (
        f"an input of {name} is neither constant nor activation nor index"
    )
    outputs = {f"output {k + 1}" for k in range(kind.outputs)} if kind.outputs > 1 else {"output"}
    assert set(kind.types) <= {*kind.activations, *outputs}
    assert set(kind.alike) <= set(kind.types)
    assert len({kind.types[what] for what in kind.alike}) <= 1


def test_families_are_parts_of_others() -> None:
    for part, whole in (
        (Family.PAIR, Family.BROADCAST),
        (Family.RESHAPE, Family.MOVE),
        (Family.JOIN, Family.MOVE),
        (Family.SPLIT, Family.MOVE),
        (Family.COMPARISON, Family.INTEGER),
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
        Family.INTEGER,
    )
    others = (Family.MOVE, Family.VARIABLE)
    names = [name for family in (*ways, *others) for name in of_family(family)]
    assert len(names) == len(set(names))
    # Where its indices are constants, GATHER is a move.
    assert {*of_family(Family.INDEXED)} & {*names} == {"GATHER"}
    names += [name for name in of_family(Family.INDEXED) if name not in names]
    rest = {"BATCH_MATMUL", "L2_NORMALIZATION", "LOG_SOFTMAX", "RESIZE_BILINEAR", "SOFTMAX", "SVDF"}
    rest |= {"CAST", "CUMSUM", "SELECT", "SELECT_V2", "TOPK_V2", "UNIDIRECTIONAL_SEQUENCE_LSTM"}
    assert set(OPERATORS) - set(names) == rest

"""Numbers as other types."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from kiwicha.contract.integers import IntegerOperation
from kiwicha.numerics.integers import OPERATIONS, cast, selected

INTEGERS = (np.int8, np.uint8, np.int16, np.int32, np.uint32, np.int64)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_floats_saturate(dtype: Any) -> None:
    limits = np.iinfo(dtype)
    values = np.array([np.nan, np.inf, -np.inf, 1e30, -1e30, 2.9, -2.9], np.float32)
    least = max(-2, limits.min)
    expected = [0, limits.max, limits.min, limits.max, limits.min, 2, least]
    assert cast(values, dtype).tolist() == expected
    assert cast(values, dtype).dtype == dtype


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_lose_their_upper_bits(dtype: Any) -> None:
    values = [0, 255, 256, -1, 2**40 + 3, -(2**63)]
    bits = np.iinfo(dtype).bits
    got = cast(np.array(values, np.int64), dtype)
    assert [int(x) % 2**bits for x in got] == [x % 2**bits for x in values]


def test_whatever_is_not_zero_is_true() -> None:
    assert cast(np.array([0.0, -0.0, np.nan, 1e-40], np.float32), np.bool_).tolist() == [
        False,
        False,
        True,
        True,
    ]
    assert cast(np.array([False, True]), np.float32).tolist() == [0.0, 1.0]


PAIRS = [(7, 2), (-7, 2), (7, -2), (-7, -2), (6, 3), (0, 5), (-1, 5), (2**40, -3)]
EXACT = {
    IntegerOperation.ADD: lambda a, b: a + b,
    IntegerOperation.SUB: lambda a, b: a - b,
    IntegerOperation.MUL: lambda a, b: a * b,
    # Towards zero, as C has it.
    IntegerOperation.DIV: lambda a, b: int(Fraction(a, b)),
    IntegerOperation.FLOOR_DIV: lambda a, b: math.floor(Fraction(a, b)),
    IntegerOperation.FLOOR_MOD: lambda a, b: a - b * math.floor(Fraction(a, b)),
    IntegerOperation.MINIMUM: min,
    IntegerOperation.MAXIMUM: max,
    IntegerOperation.EQUAL: lambda a, b: a == b,
    IntegerOperation.NOT_EQUAL: lambda a, b: a != b,
    IntegerOperation.LESS: lambda a, b: a < b,
    IntegerOperation.LESS_EQUAL: lambda a, b: a <= b,
}


@pytest.mark.parametrize("operation", IntegerOperation, ids=lambda operation: operation.name)
def test_operations_are_exact(operation: IntegerOperation) -> None:
    a, b = np.array([*PAIRS, (5, 5)], np.int64).T
    expected = [EXACT[operation](*pair) for pair in [*PAIRS, (5, 5)]]
    assert OPERATIONS[operation](a, b).tolist() == expected


def test_elements_are_selected() -> None:
    assert selected(np.array([True, False]), np.array([1, 2]), np.array([3])).tolist() == [1, 3]


@pytest.mark.parametrize("dtype", INTEGERS)
def test_floats_beside_a_limit(dtype: Any) -> None:
    limits = np.iinfo(dtype)
    for limit in (limits.min, limits.max):
        at = np.float32(limit)
        for value in (at, *(np.nextafter(at, np.float32(to)) for to in (0, np.inf, -np.inf))):
            exact = min(max(int(value), limits.min), limits.max)
            assert cast(np.array([value]), dtype).tolist() == [exact]

"""The sweep of drawn operators in the reference executor, of which ``nox -s sweep`` does all."""

import pytest

from kiwicha.compiler import supported_operators
from tests.support.models import operator_sweep
from tools import reference_sweep

STEP = 211
"""A prime: operators, types and numbers change."""
ELSEWHERE = {"PRELU", "SVDF", "TILE"}
"""Operators whose models other tests draw, or that come with others."""


def test_there_are_enough() -> None:
    names = [str(item) for item in reference_sweep.EVERYTHING]
    assert len(set(names)) == len(names) >= 12_000


def test_every_operator_is_drawn() -> None:
    drawn = {draw.operator for draw in operator_sweep.DRAWS}
    variables = {"ASSIGN_VARIABLE", "CALL_ONCE", "READ_VARIABLE", "VAR_HANDLE"}
    reshapes = {"EXPAND_DIMS", "SPLIT_V", "SQUEEZE"}
    assert set(supported_operators()) - drawn <= ELSEWHERE | reshapes | variables


@pytest.mark.parametrize("first", range(2))
def test_draws_are_as_the_interpreters_say(first: int) -> None:
    draws = operator_sweep.DRAWS[first :: 2 * STEP]
    assert {draw.is_unsigned for draw in draws} == {False, True}
    assert reference_sweep.differing(draws) == []

"""Operators on what a scratchpad does not hold, all of it on the engine, against the oracle."""

import pytest

from tests.support.choices import by_day
from tests.support.models import random_large
from tests.support.oracle.on_engine import on_engine

pytestmark = pytest.mark.slow

MORE = 24
"""Models of each operator by night."""


@pytest.mark.parametrize("config", by_day("64", "128"))
@pytest.mark.parametrize("operator", random_large.OPERATORS)
def test_operators(operator: str, config: str) -> None:
    on_engine(random_large.single_operator(operator, 0), config)


@pytest.mark.nightly
@pytest.mark.parametrize("operator", random_large.OPERATORS)
def test_many_operators(operator: str) -> None:
    for seed in range(1, MORE):
        on_engine(random_large.single_operator(operator, seed), "64")

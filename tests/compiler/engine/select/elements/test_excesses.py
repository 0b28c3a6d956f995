"""MAXIMUM and MINIMUM as sums of tables."""

import pytest

from kiwicha.contract.engine import JobKind
from tests.support.models.pair_layers import CHOICES, Shape, all_pairs, pair
from tests.support.oracle.on_engine import job_kinds, on_engine


@pytest.mark.parametrize("operator", CHOICES)
def test_all_pairs_of_bytes(operator: str) -> None:
    assert {*job_kinds(on_engine(all_pairs(operator), "64"))} == {JobKind.ADD}


@pytest.mark.parametrize("operator", CHOICES)
@pytest.mark.parametrize("shape", [(1, 40, 40, 24), (1, 640), (70, 33), (2, 9, 7, 12)], ids=str)
def test_stripes_and_shapes(operator: str, shape: Shape) -> None:
    case = pair(operator, shape, shape)
    for config in ("32", "128", "64-8k"):
        on_engine(case, config)

"""Layers whose rows are longer than a job can step over, against the oracle."""

from typing import Any

import numpy as np
import pytest

from kiwicha.compiler import compile_stages
from kiwicha.contract.engine import MAX_U16
from kiwicha.contract.program import Where
from kiwicha.program.image import Program
from kiwicha.sim.reference import executor as reference
from tests.support.choices import by_day
from tests.support.models.wide_rows import wide_rows
from tests.support.oracle import oracle

pytestmark = pytest.mark.slow

CASES: list[tuple[str, tuple[int, int, int], dict[str, Any]]] = [
    ("CONV_2D", (1, 8200, 8), {"kernel": (1, 3), "outputs": 4}),
    ("CONV_2D", (1, 8200, 1), {"kernel": (1, 64), "outputs": 8, "stride": 8}),
    ("CONV_2D", (1, 8200, 8), {"kernel": (1, 3), "outputs": 8, "dilation": 5}),
    ("CONV_2D", (1, 8200, 8), {"kernel": (1, 4), "outputs": 8, "images": 2, "is_padded": False}),
    ("CONV_2D", (3, 8200, 7), {"kernel": 1, "outputs": 5}),
    ("CONV_2D", (3, 8200, 8), {"kernel": 3, "outputs": 8}),
    ("DEPTHWISE_CONV_2D", (1, 4200, 16), {"kernel": (1, 5)}),
    ("DEPTHWISE_CONV_2D", (3, 4200, 16), {"kernel": 3}),
    ("MAX_POOL_2D", (1, 4200, 16), {"kernel": (1, 4), "stride": 4}),
    ("MAX_POOL_2D", (2, 4200, 16), {"kernel": 2, "stride": 2}),
    ("AVERAGE_POOL_2D", (1, 4200, 16), {"kernel": (1, 4), "stride": 4}),
    ("AVERAGE_POOL_2D", (4, 4200, 16), {"kernel": 2, "stride": 2, "is_padded": False}),
]


@pytest.mark.parametrize("config", by_day("64", "32", "128", "256"))
def test_long_rows(config: str) -> None:
    assert all(shape[1] * -(-shape[2] // 8) * 8 > MAX_U16 for _, shape, _ in CASES)
    cases = [wide_rows(operator, shape, **changes) for operator, shape, changes in CASES]
    for case, answer in zip(cases, oracle.ask(cases), strict=True):
        assert answer.outputs is not None, answer.error
        stages = compile_stages(case.model, config)
        (layer,) = stages.program.layers
        assert layer.where is Where.ENGINE
        (got,) = reference.run(Program.from_bytes(stages.program.to_bytes()), case.inputs)
        np.testing.assert_array_equal(got, answer.outputs[0])

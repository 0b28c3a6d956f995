"""Layers too large for the scratchpad, in parts of several kinds, against the oracle."""

from typing import Any

import numpy as np
import pytest

from kiwicha.compiler import compile_stages
from kiwicha.contract.program import Where
from kiwicha.program.image import Program
from kiwicha.sim.reference import executor as reference
from tests.support.models.wide_rows import wide_rows
from tests.support.oracle import oracle

pytestmark = pytest.mark.slow

CASES: list[tuple[str, tuple[int, int, int], dict[str, Any]]] = [
    ("DEPTHWISE_CONV_2D", (9, 33, 96), {"dilation": 2}),
    ("DEPTHWISE_CONV_2D", (9, 33, 96), {"dilation": 4}),
    ("DEPTHWISE_CONV_2D", (9, 33, 96), {"dilation": 2, "is_padded": False}),
    ("DEPTHWISE_CONV_2D", (8, 64, 64), {"stride": 2}),
    ("DEPTHWISE_CONV_2D", (8, 66, 40), {"kernel": 5}),
    ("CONV_2D", (7, 64, 48), {"outputs": 16}),
    ("CONV_2D", (7, 65, 64), {"outputs": 16, "stride": 2, "is_padded": False}),
    ("MAX_POOL_2D", (7, 64, 64), {"stride": 2}),
    ("MAX_POOL_2D", (5, 65, 64), {"is_padded": False}),
    ("AVERAGE_POOL_2D", (7, 64, 64), {"stride": 2, "is_padded": False}),
]


@pytest.mark.parametrize("config", ["32-8k", "64-8k", "128-8k"])
def test_blocks_of_columns(config: str) -> None:
    cases = [wide_rows(operator, shape, **changes) for operator, shape, changes in CASES]
    for case, answer in zip(cases, oracle.ask(cases), strict=True):
        assert answer.outputs is not None
        stages = compile_stages(case.model, config)
        (layer,) = stages.program.layers
        assert layer.where is Where.ENGINE
        (plan,) = stages.engine.plans
        assert any(buffer.name.startswith("columns") for buffer in plan.buffers)
        (got,) = reference.run(Program.from_bytes(stages.program.to_bytes()), case.inputs)
        np.testing.assert_array_equal(got, answer.outputs[0])


SUMMED = [
    ("AVERAGE_POOL_2D", (15, 13, 96)),
    ("AVERAGE_POOL_2D", (15, 13, 88)),
    ("AVERAGE_POOL_2D", (30, 25, 13)),
    ("DEPTHWISE_CONV_2D", (15, 7, 96)),
]
"""Layers with one window, whose sums some jobs leave for others."""


@pytest.mark.parametrize("config", ["32-8k", "64-8k", "128-8k"])
def test_summed_rows(config: str) -> None:
    cases = [
        wide_rows(operator, shape, kernel=shape[:2], is_padded=False) for operator, shape in SUMMED
    ]
    compare(cases, config, "rows")


@pytest.mark.parametrize("config", ["32-8k", "64-8k"])
def test_blocks_of_channels(config: str) -> None:
    shape = (11, 17, 112)
    cases = [wide_rows("MAX_POOL_2D", shape, kernel=shape[:2], is_padded=False)]
    compare(cases, config, "channels")


def compare(cases: list[oracle.Case], config: str, kind: str) -> None:
    """Compare the reference executor with the oracle, in parts that are named so."""
    for case, answer in zip(cases, oracle.ask(cases), strict=True):
        assert answer.outputs is not None
        stages = compile_stages(case.model, config)
        (plan,) = stages.engine.plans
        assert sum(buffer.name.startswith(kind) for buffer in plan.buffers) > 2
        (got,) = reference.run(Program.from_bytes(stages.program.to_bytes()), case.inputs)
        np.testing.assert_array_equal(got, answer.outputs[0])

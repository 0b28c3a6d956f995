"""Convolutions whose windows do not fit the scratchpad, in parts of the kernel, and the oracle."""

import dataclasses
from typing import Any

import numpy as np
import pytest

from kiwicha.compiler import compile_stages
from kiwicha.contract import configs
from kiwicha.contract.program import Where
from kiwicha.program.image import Program
from kiwicha.sim.reference import executor as reference
from tests.support.choices import by_day
from tests.support.models.dense_layers import dense
from tests.support.models.wide_rows import wide_rows
from tests.support.oracle import oracle

pytestmark = pytest.mark.slow

SMALL = {
    macs: dataclasses.replace(
        configs.ENGINE_CONFIGS[macs], name=f"{macs}-5k", scratchpad_bytes=5120
    )
    for macs in ("32", "64", "128", "256")
}
CASES: list[tuple[tuple[int, int, int], dict[str, Any]]] = [
    ((9, 15, 97), {"dilation": 2, "outputs": 24}),
    ((9, 11, 99), {"dilation": 2, "outputs": 8}),
    ((7, 6, 171), {"dilation": 6, "outputs": 16}),
    ((5, 5, 310), {"dilation": 9, "outputs": 8}),
    ((13, 5, 105), {"dilation": 5, "outputs": 8}),
    ((11, 9, 137), {"dilation": 3, "outputs": 16, "is_padded": False}),
    ((9, 13, 80), {"stride": 2, "outputs": 40}),
    ((9, 11, 99), {"dilation": 2, "outputs": 13}),
    ((4, 90, 33), {"outputs": 16}),
    ((3, 5, 1100), {"outputs": 8, "kernel": 2}),
    ((3, 4, 2090), {"outputs": 8, "kernel": (1, 2), "is_padded": False}),
    ((7, 9, 119), {"outputs": 8, "kernel": (5, 3), "images": 2}),
    ((6, 5, 200), {"outputs": 328, "dilation": 2}),
]


@pytest.fixture(autouse=True)
def small_engines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the small engines known for the time of a test."""
    for config in SMALL.values():
        monkeypatch.setitem(configs.ALL_CONFIGS, config.name, config)


def compare(cases: list[oracle.Case], config: str, kind: str = "parts of") -> None:
    """Compare the reference executor with the oracle; parts of inputs are loaded."""
    for case, answer in zip(cases, oracle.ask(cases), strict=True):
        assert answer.outputs is not None, answer.error
        stages = compile_stages(case.model, config)
        (layer,) = stages.program.layers
        assert layer.where is Where.ENGINE
        (plan,) = stages.engine.plans
        assert sum(buffer.name.startswith(kind) for buffer in plan.buffers) > 2
        (got,) = reference.run(Program.from_bytes(stages.program.to_bytes()), case.inputs)
        np.testing.assert_array_equal(got, answer.outputs[0])


@pytest.mark.parametrize("macs", by_day(*SMALL))
def test_windows(macs: str) -> None:
    cases = [wide_rows("CONV_2D", shape, **changes) for shape, changes in CASES]
    compare(cases, SMALL[macs].name)


@pytest.mark.parametrize("macs", by_day(*SMALL))
def test_dense(macs: str) -> None:
    sizes = [(1, 6003, 10), (3, 5500, 16), (1, 70001, 8), (2, 66000, 21)]
    compare([dense(*size) for size in sizes], SMALL[macs].name)


PHASES: list[tuple[tuple[int, int, int], dict[str, Any]]] = [
    ((9, 10, 184), {"dilation": 4}),
    ((13, 12, 56), {"dilation": 5, "images": 2}),
    ((7, 11, 136), {"dilation": 3, "is_padded": False}),
    ((5, 19, 104), {"dilation": 9}),
    ((11, 11, 152), {"dilation": 2, "kernel": (5, 3)}),
]
"""The fourth one has phases of rows that are outside the image."""


@pytest.mark.parametrize("macs", by_day(*SMALL))
def test_phases(macs: str) -> None:
    cases = [wide_rows("DEPTHWISE_CONV_2D", shape, **changes) for shape, changes in PHASES]
    compare(cases, SMALL[macs].name, "phase")

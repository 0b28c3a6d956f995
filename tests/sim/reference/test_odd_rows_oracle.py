"""Element-wise layers of few long rows, or of rows of odd lengths, against the oracle."""

import dataclasses

import numpy as np
import pytest

from kiwicha.compiler import Compilation, compile_stages
from kiwicha.contract import configs
from kiwicha.contract.program import Where
from kiwicha.program.image import Program
from kiwicha.sim.reference import executor as reference
from tests.support.choices import by_day
from tests.support.models.odd_rows import ELEMENTWISE, conversions, elementwise
from tests.support.oracle import oracle

pytestmark = pytest.mark.slow

SMALL = {
    macs: dataclasses.replace(
        configs.ENGINE_CONFIGS[macs], name=f"{macs}-4k", scratchpad_bytes=4096
    )
    for macs in ("32", "64", "128", "256")
}
"""In which these tensors must be streamed."""
SHAPES = ((1, 7, 11, 55), (1, 3, 1499), (2, 1033, 2), (1, 4409))
"""The last one has a prime number of bytes."""


@pytest.fixture(autouse=True)
def small_engines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the small engines known for the time of a test."""
    for config in SMALL.values():
        monkeypatch.setitem(configs.ALL_CONFIGS, config.name, config)


def check(case: oracle.Case, answer: oracle.Answer, config: str) -> Compilation:
    """Compare the reference executor with the oracle; all layers are the engine's."""
    assert answer.outputs is not None, answer.error
    stages = compile_stages(case.model, config)
    assert {layer.where for layer in stages.program.layers} - {Where.NONE} == {Where.ENGINE}
    got = reference.run(Program.from_bytes(stages.program.to_bytes()), case.inputs)
    for output, expected in zip(got, answer.outputs, strict=True):
        np.testing.assert_array_equal(output, expected)
    return stages


@pytest.mark.parametrize("macs", by_day(*SMALL))
@pytest.mark.parametrize("kind", ELEMENTWISE)
def test_elementwise(kind: str, macs: str) -> None:
    cases = [elementwise(kind, shape) for shape in SHAPES]
    for case, answer in zip(cases, oracle.ask(cases), strict=True):
        check(case, answer, SMALL[macs].name)


@pytest.mark.parametrize("kind", ["ADD", "MUL", "RELU6", "MAXIMUM"])
def test_unsigned(kind: str) -> None:
    cases = [elementwise(kind, shape, is_unsigned=True) for shape in SHAPES]
    for case, answer in zip(cases, oracle.ask(cases, oracle.LITERT), strict=True):
        check(case, answer, SMALL["64"].name)


@pytest.mark.parametrize("has_sum", [False, True])
def test_conversions(has_sum: bool) -> None:
    cases = [conversions(shape, has_sum=has_sum) for shape in SHAPES]
    for case, answer in zip(cases, oracle.ask(cases), strict=True):
        check(case, answer, SMALL["64"].name)


def test_a_chain_is_one_region() -> None:
    case = elementwise("chain", SHAPES[0])
    (answer,) = oracle.ask([case])
    assert len(check(case, answer, SMALL["64"].name).engine.regions) == 1

"""ONNX operators against onnxruntime: one step apart at most, nearly all equal."""

import numpy as np
import pytest

from kiwicha.compiler import compile_model
from kiwicha.sim.reference import executor as reference
from tests.support.models import random_onnx
from tests.support.models.onnx_comparison import compare
from tools.onnx_draws import seeds_of_each

EQUAL_SHARE = 0.999


def test_some_operators_are_one_step_off_at_most_and_nearly_all_equal() -> None:
    tallies = [compare(operator, range(2)) for operator in random_onnx.OPERATORS]
    elements = sum(tally.elements for tally in tallies)
    assert elements > 10_000
    assert max(tally.most_steps for tally in tallies) <= 1
    assert sum(tally.differing for tally in tallies) <= (1 - EQUAL_SHARE) * elements


@pytest.mark.nightly
@pytest.mark.parametrize("operator", random_onnx.OPERATORS)
def test_each_operator_is_one_step_off_at_most_and_nearly_always_equal(operator: str) -> None:
    tally = compare(operator, seeds_of_each())
    assert tally.most_steps <= 1
    # Some give a few numbers only: one more may differ.
    assert tally.differing <= 1 + (1 - EQUAL_SHARE) * tally.elements


@pytest.mark.nightly
@pytest.mark.parametrize("operator", random_onnx.OPERATORS)
def test_an_engine_gives_the_same(operator: str) -> None:
    for seed in range(200, 220):
        case = random_onnx.single_operator(operator, seed)
        expected = reference.run(compile_model(case.model, "baseline"), list(case.inputs))
        actual = reference.run(compile_model(case.model, "64"), list(case.inputs))
        for one, other in zip(expected, actual, strict=True):
            np.testing.assert_array_equal(one, other, f"seed {seed}")

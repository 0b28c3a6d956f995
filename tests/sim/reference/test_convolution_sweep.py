"""The sweep of convolutions in the reference executor, of which ``nox -s sweep`` does all."""

import numpy as np
import pytest

from kiwicha.compiler import compile_stages
from tests.support.models import convolution_sweep as sweep
from tools import reference_sweep

STEP = 23


@pytest.mark.parametrize("first", range(2))
def test_wide_kernels_are_as_the_interpreters_say(first: int) -> None:
    combinations = sweep.MORE_COMBINATIONS[first::STEP]
    assert {c.is_unsigned for c in combinations} == {False, True}
    assert reference_sweep.differing(combinations) == []


def test_values_are_those_that_are_named() -> None:
    every = [*sweep.COMBINATIONS, *sweep.MORE_COMBINATIONS]
    assert len({str(c) for c in every}) == len(every)
    assert {c.kernel[1] for c in every} == set(range(1, 8))
    for c in sweep.MORE_COMBINATIONS[-3:]:
        weights = compile_stages(sweep.case(c).model, "baseline").graph.tensors[1]
        assert weights.int8s().min() == -128, "of uint8, 0"
    assert {c.activation for c in every} == {"NONE", "RELU", "RELU6", "RELU_N1_TO_1"}


def test_a_difference_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    combinations = sweep.MORE_COMBINATIONS[:2]

    def wrong(found: list[sweep.Combination]) -> list[tuple[object, tuple[np.ndarray, ...]]]:
        return [(case, tuple(output ^ 1 for output in outputs)) for case, outputs in given(found)]

    given = reference_sweep.answers
    monkeypatch.setattr(reference_sweep, "answers", wrong)
    configs = reference_sweep.REFERENCE_CONFIGS
    expected = [f"{c} {config}" for c in combinations for config in configs]
    assert reference_sweep.differing(combinations) == expected

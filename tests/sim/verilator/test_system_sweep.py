"""A sample of the convolutions' parameters on the simulated system, as RTL computes them."""

import pytest

from kiwicha.compiler import compile_model
from kiwicha.sim.verilator.program_run import run_program
from tests.support.models import convolution_sweep as sweep
from tools import reference_sweep

pytestmark = pytest.mark.verilator

STEP = 607
"""Every so many-th combination: a prime, so that all parameters change."""
NIGHTLY_STEP = 61


def check(combinations: list[sweep.Combination], config: str) -> None:
    found = reference_sweep.answers(combinations)
    problems = []
    for combination, (case, expected) in zip(combinations, found, strict=True):
        program = compile_model(case.model, config)
        result = run_program(program, [array.tobytes() for array in case.inputs])
        if result.outputs != tuple(output.tobytes() for output in expected):
            problems.append(str(combination))
    assert not problems


@pytest.mark.parametrize("config", ["simd", "64"])
def test_sample(config: str) -> None:
    check(sweep.COMBINATIONS[::STEP], config)


@pytest.mark.nightly
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("config", ["simd", "32", "64", "128"])
def test_larger_sample(config: str) -> None:
    check(sweep.COMBINATIONS[::NIGHTLY_STEP], config)

"""All combinations of the parameters of convolutions, against the interpreters that define them.

Compiled for every configuration and run in the reference executor; compiled for the CPU, also by
the C kernels.
"""

from pathlib import Path

import numpy as np
import pytest
from support import oracle, sweep

from kiwicha.compiler import compile_model
from kiwicha.firmware import native
from kiwicha.isa import CONFIGS
from kiwicha.sim import reference

BLOCK = 108
"""Combinations that one test asks the oracle about."""
SAMPLE_STEP = 23
"""In continuous integration: every so many-th combination. No divisor of the parameters' counts."""
REFERENCE_CONFIGS = (*CONFIGS, "64")


def test_there_are_enough() -> None:
    assert len(set(sweep.COMBINATIONS)) == len(sweep.COMBINATIONS) >= 3000


def check(combinations: list[sweep.Combination], executables: dict[str, Path]) -> None:
    cases = [sweep.case(combination) for combination in combinations]
    groups = {
        interpreter: [
            case
            for combination, case in zip(combinations, cases, strict=True)
            if combination.is_unsigned == (interpreter is oracle.LITERT)
        ]
        for interpreter in (oracle.MICRO, oracle.LITERT)
    }
    answers = {
        id(case): answer
        for interpreter, members in groups.items()
        for case, answer in zip(members, oracle.ask(members, interpreter), strict=True)
    }
    problems = []
    for combination, case in zip(combinations, cases, strict=True):
        answer = answers[id(case)]
        assert answer.outputs is not None, f"{combination}: {answer.error}"
        (expected,) = answer.outputs
        for config in REFERENCE_CONFIGS:
            program = compile_model(case.model, config)
            (got,) = reference.run(program, case.inputs)
            if not np.array_equal(got, expected):
                problems.append(f"{combination} {config}: reference")
            if config not in executables:
                continue
            inputs = [array.tobytes() for array in case.inputs]
            result = native.run_native(executables[config], program.to_bytes(), inputs, outputs=1)
            if result.outputs != (expected.tobytes(),):
                problems.append(f"{combination} {config}: C kernels, {result.status.name}")
    assert not problems


SAMPLE = sweep.COMBINATIONS[::SAMPLE_STEP]


@pytest.mark.parametrize("first", range(0, len(SAMPLE), BLOCK))
def test_sample(first: int, executables: dict[str, Path]) -> None:
    check(SAMPLE[first : first + BLOCK], executables)


@pytest.mark.nightly
@pytest.mark.parametrize("first", range(0, len(sweep.COMBINATIONS), BLOCK))
def test_every_combination(first: int, executables: dict[str, Path]) -> None:
    check(sweep.COMBINATIONS[first : first + BLOCK], executables)

"""Random models of one operator: the C kernels against TensorFlow Lite Micro."""

from pathlib import Path

import pytest
from support import oracle, random_models

from kiwicha.compiler import compile_model
from kiwicha.firmware import native
from kiwicha.isa import CONFIGS

SEEDS = range(6)


@pytest.mark.parametrize("operator", random_models.OPERATORS)
def test_random_operators(operator: str, executables: dict[str, Path]) -> None:
    cases = [random_models.single_operator(operator, seed) for seed in SEEDS]
    for seed, case, answer in zip(SEEDS, cases, oracle.ask(cases), strict=True):
        assert answer.outputs is not None, answer.error
        expected = tuple(output.tobytes() for output in answer.outputs)
        inputs = [array.tobytes() for array in case.inputs]
        for config in CONFIGS:
            program = compile_model(case.model, config).to_bytes()
            result = native.run_native(executables[config], program, inputs, outputs=len(expected))
            assert result.outputs == expected, (seed, config, result.status.name, result.log)

"""Random models of one operator: the C kernels against the interpreters that define them."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from kiwicha.compiler import compile_model
from kiwicha.firmware import native
from tests.support.models import random_models
from tests.support.oracle import oracle


def check(
    cases: list[oracle.Case], interpreter: oracle.Interpreter, executables: Mapping[str, Path]
) -> None:
    for seed, (case, answer) in enumerate(zip(cases, oracle.ask(cases, interpreter), strict=True)):
        assert answer.outputs is not None, answer.error
        expected = tuple(output.tobytes() for output in answer.outputs)
        inputs = [array.tobytes() for array in case.inputs]
        for config in executables:
            program = compile_model(case.model, config).to_bytes()
            result = native.run_native(executables[config], program, inputs, outputs=len(expected))
            assert result.outputs == expected, (seed, config, result.status.name, result.log)


@pytest.mark.slow
@pytest.mark.parametrize("operator", random_models.OPERATORS)
def test_random_operators(operator: str, executables: dict[str, Path]) -> None:
    cases = [random_models.single_operator(operator, seed) for seed in range(6)]
    check(cases, oracle.MICRO, executables)


@pytest.mark.slow
def test_interpolation_of_uint8(executables: dict[str, Path]) -> None:
    """In float32: each product and each sum is rounded."""
    operator = "RESIZE_BILINEAR"
    cases = [random_models.single_operator(operator, seed, is_unsigned=True) for seed in range(60)]
    check(cases, oracle.LITERT, executables)

"""Operators that compute from constants alone, against the oracle of each type, bit for bit."""

import numpy as np
import pytest

from kiwicha.compiler import compile_model
from kiwicha.contract import configs
from kiwicha.contract.program import DType
from kiwicha.program.image import Program
from kiwicha.sim.reference import executor as reference
from tests.support.choices import by_day
from tests.support.models import random_models
from tests.support.oracle import oracle

pytestmark = pytest.mark.slow

CONFIGS = ["baseline", *configs.ENGINE_CONFIGS]
SEEDS = range(2)
# What is below 0 ends an inference of the interpreter, and constants are any numbers.
OPERATORS = sorted({*random_models.OPERATORS} - {"RSQRT"})
ORACLES = {DType.INT8: oracle.MICRO, DType.UINT8: oracle.LITERT}


@pytest.mark.parametrize("dtype", by_day(*ORACLES), ids=lambda dtype: dtype.name.lower())
@pytest.mark.parametrize("operator", OPERATORS)
def test_operators_on_constants(operator: str, dtype: DType) -> None:
    cases = [
        random_models.operator_on_constants(operator, seed, is_unsigned=dtype is DType.UINT8)
        for seed in SEEDS
    ]
    problems = []
    answers = oracle.ask(cases, ORACLES[dtype])
    assert any(answer.outputs is not None for answer in answers)
    for seed, case, answer in zip(SEEDS, cases, answers, strict=True):
        for config in CONFIGS if answer.outputs is not None else []:
            program = Program.from_bytes(compile_model(case.model, config).to_bytes())
            (got,) = reference.run(program, case.inputs)
            (expected,) = answer.outputs
            if got.dtype != expected.dtype or not np.array_equal(got, expected):
                problems.append(f"seed {seed} {config} differs")
    assert not problems

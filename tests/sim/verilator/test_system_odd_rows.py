"""Tensors of few long rows, and of rows of odd lengths, on the simulated system."""

import numpy as np
import pytest

from kiwicha.compiler import compile_stages
from kiwicha.compiler.engine.cost.cycles import predict_program
from kiwicha.contract.program import Kernel
from kiwicha.sim.verilator.program_run import run_program
from tests.support.models.odd_rows import conversions, elementwise
from tests.support.oracle import oracle

pytestmark = [pytest.mark.verilator, pytest.mark.nightly]


def check(case: oracle.Case, config: str) -> None:
    """Compare outputs with the oracle, and cycles with the prediction."""
    (answer,) = oracle.ask([case])
    assert answer.outputs is not None, answer.error
    program = compile_stages(case.model, config).program
    assert {step.kernel for step in program.steps} == {Kernel.ENGINE}
    result = run_program(program, [np.ascontiguousarray(x).tobytes() for x in case.inputs])
    assert result.outputs == tuple(output.tobytes() for output in answer.outputs)
    predicted, _ = predict_program(program)
    assert abs(predicted / result.last_cycles - 1) < 0.05


@pytest.mark.parametrize("kind", ["ADD", "MUL", "RELU6", "ADD with a constant", "chain"])
@pytest.mark.parametrize("config", ["64", "128"])
def test_elementwise(kind: str, config: str) -> None:
    shape = (1, 3, 30001) if "constant" in kind else (1, 26, 26, 255)
    check(elementwise(kind, shape), config)


@pytest.mark.parametrize("has_sum", [False, True])
def test_conversions(has_sum: bool) -> None:
    check(conversions((1, 17, 19, 257), has_sum=has_sum), "64")

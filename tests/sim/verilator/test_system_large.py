"""Single operators on what a scratchpad does not hold, on the simulated system, as predicted."""

import pytest

from kiwicha.compiler import compile_model
from kiwicha.compiler.engine.cost.cycles import predict_program
from kiwicha.sim.verilator.program_run import run_program
from tests.support.models import random_large
from tests.support.oracle import oracle

pytestmark = [pytest.mark.verilator, pytest.mark.nightly]


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("operator", random_large.OPERATORS)
def test_operators(operator: str) -> None:
    case = random_large.single_operator(operator, 0)
    (answer,) = oracle.ask([case], case.interpreter or oracle.MICRO)
    assert answer.outputs is not None, answer.error
    program = compile_model(case.model, "64")
    result = run_program(program, [x.tobytes() for x in case.inputs], inferences=2)
    assert result.outputs == tuple(output.tobytes() for output in answer.outputs)
    predicted, _ = predict_program(program)
    # In short lists of many transfers refreshes of DRAM, which are not predicted, count for more:
    # AVERAGE_POOL_2D takes 148 cycles more than its 1,004. All others are within 5 %.
    assert predicted == pytest.approx(result.last_cycles, rel=0.05, abs=160)

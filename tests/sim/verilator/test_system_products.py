"""Products of computed matrices on the simulated system, as RTL computes them."""

import random

import pytest

from kiwicha.compiler import compile_model
from kiwicha.compiler.engine.cost.cycles import predict_program
from kiwicha.contract.program import Kernel
from kiwicha.sim.verilator.program_run import run_program
from tests.support.choices import EACH_ENGINE
from tests.support.models.random_layers import RandomModel
from tests.support.oracle import oracle
from tests.support.oracle.oracle import Case

pytestmark = pytest.mark.verilator


def attention() -> Case:
    """Give products with keys and values of two heads, with rows that fill no whole words."""
    model = RandomModel(random.Random("attention on the engine"))
    query, key, value = (model.input((2, 26, depth)) for depth in (36, 36, 28))
    scores = model.product(query, key, is_first_adjoint=False, is_second_adjoint=True)
    weights = model.unary("LOGISTIC", scores)
    model.product(weights, value, is_first_adjoint=False, is_second_adjoint=False)
    return model.case()


@EACH_ENGINE
def test_outputs_are_those_of_the_interpreter(config: str) -> None:
    case = attention()
    (answer,) = oracle.ask([case], oracle.MICRO)
    assert answer.outputs is not None, answer.error
    program = compile_model(case.model, config)
    kernels = [step.kernel for step in program.steps]
    assert kernels == [Kernel.ENGINE, Kernel.COMPUTED_LIST, Kernel.COMPUTED_LIST]
    result = run_program(program, [x.tobytes() for x in case.inputs], inferences=2)
    assert result.outputs == tuple(output.tobytes() for output in answer.outputs)
    predicted, _ = predict_program(program)
    assert result.last_cycles == pytest.approx(predicted, rel=0.05)

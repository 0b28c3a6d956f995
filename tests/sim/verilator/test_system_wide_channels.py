"""A convolution with wide and narrow jobs on the simulated system, as RTL computes it."""

import pytest

from kiwicha.compiler import compile_model
from kiwicha.compiler.engine.cost.cycles import predict_program
from kiwicha.sim.verilator.program_run import run_program
from tests.support.choices import EACH_ENGINE
from tests.support.models.wide_channels import convolution
from tests.support.oracle import oracle


@pytest.mark.verilator
@EACH_ENGINE
@pytest.mark.parametrize("is_depthwise", [False, True], ids=["conv", "depthwise"])
def test_wide_and_narrow_jobs_of_a_layer(is_depthwise: bool, config: str) -> None:
    kernel = 3 if is_depthwise else 1
    case = convolution([3, 40], is_depthwise=is_depthwise, kernel=kernel, side=16)
    (answer,) = oracle.ask([case])
    assert answer.outputs is not None
    program = compile_model(case.model, config)
    result = run_program(program, [x.tobytes() for x in case.inputs], inferences=2)
    assert result.outputs == tuple(output.tobytes() for output in answer.outputs)
    predicted, _ = predict_program(program)
    assert predicted == pytest.approx(result.last_cycles, rel=0.05)

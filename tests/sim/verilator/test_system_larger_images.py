"""Images that become larger on the simulated system: single outputs, and neighbours as channels."""

import numpy as np
import pytest

from kiwicha.compiler import compile_stages
from kiwicha.compiler.engine.cost.cycles import predict_program
from kiwicha.contract.program import Kernel
from kiwicha.sim.verilator.program_run import run_program
from tests.support.choices import EACH_ENGINE
from tests.support.models.resized import Resized
from tests.support.oracle import oracle

pytestmark = pytest.mark.verilator

FORMS = {
    "in phases of rows and columns": Resized(6, 5, 24, 2, 4, "centers"),
    "in phases of rows": Resized(9, 9, 16, 16, 16, "corners"),
}


@EACH_ENGINE
@pytest.mark.parametrize("form", FORMS)
def test_larger_images(form: str, config: str) -> None:
    case = FORMS[form].case(np.int8)
    (answer,) = oracle.ask([case])
    assert answer.outputs is not None
    stages = compile_stages(case.model, config)
    (decision,) = stages.engine.selection.decisions
    assert decision.chosen is not None
    assert decision.chosen.form == form
    assert [step.kernel for step in stages.program.steps] == [Kernel.ENGINE]
    (x,) = case.inputs
    result = run_program(stages.program, [x.tobytes()])
    assert result.outputs == tuple(output.tobytes() for output in answer.outputs)
    predicted, _ = predict_program(stages.program)
    assert abs(predicted / result.last_cycles - 1) < 0.1

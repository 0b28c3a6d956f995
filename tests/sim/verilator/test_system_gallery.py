"""Small models of the gallery on the simulated system, as RTL computes them."""

import pytest

from kiwicha.compiler import compile_model
from kiwicha.sim.verilator.program_run import run_program
from tests.support.models.gallery_models import NAMES, case, tiny
from tests.support.oracle import oracle

pytestmark = [pytest.mark.verilator, pytest.mark.nightly]


@pytest.mark.parametrize("config", ["simd", "64", "128"])
@pytest.mark.parametrize("name", NAMES)
def test_outputs_are_those_of_the_interpreter(name: str, config: str) -> None:
    asked = case(tiny(name))
    (answer,) = oracle.ask([asked])
    assert answer.outputs is not None, answer.error
    program = compile_model(asked.model, config)
    result = run_program(program, [x.tobytes() for x in asked.inputs])
    assert result.outputs == tuple(output.tobytes() for output in answer.outputs)

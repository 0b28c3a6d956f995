"""Images of other sizes on the simulated system: in one list and in several, in two passes."""

from fractions import Fraction

import numpy as np
import pytest

from kiwicha.compiler import compile_model
from kiwicha.compiler.engine.cost.cycles import predict_program
from kiwicha.contract.program import Kernel
from kiwicha.sim.verilator.program_run import run_program
from tests.support.choices import EACH_ENGINE, by_day
from tests.support.models.resized import Resized
from tests.support.oracle import oracle

pytestmark = pytest.mark.verilator

IMAGES = {1: Resized(6, 5, 24, 2, 4, "centers"), 2: Resized(5, 9, 64, 16, 16, "corners")}
"""By the number of lists."""


def check(item: Resized, lists: int, config: str) -> None:
    case = item.case(np.int8)
    (answer,) = oracle.ask([case])
    assert answer.outputs is not None
    program = compile_model(case.model, config)
    assert [step.kernel for step in program.steps] == [Kernel.ENGINE] * lists
    (x,) = case.inputs
    result = run_program(program, [x.tobytes()])
    assert result.outputs == tuple(output.tobytes() for output in answer.outputs)
    predicted, _ = predict_program(program)
    assert abs(predicted / result.last_cycles - 1) < 0.1


@EACH_ENGINE
@pytest.mark.parametrize("lists", by_day(*IMAGES))
def test_larger_images(lists: int, config: str) -> None:
    check(IMAGES[lists], lists, config)


@EACH_ENGINE
def test_two_passes(config: str) -> None:
    check(Resized(9, 11, 40, Fraction(9, 5), Fraction(7, 5), "centers", images=2), 1, config)

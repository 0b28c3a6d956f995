"""Steps of the CPU beside the engine on the simulated system: same bytes, fewer cycles."""

import dataclasses

import numpy as np
import pytest

from kiwicha.compiler import compile_model
from kiwicha.program.image import Program
from kiwicha.sim.reference import executor as reference
from kiwicha.sim.verilator.program_run import run_program
from tests.support.models.two_heads import SHAPE, two_heads

pytestmark = pytest.mark.verilator
RNG = np.random.default_rng(7)


def one_by_one(program: Program) -> Program:
    """Make every list wait for its end before the next step."""
    steps = tuple(
        dataclasses.replace(step, params=dataclasses.replace(step.params, overlapped_steps=0))
        if hasattr(step.params, "overlapped_steps")
        else step
        for step in program.steps
    )
    return dataclasses.replace(program, steps=steps)


def test_same_bytes_in_fewer_cycles() -> None:
    program = compile_model(two_heads(), "64")
    assert [getattr(step.params, "overlapped_steps", 0) for step in program.steps] == [0, 1, 0]
    image = RNG.integers(-128, 128, SHAPE, np.int8).tobytes()
    expected = tuple(output.tobytes() for output in reference.run(program, [image]))
    beside = run_program(program, [image], inferences=2)
    apart = run_program(one_by_one(program), [image], inferences=2)
    assert beside.outputs == apart.outputs == expected
    for result in (beside, apart):
        assert sum(result.step_cycles[-1]) == result.last_cycles
    # All of the list but its start is hidden behind the CPU's step.
    hidden = apart.step_cycles[-1][1] - beside.step_cycles[-1][1]
    assert hidden > 0.3 * apart.step_cycles[-1][1]
    assert beside.last_cycles < apart.last_cycles

"""LSTMs on the simulated system whose engine has steps of them: states, bytes and cycles."""

import random
from collections.abc import Callable, Set
from typing import Any

import numpy as np
import pytest

from kiwicha.compiler import compile_model
from kiwicha.compiler.engine.cost.cycles import predict_program
from kiwicha.contract.program import Kernel
from kiwicha.program.image import Program
from kiwicha.sim.reference.executor import Session
from kiwicha.sim.verilator.program_run import run_program, run_sequence, run_stream
from tests.support.choices import by_day
from tests.support.models.recurrent import RecurrentModel, lstm, lstm_of_shorts
from tests.support.models.streaming import Streaming, sets
from tools.predictions import CPU_SHARE

# By day the unit's bench and the reference executor stand for it.
pytestmark = [pytest.mark.verilator, pytest.mark.nightly]

CONFIGS = ("64-recurrent", "256-recurrent", "32-8k-recurrent", "128-blocks-resident-recurrent")
INFERENCES = 4
NEAR = 0.05
LISTS = frozenset({Kernel.ENGINE})


def program_of(
    model: Streaming, config: str, kernels: Set[Kernel] = LISTS, *, double_buffer: bool = False
) -> Program:
    program = compile_model(model.model, config, double_buffer=double_buffer)
    assert {step.kernel for step in program.steps} == kernels
    return program


def large(
    shape: tuple[int, int, int], units: int, *, is_time_major: bool, kind: Any = np.int8
) -> Streaming:
    model = RecurrentModel(random.Random(f"{shape}{units}"))
    scale, zero_point = (0.0001, 0) if kind is np.int16 else (0.02, 3)
    source = model.tensor(shape, kind, scale=scale, zero_point=zero_point)
    output = model.lstm(source, units=units, is_time_major=is_time_major, kind=kind)
    return Streaming(model.build([source], [output]), shape, kind)


def check(model: Streaming, config: str, kernels: Set[Kernel] = LISTS, near: float = NEAR) -> None:
    """Compare each of some inferences in a row with the reference, and what they leave."""
    program = program_of(model, config, kernels)
    inputs = [[value.tobytes()] for (value,) in sets(model, INFERENCES)]
    session = Session(program)
    expected = [tuple(output.tobytes() for output in session.run(one)) for one in inputs]
    assert list(run_sequence(program, inputs).outputs) == expected
    session.reset()
    session.run(inputs[0])
    result = run_program(program, inputs[0], inferences=2)
    assert (result.outputs, list(result.states)) == (expected[0], session.values)
    predicted, _ = predict_program(program)
    assert abs(predicted - result.last_cycles) < near * result.last_cycles + 128
    double = program_of(model, config, kernels, double_buffer=True)
    assert list(run_stream(double, inputs, inferences=INFERENCES).outputs) == expected


@pytest.mark.parametrize("config", by_day(*CONFIGS))
@pytest.mark.parametrize("make", [lstm, lstm_of_shorts])
@pytest.mark.parametrize("seed", range(4))
def test_random_models(seed: int, make: Callable[[random.Random], Streaming], config: str) -> None:
    check(make(random.Random(f"system{seed}")), config)


@pytest.mark.parametrize("config", CONFIGS[:2])
@pytest.mark.parametrize(
    ("shape", "units", "is_time_major"),
    [((2, 90, 28), 40, False), ((40, 3, 13), 65, True), ((1, 600, 9), 24, False)],
    ids=["batches", "batches side by side", "several lists"],
)
@pytest.mark.parametrize("kind", [np.int8, np.int16])
def test_large_models(
    shape: tuple[int, int, int], units: int, is_time_major: bool, config: str, kind: Any
) -> None:
    check(large(shape, units, is_time_major=is_time_major, kind=kind), config)


@pytest.mark.parametrize(
    ("config", "kernels"),
    [
        ("64-int16", {Kernel.ENGINE, Kernel.SHORT_LSTM}),
        ("64", {Kernel.SHORT_CONV, Kernel.SHORT_LSTM}),
    ],
)
@pytest.mark.parametrize("seed", range(2))
def test_lstms_of_int16_without_the_unit(seed: int, config: str, kernels: set[Kernel]) -> None:
    """Their steps are the CPU's; what inputs add to the gates an engine with int16 multiplies."""
    check(lstm_of_shorts(random.Random(f"system{seed}")), config, kernels, CPU_SHARE)
    whole = large((1, 28, 28), 20, is_time_major=False, kind=np.int16)
    check(whole, config, kernels, CPU_SHARE)

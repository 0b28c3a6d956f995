"""What the simulated system keeps from one inference to the next."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kiwicha.compiler import compile_model
from kiwicha.errors import UsageError
from kiwicha.sim.reference.executor import Session
from kiwicha.sim.verilator.program_run import run_program, run_sequence, run_stream
from tests.support.choices import by_day
from tests.support.models.recurrent import RECURRENT
from tests.support.models.streaming import STREAMING, sets

pytestmark = pytest.mark.verilator

MODEL = "microwakeword_okay_nabu_v2"
MAX_CYCLES = 400_000_000


@pytest.mark.parametrize("kind", by_day(*STREAMING, *RECURRENT))
@pytest.mark.parametrize("config", by_day("64", "simd"))
def test_each_inference_continues(kind: str, config: str) -> None:
    model = {**STREAMING, **RECURRENT}[kind](random.Random(f"{kind}3"))
    program = compile_model(model.model, config)
    inputs = [[value.tobytes()] for (value,) in sets(model, 4)]
    session = Session(program)
    expected = [tuple(output.tobytes() for output in session.run(one)) for one in inputs]
    assert list(run_sequence(program, inputs).outputs) == expected
    # Inferences with the same inputs all begin anew, and tell what they have left.
    session.reset()
    session.run(inputs[0])
    result = run_program(program, inputs[0], inferences=2)
    assert (result.outputs, list(result.states)) == (expected[0], session.values)
    if config != "simd":
        double = compile_model(model.model, config, double_buffer=True)
        assert list(run_stream(double, inputs, inferences=4).outputs) == expected


@pytest.mark.parametrize(
    ("config", "count"), by_day(("64", 8), *((name, 60) for name in ("64", "simd", "32", "128")))
)
def test_a_wake_word(
    config: str,
    count: int,
    zoo_model: Callable[[str], Path],
    golden_cases: Callable[[str], list[Any]],
) -> None:
    (golden,) = golden_cases(MODEL)
    size = len(golden.input) // len(golden.output)
    frames = [[golden.input[k * size :][:size]] for k in range(count)]
    program = compile_model(zoo_model(MODEL), config)
    result = run_sequence(program, frames, max_cycles=MAX_CYCLES)
    assert b"".join(output for (output,) in result.outputs) == golden.output[:count]
    # The first inference finds the caches empty.
    assert max(result.cycles[1:]) < 1.05 * min(result.cycles)
    if config == "64":
        assert max(result.cycles) < 10_000


def test_a_sequence_needs_one_place() -> None:
    model = STREAMING["ring"](random.Random("ring0"))
    inputs = [[value.tobytes()] for (value,) in sets(model, 2)]
    program = compile_model(model.model, "64", double_buffer=True)
    with pytest.raises(UsageError, match=r"^a sequence must be of a Program without a double"):
        run_sequence(program, inputs)
    program = compile_model(model.model, "64")
    with pytest.raises(UsageError, match=r"^sets of inputs must be 1 or more"):
        run_sequence(program, [])

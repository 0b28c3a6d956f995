"""Lists of LSTMs: which jobs and transfers they have, and that they do as the CPU does."""

import itertools
import random

import numpy as np
import pytest

from kiwicha.compiler import compile_model, compile_stages
from kiwicha.compiler.engine.cost.cycles import predict_program
from kiwicha.compiler.reasons import engine_refusals
from kiwicha.contract.engine import JobFlag, JobKind
from kiwicha.program.image import Program
from kiwicha.sim.reference.executor import Session
from tests.support.choices import by_day
from tests.support.models.recurrent import RecurrentModel

INFERENCES = 3


def lstm(shape: tuple[int, int, int], units: int, *, is_time_major: bool = False) -> bytes:
    model = RecurrentModel(random.Random(f"{shape}{units}"))
    source = model.tensor(shape, scale=0.02, zero_point=3)
    output = model.lstm(source, units=units, is_time_major=is_time_major)
    return model.build([source], [output])


@pytest.mark.parametrize("batches", [1, 3])
def test_a_list_has_two_jobs_for_each_step(batches: int) -> None:
    steps, units = 7, 9
    (found,) = compile_stages(lstm((batches, steps, 12), units), "64-recurrent").lists
    kinds = [JobKind(job.kind) for job in found.jobs]
    # What the inputs add comes batch by batch.
    assert kinds == batches * [JobKind.CONV, *steps * [JobKind.CONV, JobKind.RECURRENT]]
    assert all(job.flags & JobFlag.SHORT for job in found.weighted_jobs)
    # All steps have the same weights, and states are brought once.
    assert len({job.weights_offset for job in found.weighted_jobs}) == 2
    moved = [item.transfer.moved_bytes for item in found.transfers]
    assert moved.count(batches * units) == moved.count(2 * batches * units) == 2
    inputs, outputs = (
        sum(
            item.transfer.moved_bytes for item in found.transfers if item.transfer.is_store == store
        )
        for store in (False, True)
    )
    states = 3 * batches * units
    assert inputs == batches * steps * 12 + states
    assert outputs == batches * steps * units + states


def test_reports_predict_what_the_choice_was_made_by() -> None:
    program = compile_model(lstm((1, 7, 12), 9), "64-recurrent")
    chosen, _ = predict_program(program, is_report=False)
    assert predict_program(program)[0] == pytest.approx(chosen, rel=0.01)


CASES = {
    "blocks of batches": ((3, 41, 13), 37, False, "64-8k-recurrent"),
    "blocks of rows": ((41, 3, 13), 37, True, "64-8k-recurrent"),
    "blocks of steps": ((1, 300, 28), 40, False, "64-8k-recurrent"),
    "parts of a step": ((3, 50, 16), 20, True, "64-8k-recurrent"),
    "several lists": ((2, 400, 20), 33, False, "64-recurrent"),
    "many inputs": ((1, 2, 2040), 100, False, "128-recurrent"),
    "weights that stay": ((1, 530, 5), 3, False, "256-blocks-resident-recurrent"),
}


@pytest.mark.parametrize("case", by_day(*CASES))
def test_what_does_not_fit_at_once(case: str) -> None:
    shape, units, is_time_major, config = CASES[case]
    model = lstm(shape, units, is_time_major=is_time_major)
    sessions = [
        Session(Program.from_bytes(compile_model(model, name).to_bytes()))
        for name in ("baseline", config)
    ]
    stages = compile_stages(model, config)
    assert engine_refusals(stages) == {}
    rng = np.random.default_rng(1)
    for _ in range(INFERENCES):
        x = rng.integers(-128, 128, shape).astype(np.int8)
        (expected,), (got,) = (session.run([x]) for session in sessions)
        assert np.array_equal(got, expected)


def test_lists_overlap_loads_with_steps() -> None:
    (found,) = compile_stages(lstm((1, 120, 28), 40), "64-8k-recurrent").lists
    blocks = [n for n, (a, b) in enumerate(itertools.pairwise(found.jobs)) if a.kind == b.kind]
    assert len(blocks) > 2
    loads = [item.transfer for item in found.transfers if not item.transfer.is_store]
    # That of a block waits for no step of the block before it.
    for number, load in enumerate(loads[3:]):
        assert load.wait_jobs <= blocks[number] + 1


@pytest.mark.parametrize(
    ("shape", "units", "why"),
    [
        ((1, 3, 28), 700, "needs more than the 8,192 bytes of the scratchpad for one step"),
        ((1, 3, 2049), 4, "has 2,049 inputs or units; the engine takes up to 2,048"),
        ((1, 2, 8), 2049, "has 2,049 inputs or units; the engine takes up to 2,048"),
        ((1, 9000, 8), 4, "takes 18,001 jobs, too many for a list"),
    ],
)
def test_what_is_left_to_the_cpu(shape: tuple[int, int, int], units: int, why: str) -> None:
    stages = compile_stages(lstm(shape, units), "64-8k-recurrent")
    (reason,) = engine_refusals(stages).values()
    assert reason == f"it {why}"


def test_engines_without_steps_of_lstms_say_so() -> None:
    stages = compile_stages(lstm((1, 3, 8), 4), "64-int16")
    why = "it takes RECURRENT jobs, which 64-int16 has not; engines with -recurrent have them"
    assert engine_refusals(stages) == {0: why}

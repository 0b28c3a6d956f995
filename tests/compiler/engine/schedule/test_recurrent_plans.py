"""Lists of LSTMs: which jobs and transfers they have, and that they do as the CPU does."""

import itertools
import random
from typing import Any

import numpy as np
import pytest

from kiwicha.compiler import compile_model, compile_stages
from kiwicha.compiler.engine.cost.cycles import predict_program
from kiwicha.compiler.reasons import engine_refusals
from kiwicha.contract.engine import JobFlag, JobKind, SumFlag
from kiwicha.contract.program import Kernel
from kiwicha.program.image import Program
from kiwicha.sim.reference.executor import Session
from tests.support.choices import by_day
from tests.support.models.recurrent import RecurrentModel

INFERENCES = 3


def lstm(
    shape: tuple[int, int, int], units: int, *, is_time_major: bool = False, kind: Any = np.int8
) -> bytes:
    model = RecurrentModel(random.Random(f"{shape}{units}"))
    scale, zero_point = (0.0001, 0) if kind is np.int16 else (0.02, 3)
    source = model.tensor(shape, kind, scale=scale, zero_point=zero_point)
    output = model.lstm(source, units=units, is_time_major=is_time_major, kind=kind)
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


@pytest.mark.parametrize(("inputs", "units"), [(12, 9), (3, 5)], ids=["pixels", "rows"])
def test_a_step_of_int16_has_a_series_for_its_product(inputs: int, units: int) -> None:
    """Of lower and of upper bytes, which the step before has written as planes."""
    steps, batches = 7, 3
    stages = compile_stages(lstm((batches, steps, inputs), units, kind=np.int16), "64-recurrent")
    (found,) = stages.lists
    assert [step.kernel for step in stages.program.steps] == [Kernel.ENGINE]
    (operation,) = found.region.operations
    # What inputs add to the gates is no step and no tensor of its own.
    assert operation.positions == (0, 1)
    jobs = [job for job in found.jobs if job.kind != JobKind.MOVE]
    series, step = [JobKind.CONV, JobKind.CONV], JobKind.RECURRENT
    assert [JobKind(job.kind) for job in jobs] == batches * [*series, *steps * [*series, step]]
    lowers, uppers = (found.weighted_jobs[first::2] for first in range(2))
    assert all(job.flags & JobFlag.LOWER and job.sums == SumFlag.KEEP for job in lowers)
    assert all(job.sums == SumFlag.CONTINUE | SumFlag.SHIFTED for job in uppers)
    assert all(job.flags & JobFlag.SHORT for job in uppers)
    assert all(job.flags == JobFlag.SHORT for job in jobs if job.kind == step)
    # Two products with two streams each, and what the steps of a batch share.
    assert len({job.weights_offset for job in found.weighted_jobs}) == 4
    # States are brought and joined once.
    moves = [job.kind == JobKind.MOVE for job in found.jobs]
    assert moves[0]
    assert moves[-1]
    stored = [item.transfer for item in found.transfers if item.transfer.is_store]
    sizes = sum(transfer.moved_bytes for transfer in stored)
    assert sizes == 2 * batches * steps * units + (2 + 2) * batches * units


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
@pytest.mark.parametrize("kind", [np.int8, np.int16])
def test_what_does_not_fit_at_once(case: str, kind: Any) -> None:
    shape, units, is_time_major, config = CASES[case]
    model = lstm(shape, units, is_time_major=is_time_major, kind=kind)
    sessions = [
        Session(Program.from_bytes(compile_model(model, name).to_bytes()))
        for name in ("baseline", config)
    ]
    stages = compile_stages(model, config)
    assert engine_refusals(stages) == {}
    rng = np.random.default_rng(1)
    limits = np.iinfo(kind)
    for _ in range(INFERENCES):
        x = rng.integers(limits.min, limits.max + 1, shape).astype(kind)
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


def inexact_products(model: RecurrentModel, inputs: tuple[int, ...]) -> None:
    """Let scales of what the hidden state adds be small and odd."""
    for tensor in inputs[5:9]:
        model.tensors[tensor].scales = (3.1e-6,)


def large_biases(model: RecurrentModel, inputs: tuple[int, ...]) -> None:
    """Let biases of a gate have more than 32 bits."""
    tensor = model.tensors[inputs[12]]
    tensor.data = np.full(tensor.shape, 2**31, np.int64).tobytes()


ODD_SCALE = "has a scale with bits of less than 2**-31"


@pytest.mark.parametrize(
    ("change", "hidden", "reasons"),
    [
        (inexact_products, None, {1: ODD_SCALE}),
        (None, (2.0**-29, 0), {1: "scales its hidden state by 2**0"}),
        (large_biases, None, dict.fromkeys(range(2), "has sums of int16 that may be as large as")),
    ],
    ids=["scale", "hidden state", "sums"],
)
def test_steps_of_int16_that_would_not_be_exact_are_the_cpus(
    change: Any, hidden: tuple[float, int] | None, reasons: dict[int, str]
) -> None:
    """What inputs add to the gates stays on the engine where that is exact."""
    model = RecurrentModel(random.Random("exact"))
    source = model.tensor((1, 5, 12), np.int16, scale=0.0001, zero_point=0)
    kind: dict[str, Any] = {"is_time_major": False, "kind": np.int16}
    output = model.lstm(source, units=9, hidden=hidden, **kind)
    if change is not None:
        change(model, model.operators[-1].inputs)
    file = model.build([source], [output])
    stages = compile_stages(file, "64-recurrent")
    found = engine_refusals(stages)
    assert [*found] == [*reasons]
    assert all(found[position].startswith(f"it {why}") for position, why in reasons.items())
    on_engine = Kernel.ENGINE in {step.kernel for step in stages.program.steps}
    assert on_engine == (0 not in reasons)
    sessions = [Session(compile_model(file, "baseline")), Session(stages.program)]
    x = np.random.default_rng(1).integers(-(2**15), 2**15, (1, 5, 12)).astype(np.int16)
    (expected,), (got,) = (session.run([x]) for session in sessions)
    assert np.array_equal(got, expected)


def test_engines_without_steps_of_lstms_say_so() -> None:
    stages = compile_stages(lstm((1, 3, 8), 4), "64-int16")
    why = "it takes RECURRENT jobs, which 64-int16 has not; engines with -recurrent have them"
    assert engine_refusals(stages) == {0: why}
    stages = compile_stages(lstm((1, 3, 8), 4, kind=np.int16), "64-int16")
    assert engine_refusals(stages) == {1: why}

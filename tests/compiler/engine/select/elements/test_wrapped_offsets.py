"""The zero point of an SVDF's state, which is added without a clamp, and the window of its time."""

import random

import numpy as np
import pytest

from kiwicha.compiler.driver import compile_stages
from kiwicha.contract.engine import JobKind
from kiwicha.program.image import Program
from kiwicha.sim.reference.executor import Session
from tests.support.models.recurrent import RecurrentModel
from tests.support.oracle.on_engine import job_kinds
from tests.support.oracle.sequences import ask_in_a_row


def svdf(seed: int, *, units: int, rank: int = 1, steps: int = 8) -> bytes:
    """Give an SVDF whose state has a zero point, mostly."""
    model = RecurrentModel(random.Random(seed))
    x = model.tensor((2, 24), scale=0.05, zero_point=-3)
    y = model.svdf(x, units=units, rank=rank, steps=steps, has_shorts=False)
    return model.build([x], [y])


@pytest.mark.parametrize("config", ["64", "256"])
@pytest.mark.parametrize(
    ("units", "rank", "steps"), [(16, 1, 8), (64, 1, 32), (8, 2, 12), (8, 1, 11), (8, 1, 2)]
)
def test_equals_the_interpreter(config: str, units: int, rank: int, steps: int) -> None:
    rng = np.random.default_rng(0)
    for seed in range(2):
        model = svdf(seed, units=units, rank=rank, steps=steps)
        inputs = [(rng.integers(-128, 128, (2, 24)).astype(np.int8),) for _ in range(steps + 3)]
        (answers,) = ask_in_a_row([(model, inputs)])
        stages = compile_stages(model, config)
        assert JobKind.TABLE not in job_kinds(stages)
        kept = Session(Program.from_bytes(stages.program.to_bytes()))
        for one, answer in zip(inputs, answers, strict=True):
            np.testing.assert_array_equal(kept.run(one)[0], answer[0])


def test_other_channels_take_a_table() -> None:
    kinds = [job_kinds(compile_stages(svdf(seed, units=12), "64")) for seed in range(5)]
    assert sum(JobKind.TABLE in found for found in kinds) > 1

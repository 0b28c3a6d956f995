"""Gathered jobs in the reference: which descriptors are refused."""

import re
from typing import Any

import pytest

from kiwicha.compiler import compile_model
from kiwicha.contract.engine import EngineJob, JobFlag
from kiwicha.errors import ProgramError
from kiwicha.program.image import Program
from kiwicha.sim.reference import executor as reference
from tests.sim.reference.test_engine_errors import changed, lists
from tests.support.models.convolution_sweep import Combination, case

CASE = case(Combination("CONV_2D", 3, 8, (3, 3), 1, 1, "VALID", "int8", "NONE"))


@pytest.fixture(scope="module")
def program() -> Program:
    return compile_model(CASE.model, "64")


def test_words_follow_each_other(program: Program) -> None:
    (job,) = lists(program)[0]
    assert job.flags & JobFlag.GATHERED
    assert (job.segments, job.segment_words, job.row_words, job.group_words) == (1, 1, 1, 4)
    assert job.segment_step == 16 - 9


@pytest.mark.parametrize("config", ["32", "256"])
def test_others_have_none(config: str) -> None:
    (job,) = lists(compile_model(CASE.model, config))[0]
    assert not job.flags & JobFlag.GATHERED


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"segment_step": 0}, "kernel rows of a gathered job must begin in lanes 0 to 4"),
        ({"segment_step": 8}, "kernel rows of a gathered job must begin in lanes 0 to 4"),
        ({"segment_step": 3}, "kernel rows of a gathered job must begin in lanes 0 to 4"),
        ({"segment_words": 0, "row_words": 0}, "kernel rows of a gathered job must begin in"),
        ({"kernel_rows": 6}, "kernel rows of a gathered job must begin in lanes 0 to 4"),
        ({"kernel_rows": 2}, "a group must have all words of its kernel rows"),
        ({"segment_words": 2, "row_words": 2}, "a group must have all words"),
    ],
)
def test_refuses_jobs(program: Program, changes: dict[str, Any], message: str) -> None:
    reference.run(program, CASE.inputs)
    with pytest.raises(ProgramError, match=re.escape(message)):
        reference.run(changed(program, EngineJob, 0, **changes), CASE.inputs)

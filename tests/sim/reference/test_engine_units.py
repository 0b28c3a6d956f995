"""Jobs of array and depthwise unit that do not wait as they must are refused."""

import dataclasses
import functools
import re
from collections.abc import Callable

import pytest

from kiwicha.compiler import compile_stages
from kiwicha.contract.engine import EngineCall, EngineJob, JobKind
from kiwicha.contract.moves import AnyJob
from kiwicha.errors import ProgramError
from kiwicha.program.engine_list import read_list
from kiwicha.program.image import Program
from kiwicha.sim.reference import executor as reference
from tests.support.models import random_networks
from tests.support.oracle.oracle import Case

SEED = 13


@functools.cache
def subject() -> tuple[Program, Case]:
    case = random_networks.depthwise_pairs(SEED, pairs=3, size=12)
    return compile_stages(case.model, "64-depthwise").program, case


def changed(change: Callable[[int, AnyJob], AnyJob]) -> Program:
    """Return the Program with changed jobs in its first list."""
    program, _ = subject()
    call = program.steps[0].params
    assert isinstance(call, EngineCall)
    start = call.image.offset
    image = program.constants[start:][: call.image.bytes]
    jobs = read_list(call, image).jobs
    packed = b"".join(change(number, job).pack() for number, job in enumerate(jobs))
    constants = bytearray(program.constants)
    constants[start : start + len(packed)] = packed
    return dataclasses.replace(program, constants=bytes(constants))


def jobs() -> tuple[AnyJob, ...]:
    program, _ = subject()
    call = program.steps[0].params
    assert isinstance(call, EngineCall)
    return read_list(call, program.constants[call.image.offset :][: call.image.bytes]).jobs


def following() -> int:
    """Return the number of a job of the unit that follows one of the array, in several groups."""
    return next(
        number
        for number, job in enumerate(jobs())
        if isinstance(job, EngineJob)
        and job.kind == JobKind.DEPTHWISE_UNIT
        and job.wait_row_step
        and job.groups > 1
    )


def paced() -> int:
    """Return the number of a job of the array that follows one of the unit row by row."""
    return next(
        number
        for number, job in enumerate(jobs())
        if isinstance(job, EngineJob) and job.kind == JobKind.CONV and job.wait_row_step
    )


def test_what_the_compiler_makes_is_right() -> None:
    program, case = subject()
    reference.run(program, case.inputs)


@pytest.mark.parametrize(
    ("which", "fields"),
    [
        (following, {"wait_rows": -1}),
        (following, {"wait_row_step": -1}),
        (following, {"waits_in_pairs": 1}),
        (paced, {"wait_rows": -1}),
        (paced, {"wait_row_step": -1}),
    ],
)
def test_jobs_that_wait_too_little(which: Callable[[], int], fields: dict[str, int]) -> None:
    chosen = which()

    def change(number: int, job: AnyJob) -> AnyJob:
        if number != chosen:
            return job
        return dataclasses.replace(
            job, **{name: getattr(job, name) + more for name, more in fields.items()}
        )

    _, case = subject()
    text = re.compile(
        r"must not read what job \d+ writes later|must wait for rows that it reads of the unit|"
        r"must not run at the same time"
    )
    with pytest.raises(ProgramError, match=text):
        reference.run(changed(change), case.inputs)


def test_a_list_that_waits_for_itself() -> None:
    """The job of the unit waits for more rows than there are before the next one's."""
    chosen = following()

    def change(number: int, job: AnyJob) -> AnyJob:
        rows = job.wait_rows + 5_000
        return dataclasses.replace(job, wait_rows=rows) if number == chosen else job

    _, case = subject()
    with pytest.raises(ProgramError, match="must not wait for each other"):
        reference.run(changed(change), case.inputs)

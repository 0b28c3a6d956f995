"""Words that the engine of the reference keeps, and what it refuses of jobs that have them."""

import dataclasses
import re

import numpy as np
import pytest
from numpy.typing import NDArray

from kiwicha.compiler import compile_model
from kiwicha.contract.engine import EngineCall, EngineJob, JobFlag
from kiwicha.errors import ProgramError
from kiwicha.program.engine_list import read_list
from kiwicha.program.image import Program
from kiwicha.sim.reference.engine_jobs import check_kind, execute_job
from kiwicha.sim.reference.executor import Session
from kiwicha.sim.reference.kept_weights import KeptWeights
from kiwicha.sim.reference.scratchpad import Scratchpad
from tests.support.models import random_networks

MACS = 64


def words(count: int, seed: int = 1) -> NDArray[np.int8]:
    return np.random.default_rng(seed).integers(-128, 128, (count, 64)).astype(np.int8)


def test_words_are_kept_until_others_come() -> None:
    kept = KeptWeights(512)
    first, second = words(20), words(5, seed=2)
    kept.write(500, first)
    np.testing.assert_array_equal(kept.read(500, 20, 64), first)
    # A ring: the words behind 511 are at its start.
    np.testing.assert_array_equal(kept.read(0, 8, 64), first[12:])
    kept.write(505, second)
    np.testing.assert_array_equal(kept.read(504, 7, 64), [first[4], *second, first[10]])


def test_words_that_nobody_has_stored_are_refused() -> None:
    kept = KeptWeights(512)
    kept.write(10, words(3))
    for first, count, size in ((9, 2, 64), (10, 4, 64), (10, 3, 128)):
        with pytest.raises(ProgramError, match=r"^weights must be loaded before a job"):
            kept.read(first, count, size)


def loading_job(program: Program) -> tuple[EngineJob, bytes]:
    """Give the first job that loads weights, and its stream."""
    (call,) = (step.params for step in program.steps)
    assert isinstance(call, EngineCall)
    image = program.constants[call.image.offset :][: call.image.bytes]
    for job in read_list(call, image).jobs:
        if isinstance(job, EngineJob) and job.flags & JobFlag.LOADS:
            return job, image[job.weights_offset :][: job.weights_bytes]
    raise AssertionError("no job loads weights")


def test_only_engines_that_keep_weights_have_such_jobs() -> None:
    program = compile_model(random_networks.engine_network(6).model, "64-blocks-resident")
    job, stream = loading_job(program)
    scratchpad = Scratchpad(65536)
    scratchpad.is_written[:] = True
    execute_job(job, stream, MACS, scratchpad, has_blocks=True, kept=KeptWeights(512))
    for nothing in (None, KeptWeights()):
        with pytest.raises(ProgramError, match=r"^only convolutions of engines that keep weights"):
            execute_job(job, stream, MACS, scratchpad, has_blocks=True, kept=nothing)


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (JobFlag.LOADS, "a job must hold weights that it loads, and code no others"),
        (JobFlag.HELD | JobFlag.CODED, "a job must hold weights that it loads, and code no others"),
        (JobFlag(0), "sums must be known, and what is reserved 0"),
    ],
)
def test_other_flags_are_refused(flags: JobFlag, message: str) -> None:
    program = compile_model(random_networks.engine_network(6).model, "64-blocks-resident")
    job = dataclasses.replace(loading_job(program)[0], resident_word=1)
    check_kind(job)
    with pytest.raises(ProgramError, match=f"^{re.escape(message)}"):
        check_kind(dataclasses.replace(job, flags=flags))


def test_a_list_says_whether_it_keeps_weights() -> None:
    program = compile_model(random_networks.engine_network(6).model, "64-blocks-resident")
    (step,) = program.steps
    call = dataclasses.replace(step.params, is_resident=2)
    broken = dataclasses.replace(program, steps=(dataclasses.replace(step, params=call),))
    with pytest.raises(ProgramError, match=r"a list must keep weights \(1\) or not \(0\), not 2"):
        Session(broken).run([bytes(tensor.ref.bytes) for tensor in program.inputs])

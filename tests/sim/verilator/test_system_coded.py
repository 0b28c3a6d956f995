"""Coded weights on the simulated system: the same bytes, and an error if a stream is spoilt."""

import dataclasses

import pytest

from kiwicha.compiler import compile_model
from kiwicha.contract.engine import JobFlag
from kiwicha.contract.program import Kernel
from kiwicha.errors import SimulationError
from kiwicha.program.engine_list import read_list
from kiwicha.program.image import Program
from kiwicha.sim.verilator.program_run import run_program

pytestmark = pytest.mark.verilator

MODEL = "mlperf_kws_ref_model"


def coded_jobs(program: Program) -> list[tuple[int, int, int]]:
    """Give number, place and size of the coded streams of the jobs of a Program's only list."""
    (step,) = (step for step in program.steps if step.kernel is Kernel.ENGINE)
    first = step.params.image.offset
    jobs = read_list(step.params, program.constants[first:]).jobs
    return [
        (number, first + job.weights_offset, job.weights_bytes)
        for number, job in enumerate(jobs)
        if job.flags & JobFlag.CODED
    ]


def test_a_program_of_small_size_runs(zoo_model, golden_cases) -> None:
    program = compile_model(zoo_model(MODEL), "64", optimize="size")
    assert len(coded_jobs(program)) > 5
    golden = golden_cases(MODEL)[0]
    assert run_program(program, [golden.input]).outputs == (golden.output,)


def test_a_spoilt_stream_is_reported(zoo_model, golden_cases) -> None:
    program = compile_model(zoo_model(MODEL), "64", optimize="size")
    number, first, size = coded_jobs(program)[3]
    constants = bytearray(program.constants)
    constants[first + size // 2] ^= 1
    bad = dataclasses.replace(program, constants=bytes(constants))
    with pytest.raises(SimulationError, match=rf"ENGINE in step 0, BAD_STREAM at job {number}\b"):
        run_program(bad, [golden_cases(MODEL)[0].input])

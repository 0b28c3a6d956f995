"""Reference engine: what it refuses, by one change of a list that is right."""

import dataclasses
import re
from typing import Any

import numpy as np
import pytest

from kiwicha.compiler import compile_model, driver
from kiwicha.contract.engine import (
    COMPUTE_KINDS,
    MAX_JOBS,
    EngineCall,
    EngineJob,
    EngineTransfer,
    JobFlag,
    JobKind,
)
from kiwicha.contract.layout import Struct
from kiwicha.contract.program import Kernel
from kiwicha.errors import ProgramError
from kiwicha.kernels.registry import KERNEL_PARAMS
from kiwicha.program.image import Program
from kiwicha.sim.reference import executor as reference
from tests.support.models import random_networks
from tests.support.oracle.oracle import Case

STORE = 1 << 31
_SQUARE = int(JobFlag.SQUARE | JobFlag.WIDE)


@pytest.fixture(scope="module", params=["32", "64", "128"])
def subject(request: pytest.FixtureRequest) -> tuple[Program, Case]:
    """Give a program whose first list has all kinds of jobs but MAX, CONV first, and its inputs."""
    with pytest.MonkeyPatch.context() as patch:
        # Streams that are not coded: what is wrong with a descriptor must not look like theirs.
        patch.setattr(driver, "code_weights", lambda engine_list, *rest: engine_list)
        return _subject(request.param)


def _subject(config: str) -> tuple[Program, Case]:
    for seed in range(200):
        case = random_networks.engine_network(seed)
        program = compile_model(case.model, config, has_tables=True)
        kinds = [JobKind(job.kind) for job in lists(program)[0]]
        if (
            set(kinds) >= COMPUTE_KINDS - {JobKind.MAX, JobKind.SOFTMAX, JobKind.DEPTHWISE_UNIT}
            and kinds[0] is JobKind.CONV
        ):
            return program, case
    raise AssertionError("no model has all kinds of jobs")


def _pools(config: str) -> tuple[Program, Case]:
    """Give a program whose first list has a job MAX, and its inputs."""
    for seed in range(20):
        case = random_networks.pools(seed)
        program = compile_model(case.model, config)
        if any(job.kind == JobKind.MAX for job in lists(program)[0]):
            return program, case
    raise AssertionError("no model has a job MAX")


def lists(program: Program) -> tuple[list[EngineJob], list[EngineTransfer]]:
    step = next(step for step in program.steps if step.kernel is Kernel.ENGINE)
    params: Any = step.params
    image = program.constants[params.image.offset :]
    jobs = [EngineJob.unpack(image[EngineJob.size_bytes() * k :]) for k in range(params.job_count)]
    rest = image[EngineJob.size_bytes() * params.job_count :]
    return jobs, [EngineTransfer.unpack(rest[16 * k :]) for k in range(params.transfer_count)]


def changed(program: Program, kind: type[Struct], number: int, /, **changes: Any) -> Program:
    """Give a program with one descriptor of its first list changed."""
    index = next(k for k, step in enumerate(program.steps) if step.kernel is Kernel.ENGINE)
    params: Any = program.steps[index].params
    if kind is EngineCall:
        steps = list(program.steps)
        new = dataclasses.replace(params, **changes)
        steps[index] = dataclasses.replace(steps[index], params=new)
        return dataclasses.replace(program, steps=tuple(steps))
    start = params.image.offset + kind.size_bytes() * number
    if kind is EngineTransfer:
        start += EngineJob.size_bytes() * params.job_count
    record = kind.unpack(program.constants[start:])
    values = {k: v(getattr(record, k)) if callable(v) else v for k, v in changes.items()}
    constants = bytearray(program.constants)
    constants[start : start + kind.size_bytes()] = dataclasses.replace(record, **values).pack()
    return dataclasses.replace(program, constants=bytes(constants))


def error_of(program: Program, inputs: Any) -> str:
    """Give the text of the refusal, or nothing."""
    try:
        reference.run(program, inputs)
    except ProgramError as error:
        return str(error)
    return ""


def first_of(program: Program, kind: JobKind) -> int:
    return next(k for k, job in enumerate(lists(program)[0]) if job.kind == kind)


@pytest.mark.parametrize(
    ("kind", "changes", "message"),
    [
        (JobKind.CONV, {"kind": 12}, "kind and flags must be known"),
        (JobKind.CONV, {"flags": JobFlag.CODED}, "the check sum of a coded stream must be 0"),
        (JobKind.CONV, {"interval": 0}, "interval must be"),
        (JobKind.ADD, {"interval": 1}, "interval must be 2 to 8, not 1"),
        (JobKind.ADD, {"flags": JobFlag.SQUARE, "interval": 3}, "squares must be wide, 3 cycles"),
        (JobKind.ADD, {"flags": _SQUARE}, "squares must be wide, 3 cycles apart, not 2 and 0x801"),
        (JobKind.ADD, {"flags": _SQUARE, "interval": 3}, "are squared must have 16 bits"),
        (JobKind.CONV, {"flags": _SQUARE}, "kind and flags must be known"),
        (JobKind.CONV, {"group_words": 257}, "a group must have 1 to 256 words, not 257"),
        (JobKind.CONV, {"groups": 0}, "a group must have 1 to 256 words"),
        (JobKind.CONV, {"output_address": lambda v: v + 4}, "output must be aligned to 8 bytes"),
        (JobKind.CONV, {"output_address": 1 << 16}, "must lie in a scratchpad of 65536"),
        (JobKind.CONV, {"first_address": -4096}, "must lie in a scratchpad of 65536"),
        (JobKind.CONV, {"row_words": 0}, "row_words must be"),
        (JobKind.CONV, {"weights_bytes": lambda v: v + 16}, "a stream must have"),
        (JobKind.CONV, {"weights_offset": 8}, "weights must be aligned"),
        (JobKind.CONV, {"weights_offset": 1 << 30}, "weights must be aligned and inside"),
        (JobKind.DEPTHWISE, {"first_phase": lambda v: v + 9}, "first_phase and first_index"),
        (JobKind.DEPTHWISE, {"group_words": 200}, "a stream must have"),
        (JobKind.ADD, {"group_words": 1}, "group_words must be the size of the tables, not 1"),
        (JobKind.CONV, {"flags": lambda v: v | JobFlag.CHANNELS}, "kind and flags must be known"),
        (JobKind.CONV, {"flags": lambda v: v | JobFlag.LOWER}, "kind and flags must be known"),
        (JobKind.CONV, {"sums": 4}, "sums must be known, and what is reserved 0"),
        (JobKind.ADD, {"sums": 4}, "sums must be known, and what is reserved 0"),
        (JobKind.CONV, {"reserved_1": 1}, "sums must be known, and what is reserved 0"),
        (JobKind.CONV, {"resident_word": 1}, "sums must be known, and what is reserved 0"),
        (JobKind.CONV, {"sums": 2}, "sums must not continue 0"),
        (JobKind.CONV, {"output_row_step": 1 << 16}, "must lie in a scratchpad of 65536"),
        (JobKind.MAX, {"segment_words": 2}, "a segment of maxima must be one word"),
        (JobKind.MAX, {"row_words": lambda v: v + 1}, "a segment of maxima must be one word"),
        (JobKind.MAX, {"input_zero_point": -127}, "the zero point -128, not"),
        (JobKind.MAX, {"flags": 0}, "maxima must have ONES"),
        (JobKind.MAX, {"weight_zero_point": 1}, "the first weight word"),
        (JobKind.CONV, {"gives_positions": 1}, "only jobs of maxima must give positions"),
        (JobKind.MAX, {"gives_positions": 2}, "only jobs of maxima must give positions"),
        (
            JobKind.MAX,
            {"gives_positions": 1, "first_row": -1},
            "windows with positions must have up to 256 bytes, in rows of the input",
        ),
    ],
)
def test_refuses_jobs(
    subject: tuple[Program, Case], kind: JobKind, changes: dict[str, Any], message: str
) -> None:
    program, case = _pools(subject[0].config.name) if kind is JobKind.MAX else subject
    reference.run(program, case.inputs)
    bad = changed(program, EngineJob, first_of(program, kind), **changes)
    with pytest.raises(ProgramError, match=re.escape(message)):
        reference.run(bad, case.inputs)


@pytest.mark.parametrize("change", ["shorter", "longer", "bit"])
@pytest.mark.parametrize("config", ["32", "64", "128"])
def test_refuses_spoilt_streams(config: str, change: str) -> None:
    program, case, number = _coded(config)
    jobs, _ = lists(program)
    if change == "bit":
        step = next(step for step in program.steps if step.kernel is Kernel.ENGINE)
        constants = bytearray(program.constants)
        constants[step.params.image.offset + jobs[number].weights_offset + 70] ^= 4
        bad = dataclasses.replace(program, constants=bytes(constants))
    else:
        size = jobs[number].weights_bytes + (16 if change == "longer" else -16)
        bad = changed(program, EngineJob, number, weights_bytes=size)
    assert not error_of(program, case.inputs)
    message = (
        r"the check sum of a coded stream must be 0|a coded stream must not end before"
        r"|a coded stream must end with its last weight"
    )
    assert re.search(message, error_of(bad, case.inputs))


def _coded(config: str) -> tuple[Program, Case, int]:
    """Give a program with a coded job, its inputs and the number of the job, not the last one."""
    for seed in range(200):
        case = random_networks.engine_network(seed)
        program = compile_model(case.model, config, optimize="size")
        jobs, _ = lists(program)
        for number, job in enumerate(jobs[:-1]):
            if job.flags & JobFlag.CODED and job.weights_offset < jobs[-1].weights_offset:
                return program, case, number
    raise AssertionError("no model has a coded job")


def test_refuses_to_write_what_is_read(subject: tuple[Program, Case]) -> None:
    program, case = subject
    jobs, _ = lists(program)
    number = next(k for k, job in enumerate(jobs) if job.kind in {JobKind.CONV, JobKind.DEPTHWISE})
    where = max(jobs[number].first_address, 0) // 8 * 8
    bad = changed(program, EngineJob, number, output_address=where)
    with pytest.raises(ProgramError, match=r"a job must not write what it reads|same time"):
        reference.run(bad, case.inputs)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"scratchpad_address": 8}, "a transfer must be aligned"),
        ({"scratchpad_address": 1 << 16}, "inside the scratchpad"),
        ({"bytes": 0}, "a transfer must be aligned and inside the scratchpad"),
        ({"flags": 4}, "a transfer must be aligned and inside the scratchpad"),
        ({"dram_offset": 1 << 24}, "must lie inside the"),
        ({"dram_offset": STORE + (1 << 24)}, "a transfer must lie inside its image"),
        ({"wait_jobs": 1}, "must not wait for each other"),
    ],
)
def test_refuses_loads(
    subject: tuple[Program, Case], changes: dict[str, Any], message: str
) -> None:
    program, case = subject
    with pytest.raises(ProgramError, match=re.escape(message)):
        reference.run(changed(program, EngineTransfer, 0, **changes), case.inputs)


def test_refuses_an_order_left_to_chance(subject: tuple[Program, Case]) -> None:
    program, case = subject
    jobs, transfers = lists(program)
    assert jobs[0].wait_transfers == 1
    with pytest.raises(ProgramError, match="job 0 and transfer 0 must not run at the same time"):
        reference.run(changed(program, EngineJob, 0, wait_transfers=0), case.inputs)
    store = next(k for k, item in enumerate(transfers) if item.bytes & STORE)
    with pytest.raises(ProgramError, match="must not run at the same time"):
        reference.run(changed(program, EngineTransfer, store, wait_jobs=0), case.inputs)


def test_refuses_to_read_what_nobody_wrote(subject: tuple[Program, Case]) -> None:
    program, case = subject
    _, transfers = lists(program)
    assert transfers[0].bytes > 16
    with pytest.raises(ProgramError, match=r"byte \d+ must be written before it is read"):
        reference.run(changed(program, EngineTransfer, 0, bytes=1), case.inputs)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"job_count": 0}, f"a list must have 1 to {MAX_JOBS} jobs, not 0"),
        ({"job_count": MAX_JOBS + 1}, f"a list must have 1 to {MAX_JOBS} jobs"),
        ({"transfer_count": 1 << 20}, "must hold its list"),
        ({"scratchpad_bytes": 64}, "scratchpad"),
        ({"goes_on": 1}, "a list that goes on must come behind one with the same bytes"),
        ({"goes_on": 2}, r"a list must go on \(1\) or not \(0\), not 2"),
    ],
)
def test_refuses_lists(
    subject: tuple[Program, Case], changes: dict[str, int], message: str
) -> None:
    program, case = subject
    with pytest.raises(ProgramError, match=message):
        reference.run(changed(program, EngineCall, 0, **changes), case.inputs)


@pytest.mark.slow
def test_narrow_jobs_must_be_narrow() -> None:
    """Take the flag of the wide mode away where it is needed."""
    refused = 0
    for seed in range(40):
        case = random_networks.engine_network(seed)
        program = compile_model(case.model, "64", has_tables=True)
        for number, job in enumerate(lists(program)[0]):
            if job.flags & JobFlag.WIDE:
                bad = changed(program, EngineJob, number, flags=job.flags & ~JobFlag.WIDE)
                refused += "a narrow job must have 25 bits" in error_of(bad, case.inputs)
    assert refused


def test_trace_shows_what_reaches_the_arena(subject: tuple[Program, Case]) -> None:
    program, case = subject
    written = reference.trace(program, case.inputs)
    _, transfers = lists(program)
    sizes = [item.bytes & ~STORE for item in transfers if item.bytes & STORE]
    index = next(k for k, step in enumerate(program.steps) if step.kernel is Kernel.ENGINE)
    assert written[index].dtype == np.int8
    assert written[index].size == sum(sizes)
    assert KERNEL_PARAMS[Kernel.ENGINE] is EngineCall

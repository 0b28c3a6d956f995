"""The reference's steps of LSTMs against their definition, and those that it refuses."""

import dataclasses

import numpy as np
import pytest

from kiwicha.contract.engine import EngineJob
from kiwicha.contract.recurrences import EngineRecurrence
from kiwicha.errors import ProgramError
from kiwicha.sim.reference.engine_recurrences import (
    check_recurrence,
    execute_recurrence,
    recurrence_reads,
    recurrence_writes,
)
from kiwicha.sim.reference.scratchpad import Scratchpad
from tests.gateware.engine.recurrence_jobs import Places, random_recurrence, recurrence_job

SIZE = 4096
AT = Places(input_sums=3, hidden_sums=1001, output=2006, hidden=2500, cell=3000)


def step_of(
    seed: int, *, is_short: bool = False
) -> tuple[np.ndarray, EngineRecurrence, Scratchpad]:
    """Return what memory must be behind a step, its job and the scratchpad before it."""
    rng = np.random.default_rng(seed)
    step = random_recurrence(rng, 40, is_short=is_short)
    scratchpad = Scratchpad(SIZE)
    scratchpad.bytes[:] = rng.integers(0, 256, SIZE)
    scratchpad.is_written[:] = True
    expected = scratchpad.bytes.copy()
    step.apply(expected, AT)
    return expected, recurrence_job(step, AT), scratchpad


def test_a_recurrence_is_as_long_as_a_job() -> None:
    assert EngineRecurrence.size_bytes() == EngineJob.size_bytes()
    shared = [name for name, _, _ in EngineRecurrence.layout()][:5]
    assert [name for name, _, _ in EngineJob.layout()][:5] == shared


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("is_short", [False, True], ids=["int8", "int16"])
def test_steps(seed: int, is_short: bool) -> None:
    expected, job, scratchpad = step_of(seed, is_short=is_short)
    check_recurrence(job, has_recurrent=True)
    before = scratchpad.bytes.copy()
    execute_recurrence(job, scratchpad)
    assert (scratchpad.bytes == expected).all()
    is_written = np.zeros(SIZE, np.bool_)
    for start, end in recurrence_writes(job):
        is_written[start:end] = True
    assert not (before != expected)[~is_written].any()


@pytest.mark.parametrize("is_short", [False, True], ids=["int8", "int16"])
def test_it_reads_no_other_bytes(is_short: bool) -> None:
    expected, job, scratchpad = step_of(0, is_short=is_short)
    is_read = np.zeros(SIZE, np.bool_)
    for start, end in recurrence_reads(job):
        is_read[start:end] = True
    scratchpad.bytes[~is_read] ^= 0xFF
    execute_recurrence(job, scratchpad)
    for start, end in recurrence_writes(job):
        assert (scratchpad.bytes[start:end] == expected[start:end]).all()


@pytest.mark.parametrize(
    "changes",
    [
        {"units": 0},
        {"lower_step": 1},
        {"cell": 3001},
        {"cell_shift": 16},
        {"hidden_shift": 0},
        {"hidden_shift": 32},
        {"hidden_multiplier": 2**30 - 1},
        {"cell_min": 5, "cell_max": 4},
        {"interval": 2},
        {"groups": 2},
    ],
    ids=", ".join,
)
def test_refuses_fields_out_of_range(changes: dict[str, int]) -> None:
    _, job, _ = step_of(1)
    with pytest.raises(ProgramError, match=r"^fields of a recurrence must be in their ranges"):
        check_recurrence(dataclasses.replace(job, **changes), has_recurrent=True)


def test_refuses_an_output_of_int16_at_an_odd_byte() -> None:
    _, job, _ = step_of(1, is_short=True)
    check_recurrence(job, has_recurrent=True)
    with pytest.raises(ProgramError, match=r"^fields of a recurrence must be in their ranges"):
        check_recurrence(dataclasses.replace(job, output=job.output + 1), has_recurrent=True)


@pytest.mark.parametrize(
    "name",
    [
        "flags",
        "wait_rows",
        "upper_step",
        "reserved_byte",
        "reserved_half",
        "reserved_2",
        "reserved",
    ],
)
def test_refuses_what_is_reserved(name: str) -> None:
    _, job, _ = step_of(1)
    value = (0,) * 7 + (1,) if name == "reserved" else 1
    with pytest.raises(ProgramError, match=r"^what is reserved in a recurrence must be 0"):
        check_recurrence(dataclasses.replace(job, **{name: value}), has_recurrent=True)


def test_is_for_engines_that_have_it() -> None:
    _, job, _ = step_of(1)
    with pytest.raises(ProgramError, match=r"^a job must not be RECURRENT on an engine without"):
        check_recurrence(job, has_recurrent=False)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"output": SIZE}, "a recurrence must stay in a scratchpad of 4096"),
        ({"input_sums": -1}, "a recurrence must stay in a scratchpad of 4096"),
        ({"output": 4}, "a recurrence must not write what it reads, or twice"),
        ({"hidden": 4}, "a recurrence must not write what it reads, or twice"),
        ({"hidden": 1002}, "a recurrence must not write what it reads, or twice"),
        ({"cell": 1002}, "a recurrence must not write what it reads, or twice"),
        ({"hidden": 2006}, "a recurrence must not write what it reads, or twice"),
        ({"hidden": 3000}, "a recurrence must not write what it reads, or twice"),
    ],
)
@pytest.mark.parametrize("is_short", [False, True], ids=["int8", "int16"])
def test_refuses_places(changes: dict[str, int], message: str, is_short: bool) -> None:
    _, job, scratchpad = step_of(1, is_short=is_short)
    with pytest.raises(ProgramError, match=f"^{message}"):
        execute_recurrence(dataclasses.replace(job, **changes), scratchpad)


def test_refuses_what_nothing_has_written() -> None:
    _, job, scratchpad = step_of(1)
    for start, end in recurrence_reads(job):
        for byte in (start, end - 1):
            scratchpad.is_written[byte] = False
            with pytest.raises(ProgramError, match=r"^what a recurrence reads must be written"):
                execute_recurrence(job, scratchpad)
            scratchpad.is_written[byte] = True


def test_a_step_may_be_of_one_unit_and_begin_at_the_first_byte() -> None:
    _, job, _ = step_of(1)
    check_recurrence(dataclasses.replace(job, units=1), has_recurrent=True)
    rng = np.random.default_rng(3)
    step, at = random_recurrence(rng, 20, is_short=False), dataclasses.replace(AT, input_sums=0)
    scratchpad = Scratchpad(SIZE)
    scratchpad.bytes[:] = rng.integers(0, 256, SIZE)
    scratchpad.is_written[:] = True
    expected = scratchpad.bytes.copy()
    step.apply(expected, at)
    execute_recurrence(recurrence_job(step, at), scratchpad)
    assert (scratchpad.bytes == expected).all()

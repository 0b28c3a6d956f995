"""The reference's jobs of int16 number by number against their definition, and what it refuses."""

import dataclasses

import numpy as np
import pytest

from kiwicha.contract.engine import EngineJob, JobFlag
from kiwicha.contract.short_elements import (
    EngineShortElements,
    ShortForm,
    ShortOperator,
    has_short_elements,
)
from kiwicha.errors import ProgramError
from kiwicha.numerics.short_elements import ElementScales
from kiwicha.sim.reference.engine_short_elements import (
    check_elements,
    elements_reads,
    elements_writes,
    execute_elements,
)
from kiwicha.sim.reference.scratchpad import Scratchpad
from tests.gateware.engine.short_element_jobs import Elements, elements_job, random_elements

SIZE = 1 << 15
AT = (3, 12001, 24000)
SAME_OFFSETS = {
    **{name: name for name in ("output_address", "output_zero_point", "wait_rows", "layer")},
    **{name: name for name in ("activation_min", "activation_max")},
    "input_2_address": "output_lower_step",
    "sums": "reserved_sums",
}
"""Fields of usual jobs that the data path reads of these, too."""


def job_of(seed: int) -> tuple[np.ndarray, EngineShortElements, Scratchpad]:
    """Return what memory must be behind a job, the job and the scratchpad before it."""
    rng = np.random.default_rng(seed)
    item = random_elements(rng)
    scratchpad = Scratchpad(SIZE)
    scratchpad.bytes[:] = rng.integers(0, 256, SIZE)
    scratchpad.is_written[:] = True
    expected = scratchpad.bytes.copy()
    item.apply(expected, AT)
    return expected, elements_job(item, AT), scratchpad


def addition(**changes: int) -> EngineShortElements:
    """Return an ADD in planes, of two rows of three pixels of 16 numbers."""
    scales = ElementScales((1 << 30, 0), (1 << 30, -1), (1 << 30, -14))
    one = (1, 1)
    form = ShortForm.PLANES
    item = Elements(ShortOperator.ADD, form, 2, 3, 2, one, one, (32, 32), False, scales)
    return dataclasses.replace(elements_job(item, AT), **changes)


def test_it_is_as_long_as_a_job_and_shares_fields() -> None:
    assert EngineShortElements.size_bytes() == EngineJob.size_bytes()
    usual, own = ({n: o for n, _, o in kind.layout()} for kind in (EngineJob, EngineShortElements))
    assert {name: usual[name] for name in SAME_OFFSETS} == {
        name: own[other] for name, other in SAME_OFFSETS.items()
    }


@pytest.mark.parametrize("seed", range(60))
def test_random_jobs(seed: int) -> None:
    expected, job, scratchpad = job_of(seed)
    check_elements(job, has_elements=True)
    before = scratchpad.bytes.copy()
    execute_elements(job, scratchpad)
    assert (scratchpad.bytes == expected).all()
    is_written = np.zeros(SIZE, np.bool_)
    for start, end in elements_writes(job):
        is_written[start:end] = True
    assert not (before != expected)[~is_written].any()


@pytest.mark.parametrize("seed", range(10))
def test_it_reads_no_other_bytes(seed: int) -> None:
    expected, job, scratchpad = job_of(seed)
    is_read = np.zeros(SIZE, np.bool_)
    for start, end in elements_reads(job):
        is_read[start:end] = True
    changed = scratchpad.bytes.copy()
    scratchpad.bytes[~is_read] ^= 0xFF
    execute_elements(job, scratchpad)
    is_same = scratchpad.bytes == expected
    is_kept = scratchpad.bytes == changed ^ 0xFF
    assert (is_same | is_kept).all()


@pytest.mark.parametrize(
    "changes",
    [
        {"operator": 7},
        {"form": 2},
        {"flags": JobFlag.SHORT},
        {"interval": 2},
        {"groups": 2},
        {"rows": 0},
        {"columns": 0},
        {"blocks": 0},
        {"kernel_rows": 0},
        {"output_address": 24004},
        {"output_column_step": 4},
        {"output_lower_step": 4},
        {"shift_1": 1},
        {"shift_2": -32},
        {"output_shift": 31},
        {"multiplier_1": -1},
        {"activation_min": 5, "activation_max": 4},
    ],
    ids=str,
)
def test_refuses_fields_out_of_range(changes: dict[str, int]) -> None:
    with pytest.raises(ProgramError, match=r"^fields of a job of int16 must be in their ranges"):
        check_elements(addition(**changes), has_elements=True)


@pytest.mark.parametrize(
    "name", ["reserved_byte", "reserved_sums", "wait_rows", "output_zero_point", "reserved_2"]
)
def test_refuses_what_is_reserved(name: str) -> None:
    with pytest.raises(ProgramError, match=r"^what is reserved in a job of int16 must be 0"):
        check_elements(addition(**{name: 1}), has_elements=True)


def test_is_for_engines_that_have_it() -> None:
    assert [has_short_elements(macs, has_int16=True) for macs in (32, 64, 256)] == [0, 1, 1]
    assert not has_short_elements(64, has_int16=False)
    with pytest.raises(ProgramError, match=r"^a job must not be SHORT_ELEMENTS on an engine with"):
        check_elements(addition(), has_elements=False)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"output_address": SIZE - 8}, "a job of int16 must stay in a scratchpad of 32768"),
        ({"first_address": -1}, "a job of int16 must stay in a scratchpad of 32768"),
        ({"output_column_step": 8}, "a job of int16 must not write a byte twice"),
        ({"first_address": 24000 - 32}, "a job of int16 must not write what it reads later"),
    ],
)
def test_refuses_places(changes: dict[str, int], message: str) -> None:
    scratchpad = Scratchpad(SIZE)
    with pytest.raises(ProgramError, match=f"^{message}"):
        execute_elements(addition(**changes), scratchpad)


def test_what_comes_of_undefined_numbers_is_undefined() -> None:
    job, scratchpad = addition(), Scratchpad(SIZE)
    scratchpad.is_written[:] = True
    (first, _), *_ = elements_reads(job)
    scratchpad.is_written[first + 1] = False
    execute_elements(job, scratchpad)
    start = job.output_address
    assert scratchpad.is_written[start : start + 4].tolist() == [True, False, True, True]
    assert not scratchpad.is_written[start - 16 + 1]

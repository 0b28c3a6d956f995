"""Lists of the engine in a Program's bytes: what is read, and what is refused."""

import dataclasses
import re
from typing import TypeVar

import pytest

from kiwicha.contract.engine import (
    MAX_JOBS,
    EngineCall,
    EngineJob,
    EngineTransfer,
    JobKind,
)
from kiwicha.contract.layout import Struct
from kiwicha.contract.moves import EngineMove
from kiwicha.contract.recurrences import EngineRecurrence
from kiwicha.contract.short_elements import EngineShortElements
from kiwicha.errors import ProgramError
from kiwicha.program.engine_list import read_list, stream_bytes

S = TypeVar("S", bound=Struct)


def blank(record: type[S], **values: int) -> S:
    """Return a record of zeros, with some other values."""
    return dataclasses.replace(record.unpack(bytes(record.size_bytes())), **values)


def call(jobs: int, transfers: int = 0, *, is_resident: bool = False) -> EngineCall:
    return blank(EngineCall, job_count=jobs, transfer_count=transfers, is_resident=int(is_resident))


JOBS = (
    blank(EngineJob, kind=JobKind.CONV, weights_bytes=48),
    blank(EngineMove, kind=JobKind.MOVE),
    blank(EngineRecurrence, kind=JobKind.RECURRENT),
    blank(EngineShortElements, kind=JobKind.SHORT_ELEMENTS),
)
TRANSFERS = tuple(blank(EngineTransfer, dram_offset=number) for number in (7, 9))
RAW = b"".join(record.pack() for record in (*JOBS, *TRANSFERS))


def test_jobs_are_read_by_their_kind() -> None:
    found = read_list(call(4, 2), RAW + b"weights")
    assert found.jobs == JOBS
    assert found.transfers == TRANSFERS
    assert [stream_bytes(job) for job in found.jobs] == [48, 0, 0, 0]


def test_a_list_without_transfers_is_whole() -> None:
    assert read_list(call(1), JOBS[0].pack()).jobs == JOBS[:1]


def test_lists_for_weights_that_are_there_follow() -> None:
    first, second = (record.pack() for record in JOBS[:2])
    assert read_list(call(1, is_resident=True), first + second).jobs == JOBS[:1]
    later = read_list(call(1, is_resident=True), first + second, has_weights=True)
    assert later.jobs == JOBS[1:2]
    # Where no weights stay there is one list.
    assert read_list(call(1), first + second, has_weights=True).jobs == JOBS[:1]


@pytest.mark.parametrize("count", [0, MAX_JOBS + 1])
def test_lists_have_some_jobs(count: int) -> None:
    message = f"a list must have 1 to {MAX_JOBS} jobs, not {count}"
    with pytest.raises(ProgramError, match=f"^{re.escape(message)}$"):
        read_list(call(count), bytes(EngineJob.size_bytes() * (MAX_JOBS + 1)))


def test_most_jobs_are_read() -> None:
    size = EngineJob.size_bytes() * MAX_JOBS
    assert len(read_list(call(MAX_JOBS), bytes(size)).jobs) == MAX_JOBS


def test_lists_lie_in_their_image() -> None:
    size = len(RAW)
    message = f"an image of {size - 1} bytes must hold its list of {size}"
    with pytest.raises(ProgramError, match=f"^{re.escape(message)}$"):
        read_list(call(4, 2), RAW[:-1])
    message = f"an image of {size} bytes must hold its list of {2 * size}"
    with pytest.raises(ProgramError, match=f"^{re.escape(message)}$"):
        read_list(call(4, 2, is_resident=True), RAW, has_weights=True)

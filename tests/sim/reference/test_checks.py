"""What the reference executor refuses: bytes beside a tensor, and ranges that overlap."""

import dataclasses
import re
from typing import TypeVar

import numpy as np
import pytest

from kiwicha.contract.engine import (
    TRANSFER_FLAG,
    ComputedListCall,
    EngineCall,
    EngineJob,
    EngineTransfer,
)
from kiwicha.contract.layout import Ref, Struct
from kiwicha.contract.program import Kernel
from kiwicha.errors import ProgramError
from kiwicha.program.parts import Step
from kiwicha.sim.reference.memory import Memory, check_overlap
from kiwicha.sim.reference.overlap import check_overlapped
from tests.support.programs.steps import whole_copy

S = TypeVar("S", bound=Struct)
CONSTANTS = bytes(range(64))


def blank(record: type[S], **values: object) -> S:
    """Return a record of zeros, with some other values."""
    return dataclasses.replace(record.unpack(bytes(record.size_bytes())), **values)


LOAD = blank(EngineTransfer, dram_offset=20, bytes=10)
"""Of whole lines: 16 to 31."""
STORE = blank(EngineTransfer, dram_offset=66, bytes=10 | TRANSFER_FLAG)
OTHER = blank(EngineTransfer, dram_offset=200 | TRANSFER_FLAG, bytes=10)
"""From the Program."""
IMAGE = b"".join(record.pack() for record in (blank(EngineJob), LOAD, STORE, OTHER))
CALL = blank(
    EngineCall,
    image=Ref(0, len(IMAGE), is_constant=True),
    job_count=1,
    transfer_count=3,
    overlapped_steps=1,
)
FREE = whole_copy(Ref(100, 4), Ref(110, 4))


def copied(source: Ref, target: Ref) -> Step:
    return Step(Kernel.COPY, 0, whole_copy(source, target))


def check(*steps: Step, call: EngineCall = CALL) -> None:
    check_overlapped(Memory(256, IMAGE), [Step(Kernel.ENGINE, 0, call), *steps], 0)


@pytest.mark.parametrize(
    ("source", "target"),
    [
        # What is loaded may be read.
        (Ref(16, 16), Ref(100, 16)),
        (Ref(100, 8), Ref(8, 8)),
        (Ref(100, 4), Ref(32, 4)),
        (Ref(60, 6), Ref(100, 6)),
        (Ref(76, 4), Ref(100, 4)),
        (Ref(100, 6), Ref(60, 6)),
        (Ref(100, 4), Ref(76, 4)),
        # Of the Program, not of the arena.
        (Ref(100, 10), Ref(200, 10)),
        (Ref(66, 4, is_constant=True), Ref(100, 4)),
        # Nothing.
        (Ref(100, 0), Ref(70, 0)),
    ],
)
def test_steps_beside_a_list_that_touch_nothing_of_it(source: Ref, target: Ref) -> None:
    check(copied(source, target))


@pytest.mark.parametrize(
    ("source", "target", "name"),
    [
        (Ref(100, 9), Ref(8, 9), "output"),
        (Ref(100, 1), Ref(31, 1), "output"),
        (Ref(100, 7), Ref(60, 7), "output"),
        (Ref(100, 1), Ref(75, 1), "output"),
        (Ref(60, 7), Ref(100, 7), "input"),
        (Ref(75, 1), Ref(100, 1), "input"),
        (Ref(0, 100), Ref(100, 100), "input"),
    ],
)
def test_steps_beside_a_list_that_meet_it(source: Ref, target: Ref, name: str) -> None:
    ref = target if name == "output" else source
    message = f"overlapped step 1 (COPY): {name} must not be what the engine uses ({ref})"
    with pytest.raises(ProgramError, match=f"^{re.escape(message)}$"):
        check(copied(source, target))
    # They may come behind those that overlap, or where none do.
    check(Step(Kernel.COPY, 0, FREE), copied(source, target))
    check(copied(source, target), call=dataclasses.replace(CALL, overlapped_steps=0))
    call = dataclasses.replace(CALL, overlapped_steps=2)
    with pytest.raises(ProgramError, match=r"^overlapped step 2 \(COPY\)"):
        check(Step(Kernel.COPY, 0, FREE), copied(source, target), call=call)


def test_lists_overlap_steps_of_the_cpu_that_exist() -> None:
    with pytest.raises(ProgramError, match=r"^1 overlapped steps must exist, not 0$"):
        check()
    with pytest.raises(ProgramError, match=r"^overlapped step 1 \(ENGINE\) must be one of the CPU"):
        check(Step(Kernel.ENGINE, 0, CALL))


def test_computed_lists_are_read() -> None:
    fields = {field.name: getattr(CALL, field.name) for field in dataclasses.fields(CALL)}
    memory = Memory(512, IMAGE)
    call = ComputedListCall(**fields, computed=Ref(300, 50))
    for place, is_free in ((296, True), (297, False), (349, False), (350, True)):
        steps = [Step(Kernel.ENGINE, 0, call), copied(Ref(100, 4), Ref(place, 4))]
        if is_free:
            check_overlapped(memory, steps, 0)
        else:
            with pytest.raises(ProgramError, match="output must not be what the engine uses"):
                check_overlapped(memory, steps, 0)


@pytest.mark.parametrize(
    ("target", "is_refused", "in_place", "slides"),
    [
        (Ref(8, 8), False, False, False),
        (Ref(8, 9), True, True, False),
        (Ref(16, 16), True, False, True),
        (Ref(31, 4), True, True, True),
        (Ref(32, 4), False, False, False),
    ],
)
def test_results_do_not_meet_what_is_read(
    target: Ref, *, is_refused: bool, in_place: bool, slides: bool
) -> None:
    source = Ref(16, 16)
    params = whole_copy(source, target)
    message = f"output must not overlap input ({target} and {source})"
    if is_refused:
        with pytest.raises(ProgramError, match=f"^{re.escape(message)}$"):
            check_overlap(params, may_be_in_place=False)
        with pytest.raises(ProgramError, match=f"^{re.escape(message)}$"):
            check_overlap(params, may_be_in_place=in_place, may_slide=slides)
    else:
        check_overlap(params, may_be_in_place=False)


def test_results_may_be_in_place_or_slide() -> None:
    check_overlap(whole_copy(Ref(16, 16), Ref(16, 16)), may_be_in_place=True)
    check_overlap(whole_copy(Ref(16, 16), Ref(15, 16)), may_be_in_place=False, may_slide=True)
    for source, target in (
        (Ref(16, 16, is_constant=True), Ref(16, 16)),
        (Ref(16, 0), Ref(10, 16)),
        (Ref(16, 16), Ref(20, 0)),
    ):
        check_overlap(whole_copy(source, target), may_be_in_place=False)


def test_tensors_are_read_as_they_were_written() -> None:
    memory = Memory(32, CONSTANTS)
    values = np.array([[1, -2], [2**31 - 1, -(2**31)]], np.int32)
    memory.store(Ref(16, 16), values)
    found = memory.load(Ref(16, 16), np.int32, (2, 2))
    assert found.dtype == np.int32
    np.testing.assert_array_equal(found, values)
    assert memory.load(Ref(60, 4, is_constant=True), "u1", (4,)).tolist() == [60, 61, 62, 63]
    assert memory.load(Ref(2, 4, is_constant=True), "<u2", (1,)).tolist() == [2 + 3 * 256]


@pytest.mark.parametrize(
    ("ref", "dtype", "message"),
    [
        (Ref(16, 3), "i4", "a tensor of 4 bytes must fit its reference"),
        (Ref(18, 8), "i4", "a tensor of int32 must be aligned to 4"),
        (Ref(29, 4), "u1", "a tensor must lie inside the 32 bytes of the arena"),
        (Ref(61, 4, is_constant=True), "u1", "must lie inside the 64 bytes of the constants"),
        (Ref(15, 4), "u1", "a tensor must be written before it is read"),
        (Ref(20, 1), "u1", "a tensor must be written before it is read"),
    ],
)
def test_what_is_not_there_is_not_read(ref: Ref, dtype: str, message: str) -> None:
    memory = Memory(32, CONSTANTS)
    memory.store(Ref(16, 4), np.zeros(4, np.uint8))
    with pytest.raises(ProgramError, match=message):
        memory.load(ref, dtype, (1,))


@pytest.mark.parametrize(
    ("ref", "message"),
    [
        (Ref(0, 4, is_constant=True), "a result must lie in the arena"),
        (Ref(29, 4), "a tensor must lie inside the 32 bytes of the arena"),
        (Ref(0, 3), "a tensor of 4 bytes must fit its reference"),
    ],
)
def test_results_have_their_places(ref: Ref, message: str) -> None:
    with pytest.raises(ProgramError, match=message):
        Memory(32, CONSTANTS).store(ref, np.zeros(4, np.uint8))


def test_bytes_are_gathered_and_scattered() -> None:
    memory = Memory(32, CONSTANTS)
    ref = Ref(8, 24)
    memory.scatter(ref, np.array([0, 23]), np.array([5, 6], np.uint8))
    assert memory.gather(ref, np.array([23, 0, 23])).tolist() == [6, 5, 6]
    assert memory.gather(Ref(60, 4, is_constant=True), np.array([3])).tolist() == [63]
    with pytest.raises(ProgramError, match="must be written before it is read"):
        memory.gather(ref, np.array([1]))
    for offsets in ([24], [-1]):
        with pytest.raises(ProgramError):
            memory.gather(ref, np.array(offsets))
        with pytest.raises(ProgramError):
            memory.scatter(ref, np.array(offsets), np.array([1], np.uint8))
    with pytest.raises(ProgramError, match="a result must lie in the arena"):
        memory.scatter(Ref(0, 4, is_constant=True), np.array([0]), np.array([1], np.uint8))
    with pytest.raises(ProgramError, match="must lie inside the 32 bytes"):
        memory.gather(Ref(9, 24), np.array([0]))


def test_working_memory_is_spoilt() -> None:
    memory = Memory(32, CONSTANTS)
    memory.store(Ref(0, 32), np.full(32, 7, np.uint8))
    memory.spoil(Ref(8, 8))
    for place, is_there in ((7, True), (8, False), (15, False), (16, True)):
        if is_there:
            assert memory.load(Ref(place, 1), "u1", (1,)).tolist() == [7]
        else:
            with pytest.raises(ProgramError, match="must be written before it is read"):
                memory.load(Ref(place, 1), "u1", (1,))
    with pytest.raises(ProgramError, match="a result must lie in the arena"):
        memory.spoil(Ref(0, 4, is_constant=True))
    with pytest.raises(ProgramError, match="must lie inside the 32 bytes"):
        memory.spoil(Ref(29, 4))

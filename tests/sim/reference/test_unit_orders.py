"""Jobs of array and depthwise unit that run at the same time: which orders are refused.

A writer gives rows of two pixels; the reader's rows lie on them. What a job reads and writes is
what a case says it is, so that only rows count.
"""

from typing import Any

import pytest

from kiwicha.contract.engine import EngineJob, JobKind
from kiwicha.contract.moves import AnyJob, EngineMove
from kiwicha.errors import ProgramError
from kiwicha.program.unit_rows import UnitRows
from kiwicha.sim.reference.engine_units import check_units, may_start

SIZE = 4096
AT = 1024
UNIT, CONV = JobKind.DEPTHWISE_UNIT, JobKind.CONV
PIXEL, COLUMNS = 8, 2
PITCH = PIXEL * COLUMNS


def job(kind: JobKind, **fields: int) -> EngineJob:
    """Return a job of one row of two pixels of 8 channels."""
    blank = dict.fromkeys((name for name, _, _ in EngineJob.layout()), 0)
    shared = {
        **{"kind": kind, "groups": 1, "output_rows": 1, "output_columns": COLUMNS},
        **{"output_address": AT, "output_pixel_bytes": PIXEL, "output_row_step": PIXEL},
        "group_output_step": PIXEL,
    }
    return EngineJob(**{**blank, **shared, **fields})


def unit_reader(**fields: int) -> EngineJob:
    """Return a job of the unit that reads one row where another one writes it."""
    shared = {
        **{"first_address": AT, "first_index": 1, "input_rows": 1, "row_words": COLUMNS},
        **{"column_step": PIXEL, "kernel_row_step": PITCH, "output_address": 0, "wait_row_step": 1},
    }
    return job(UNIT, **{**shared, **fields})


def conv_reader(**fields: int) -> EngineJob:
    """Return a job of the array that reads one row where the unit writes it."""
    shared = {
        **{"first_address": AT, "input_rows": 9, "kernel_rows": 1, "stride_rows": 1},
        **{"row_span": PITCH, "kernel_row_step": PITCH, "row_step": PITCH, "wait_row_step": 1},
        "output_address": 0,
    }
    return job(CONV, **{**shared, **fields})


def check(writer: AnyJob, reader: AnyJob, *, is_first: bool = True) -> None:
    """Check a list of a writer and a reader, of which one writes what the other reads."""
    ranges = {
        id(writer): ([(2000, 2001)], [(AT, AT + 4)]),
        id(reader): ([(AT + 3, AT + 5)], [(0, 1)]),
    }
    jobs = [writer, reader] if is_first else [reader, writer]
    check_units(jobs, lambda item: ranges[id(item)], SIZE)


def is_sound(writer: AnyJob, reader: AnyJob) -> bool:
    try:
        check(writer, reader)
    except ProgramError as error:
        refusal = str(error)
    else:
        return True
    assert refusal == "job 1 must not read what job 0 writes later"
    return False


@pytest.mark.parametrize("wait", range(6))
def test_the_unit_waits_for_rows_of_the_array(wait: int) -> None:
    """Of five rows it reads three, one after the other; the third needs three to be there."""
    writer = job(CONV, output_rows=5)
    fields = {"first_index": 3, "input_rows": 3}
    assert is_sound(writer, unit_reader(wait_rows=wait, **fields)) == (wait >= 1)
    assert is_sound(writer, unit_reader(wait_rows=wait, wait_row_step=0, **fields)) == (wait >= 3)
    # The first row lies outside of the image.
    above = {"first_row": -1, "first_index": 4, "first_address": AT - PITCH, "input_rows": 3}
    assert is_sound(writer, unit_reader(wait_rows=wait, **above)) == (wait >= 1)


@pytest.mark.parametrize("wait", range(1, 6))
def test_the_array_waits_for_rows_of_the_unit(wait: int) -> None:
    """Of five rows it reads the first and the third, or three at once."""
    writer = job(UNIT, output_rows=5)
    every_second = conv_reader(wait_rows=wait, output_rows=2, row_step=2 * PITCH)
    assert is_sound(writer, every_second) == (wait >= 2)
    assert is_sound(writer, conv_reader(wait_rows=wait, kernel_rows=3)) == (wait >= 3)
    # A row of the kernel outside of the image is not read.
    below = conv_reader(wait_rows=wait, kernel_rows=3, input_rows=2)
    assert is_sound(writer, below) == (wait >= 2)
    above = {"first_row": -1, "first_address": AT - PITCH}
    assert is_sound(writer, conv_reader(wait_rows=wait, kernel_rows=3, **above)) == (wait >= 2)


def test_the_first_row_of_an_image_counts() -> None:
    assert not is_sound(job(UNIT), conv_reader())
    assert is_sound(job(UNIT), conv_reader(wait_rows=1))
    assert not is_sound(job(CONV), unit_reader())
    assert is_sound(job(CONV), unit_reader(wait_rows=1))


@pytest.mark.parametrize(("kind", "before"), [(CONV, (0, 1, 2, 3)), (UNIT, (0, 0, 1, 1))])
@pytest.mark.parametrize("group", range(4))
@pytest.mark.parametrize("byte", [0, 7])
def test_groups_follow_each_other(
    kind: JobKind, before: tuple[int, ...], group: int, byte: int
) -> None:
    """The array computes the rows of one after the other, the unit those of pairs."""
    writer = job(kind, groups=4, output_rows=2, output_pixel_bytes=32, output_row_step=32)
    needed = before[group] * 2 + 2
    place = AT + 64 + 8 * group + byte
    for wait in range(1, 9):
        if kind == UNIT:
            reader = conv_reader(wait_rows=wait, first_address=place, row_span=1)
        else:
            reader = unit_reader(wait_rows=wait, first_address=place - byte, row_words=1)
        assert is_sound(writer, reader) == (wait >= needed)


def test_all_channels_of_a_row_are_read() -> None:
    writer = job(UNIT, groups=3, output_pixel_bytes=24, output_columns=1)
    assert not is_sound(writer, conv_reader(wait_rows=1, row_span=24))
    assert is_sound(writer, conv_reader(wait_rows=1, row_span=16))
    assert is_sound(writer, conv_reader(wait_rows=2, row_span=24))
    of_array = job(CONV, groups=2, output_pixel_bytes=16, output_columns=1)
    half = unit_reader(wait_rows=1, first_address=AT + 4, row_words=1)
    assert not is_sound(of_array, half)
    assert is_sound(of_array, unit_reader(wait_rows=1, row_words=1))


@pytest.mark.parametrize(
    ("groups", "last_beats", "byte", "is_written"),
    [
        (1, 1, 0, True),
        (1, 1, 5, True),
        (1, 1, 7, True),
        (1, 1, 8, False),
        (1, 2, 8, True),
        (1, 2, 15, True),
        (2, 1, 8, True),
        (2, 1, 23, True),
        (2, 1, 24, False),
        (2, 2, 24, True),
    ],
)
def test_half_of_a_last_group_may_be_left_out(
    groups: int, last_beats: int, byte: int, *, is_written: bool
) -> None:
    """Groups of 16 channels are written in two beats."""
    writer = job(CONV, groups=groups, group_output_step=16, last_beats=last_beats, output_columns=1)
    # The byte is the last or the first of the eight that are read.
    first = AT + byte - (7 if byte % 8 == 7 else 0)
    reader = unit_reader(first_address=first, row_words=1)
    assert is_sound(writer, reader) != is_written


@pytest.mark.parametrize("is_first", [True, False])
def test_jobs_that_write_the_same_wait_for_all_rows(*, is_first: bool) -> None:
    """Whoever is second waits until the first is complete: for its last row."""
    unit, conv = job(UNIT, output_rows=3), job(CONV, output_rows=3)
    first, second = (unit, conv) if is_first else (conv, unit)
    places = {id(unit): ([(0, 4)], [(9, 12)]), id(conv): ([(20, 24)], [(11, 16)])}

    def ranges(item: AnyJob) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
        found = next((value for key, value in places.items() if key == id(item)), None)
        return found or places[id(unit if item.kind == UNIT else conv)]

    numbers = (1, 0) if is_first else (0, 1)
    with pytest.raises(ProgramError, match=r"^jobs {} and {} must not run at".format(*numbers)):
        check_units([first, second], ranges, SIZE)
    for wait in (2, 3):
        waiting = job(second.kind, output_rows=3, wait_rows=wait)
        if wait == 3:
            check_units([first, waiting], ranges, SIZE)
        else:
            with pytest.raises(ProgramError, match="must not run at the same time"):
                check_units([first, waiting], ranges, SIZE)


def test_both_need_each_other() -> None:
    unit, conv = job(UNIT), job(CONV)
    places = {id(unit): ([(8, 12)], [(0, 4)]), id(conv): ([(3, 5)], [(11, 16)])}
    with pytest.raises(ProgramError, match="must not run at the same time"):
        check_units([unit, conv], lambda item: places[id(item)], SIZE)
    # What lies beside each other does not meet.
    apart = {id(unit): ([(8, 12)], [(0, 4)]), id(conv): ([(4, 8)], [(12, 16)])}
    check_units([unit, conv], lambda item: apart[id(item)], SIZE)


def test_moves_count_no_rows() -> None:
    """The unit waits for a move, and a move for the unit, as a whole."""
    blank: Any = EngineMove.unpack(bytes(EngineMove.size_bytes()))
    with pytest.raises(ProgramError, match=r"^job 1 must wait for job 0$"):
        check(blank, unit_reader())
    check(blank, unit_reader(wait_rows=1))
    with pytest.raises(ProgramError, match=r"^a job of the array must wait for rows that it reads"):
        check(job(UNIT), blank)
    with pytest.raises(ProgramError, match=r"^a job of the array must wait for rows that it reads"):
        check(job(UNIT, output_rows=2), conv_reader(wait_rows=1, wait_row_step=0))


def test_a_job_is_done_as_a_whole_when_its_last_rows_are_there() -> None:
    rows = UnitRows(0, 4, 3, 7)
    assert [may_start(rows, others) for others in (6, 7, 8)] == [False, True, True]

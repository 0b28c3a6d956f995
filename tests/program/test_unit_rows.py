"""Rows by which array and depthwise unit wait for each other, counted through a list."""

import dataclasses

from kiwicha.contract.engine import EngineJob, JobKind
from kiwicha.contract.moves import EngineMove
from kiwicha.program.unit_rows import (
    MAX_ROWS_AHEAD,
    group_wait,
    inner_rows,
    unit_rows,
    without_rows_before,
)


def job(kind: JobKind, **fields: int) -> EngineJob:
    blank = dict.fromkeys((name for name, _, _ in EngineJob.layout()), 0)
    return EngineJob(**{**blank, "kind": kind, "groups": 1, "output_rows": 1, **fields})


def test_windows_count_rows_of_each_group_or_pair_and_others_once() -> None:
    jobs = [
        job(JobKind.CONV, groups=3, output_rows=5),
        job(JobKind.ADD, groups=4, output_rows=7),
        job(JobKind.DEPTHWISE_UNIT, groups=2, output_rows=6),
        job(JobKind.MAX, output_rows=2),
        job(JobKind.DEPTHWISE_UNIT, groups=3, output_rows=6),
    ]
    found = [(rows.first, rows.end) for rows in unit_rows(jobs)]
    assert found == [(0, 15), (15, 16), (0, 6), (16, 18), (6, 18)]


def test_a_job_of_the_unit_waits_for_more_with_each_group_and_row_inside() -> None:
    fields = {"groups": 3, "wait_rows": 4, "wait_group_step": 10, "wait_row_step": 1}
    unit = job(JobKind.DEPTHWISE_UNIT, first_row=-1, first_index=8, input_rows=6, **fields)
    conv = job(JobKind.CONV, groups=3, output_rows=9, wait_rows=2, wait_row_step=1)
    waits = [(rows.wait, rows.last_wait) for rows in unit_rows([unit, conv])]
    assert waits == [(4, 4 + 2 * 10 + 5), (2, 2 + 8)]


def test_a_group_reads_the_rows_that_are_inside() -> None:
    for first in range(-4, 5):
        for count in range(4):
            for rows in range(1, 4):
                unit = job(
                    JobKind.DEPTHWISE_UNIT, first_row=first, first_index=count, input_rows=rows
                )
                inside = {*range(first, first + count)} & {*range(rows)}
                assert inner_rows(unit) == len(inside)


def test_one_row_waits_for_no_more() -> None:
    fields = {"wait_rows": 7, "wait_row_step": 5}
    conv = job(JobKind.CONV, **fields)
    unit = job(JobKind.DEPTHWISE_UNIT, first_index=1, input_rows=1, **fields)
    outside = job(JobKind.DEPTHWISE_UNIT, first_row=3, first_index=1, input_rows=1, **fields)
    for one in (conv, unit, outside):
        (rows,) = unit_rows([one])
        assert (rows.wait, rows.last_wait) == (7, 7)


def test_groups_of_a_pair_wait_for_the_same() -> None:
    cases = ((1, [0]), (2, [1, 1]), (3, [1, 1, 2]), (4, [1, 1, 3, 3]), (5, [1, 1, 3, 3, 4]))
    for groups, steps in cases:
        fields = {"groups": groups, "wait_rows": 4, "wait_group_step": 10, "first_index": 1}
        unit = job(JobKind.DEPTHWISE_UNIT, input_rows=1, **fields)
        assert [group_wait(unit, group) for group in range(groups)] == [10 * n for n in steps]
        in_pairs = dataclasses.replace(unit, waits_in_pairs=1)
        waits = [group_wait(in_pairs, group) for group in range(groups)]
        assert waits == [10 * (group // 2) for group in range(groups)]
        assert unit_rows([in_pairs])[0].last_wait == 4 + waits[-1]


def test_counts_wrap() -> None:
    """What is waited for lies around what is before it, even where 65536 rows are behind."""
    many = job(JobKind.CONV, groups=1000, output_rows=90)
    for ahead in (-MAX_ROWS_AHEAD, -5, 0, MAX_ROWS_AHEAD):
        unit = job(JobKind.DEPTHWISE_UNIT, wait_rows=(90_000 + ahead) % 65_536)
        assert unit_rows([many, unit])[1].wait == 90_000 + ahead
    too_many = job(JobKind.DEPTHWISE_UNIT, wait_rows=(90_000 + MAX_ROWS_AHEAD + 1) % 65_536)
    assert unit_rows([many, too_many])[1].wait < 90_000


def test_a_list_that_goes_on_counts_anew() -> None:
    first = job(JobKind.CONV, groups=7, output_rows=10)
    fields = {"input_rows": 4, "first_index": 4, "wait_row_step": 1, "wait_group_step": 4}
    follower = job(JobKind.DEPTHWISE_UNIT, wait_rows=71, waits_in_pairs=1, **fields)
    halo = dataclasses.replace(follower, wait_rows=68)
    done = dataclasses.replace(follower, wait_rows=60)
    for unit, expected in ((follower, 1), (halo, 65_534)):
        rows = unit_rows([first, unit])[1]
        alone = without_rows_before(unit, rows, 70)
        assert alone == dataclasses.replace(unit, wait_rows=expected)
        assert unit_rows([alone])[0].wait == rows.wait - 70
    cleared = without_rows_before(done, unit_rows([first, done])[1], 70)
    # So is one whose last row is the last that is done.
    last = dataclasses.replace(follower, wait_rows=66)
    rows = unit_rows([first, last])[1]
    assert rows.last_wait == 69
    assert without_rows_before(last, rows, 69).wait_row_step == 0
    assert without_rows_before(last, rows, 68).wait_row_step == 1
    waits = (cleared.wait_rows, cleared.wait_group_step, cleared.wait_row_step)
    assert (*waits, cleared.waits_in_pairs) == (0, 0, 0, 0)


def test_moves_of_a_list_that_goes_on_wait_for_nothing_that_is_done() -> None:
    blank = EngineMove.unpack(bytes(EngineMove.size_bytes()))
    first = job(JobKind.DEPTHWISE_UNIT, output_rows=9)
    move = dataclasses.replace(blank, kind=JobKind.MOVE, wait_rows=5)
    rows = unit_rows([first, move])[1]
    assert (rows.first, rows.end, rows.wait, rows.last_wait) == (0, 1, 5, 5)
    assert without_rows_before(move, rows, 5) == dataclasses.replace(move, wait_rows=0)
    assert without_rows_before(move, rows, 4) == dataclasses.replace(move, wait_rows=1)

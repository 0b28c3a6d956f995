"""Fills of the weight buffer beside DRAM's refreshes, tables and transfers: as simulated."""

import dataclasses

import pytest

from kiwicha.compiler.engine.cost.cycles import predict_list
from kiwicha.compiler.engine.cost.job_work import job_work
from kiwicha.contract.engine import TRANSFER_FLAG, EngineJob, EngineTransfer, JobFlag, JobKind
from kiwicha.contract.memories import DDR3_QUARTER_RATE, SDR_HALF_RATE

NEAR = 0.04
"""Of its cycles, that a job may take more or less: in a simulation a refresh comes or not."""


def job(**fields: int) -> EngineJob:
    """Give a job of one operation, but for what is said."""
    basis = dict.fromkeys((name for name, _, _ in EngineJob.layout()), 0)
    ones = ("groups", "input_rows", "output_rows", "output_columns", "kernel_rows", "row_words")
    ones += ("group_words", "segment_words", "stride_rows", "dilation_rows", "interval")
    ones += ("last_beats", "column_step", "stride_columns")
    return EngineJob(**basis | dict.fromkeys(ones, 1) | {"kind": JobKind.CONV} | fields)


def depthwise(**fields: int) -> EngineJob:
    """Give a 3x3 convolution of 72 channels: 16 in each group but the last."""
    shape = {"row_span": 2880, "column_step": 72, "kernel_rows": 3}
    shape |= {"input_rows": 8, "output_rows": 6, "output_columns": 40, "group_words": 3}
    return job(kind=JobKind.DEPTHWISE, groups=5, interval=2, skip_results=1, **shape | fields)


def test_the_last_group_writes_what_it_has() -> None:
    full, half = (job_work(depthwise(last_beats=beats), 64) for beats in (2, 1))
    assert full.writes == full.last_writes == half.writes == 2 * half.last_writes
    assert half.mean_writes == pytest.approx(0.9 * half.writes)


def test_groups_that_use_words_as_they_come_feel_refreshes() -> None:
    # 70 words for each group of 64 operations: a refresh of 43 cycles for each ten groups.
    convolution = job(groups=32, output_columns=4, row_words=16, group_words=16)
    _, (_, found) = predict_list([job(), convolution], [], 64)
    assert found.end - found.start == pytest.approx(2722, rel=NEAR)


def test_words_that_the_reader_has_hide_what_comes_between() -> None:
    # Six words for a group of 20 operations: five groups are there while a transfer has its turn.
    product = job(
        kind=JobKind.MUL,
        flags=JobFlag.CHANNELS | JobFlag.SHARED,
        groups=60,
        segment_words=10,
        interval=1,
    )
    load = EngineTransfer(0, 0, 16 * 1000, 1, 0)
    _, (_, found) = predict_list([job(), product], [load], 64)
    assert found.end - found.start == pytest.approx(1412, rel=NEAR)


def test_weights_come_behind_tables_of_sums() -> None:
    # 452 words for a group of 495 operations, behind tables of 134 words in 262 cycles.
    tables = job(kind=JobKind.ADD, flags=JobFlag.FUSED, interval=2, group_words=32, column_step=8)
    shape = {"output_columns": 45, "row_words": 11, "group_words": 55, "kernel_rows": 1}
    sums = job(flags=JobFlag.PACKED | JobFlag.FUSED, groups=6, last_beats=2, **shape)
    _, (_, first, second) = predict_list([job(), tables, sums], [], 128)
    behind = second.start + second.weights - first.end
    # The weights of a group take longer than the rest of it; those of the first come last.
    assert behind > 452 * 16 / DDR3_QUARTER_RATE.bytes_per_cycle - 32


def test_words_that_come_ahead_follow_each_other_on_a_slow_memory() -> None:
    # Eight words for a group of 25 operations, from a memory that gives one in five cycles.
    pool = job(
        kind=JobKind.DEPTHWISE,
        flags=JobFlag.ONES | JobFlag.SHARED,
        groups=80,
        kernel_rows=25,
        input_rows=25,
        interval=2,
        last_beats=2,
    )
    before = job(output_columns=1000, row_words=8, group_words=8)
    _, (_, found) = predict_list([before, pool], [], 64, 1, SDR_HALF_RATE)
    assert found.end - found.start == pytest.approx(3167, rel=NEAR)


def test_reports_take_the_average_of_groups_that_wait_for_their_fills() -> None:
    # 16 beats of parameters and words for each of the first two groups, eight for the others.
    pool = job(
        kind=JobKind.DEPTHWISE,
        flags=JobFlag.ONES | JobFlag.SHARED,
        groups=80,
        row_span=1,
        kernel_rows=25,
        input_rows=25,
        interval=2,
        last_beats=2,
    )
    before = job(output_columns=1000, row_words=8, group_words=8)
    _, (_, rounded) = predict_list([before, pool], [], 64)
    _, (_, found) = predict_list([before, pool], [], 64, is_report=True)
    assert found.end - found.start == pytest.approx(2274, rel=0.01)
    assert found.end - found.start < rounded.end - rounded.start - 25


def test_reports_know_that_a_load_takes_whole_turns_behind_weights() -> None:
    # A layer of MobileNetV2 whose groups wait for 36 words each, beside a load.
    before = job(output_columns=1000, row_words=8, group_words=8)
    waits = job(
        kind=JobKind.DEPTHWISE,
        groups=36,
        interval=2,
        input_rows=3,
        output_columns=7,
        row_span=8064,
        column_step=576,
        group_words=6,
        kernel_rows=3,
        stride_rows=2,
        stride_columns=2,
        first_phase=1,
        skip_results=1,
        last_beats=2,
    )
    load = EngineTransfer(0, 0, 16 * 1512, 1, 0)
    _, (_, found) = predict_list([before, waits], [load], 64, is_report=True)
    assert found.end - found.start == pytest.approx(2956, rel=0.02)


def test_reports_know_that_a_store_stops_while_weights_come() -> None:
    # Another one, with a result every other cycle beside the store of those before.
    shape = {"groups": 9, "output_columns": 168, "row_words": 2, "segment_words": 2}
    shape |= {"group_words": 2, "last_beats": 2, "weights_bytes": 4896}
    convolution = job(flags=JobFlag.PACKED | JobFlag.CODED, **shape)
    waits = dataclasses.replace(convolution, wait_transfers=1)
    store = EngineTransfer(0, 0, 16 * 1512 | TRANSFER_FLAG, 1, 0)
    jobs = [convolution, convolution, waits]
    _, (_, beside, found) = predict_list(jobs, [store], 256, is_report=True)
    assert beside.end - beside.start + found.transfers == pytest.approx(3300, rel=0.01)

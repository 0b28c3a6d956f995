"""Descriptors: what is refused and with which code, and that legal jobs are not."""

import dataclasses
import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from amaranth.sim import SimulatorContext

from kiwicha.contract.engine import (
    BLOCK_KINDS,
    COMPUTE_KINDS,
    GATHERING_MACS,
    MAX_SOFTMAX_DEPTH,
    SQUARE_INTERVAL,
    EngineError,
    EngineTransfer,
    JobFlag,
    JobKind,
    SumFlag,
    TransferFlag,
)
from kiwicha.contract.moves import AnyJob, MoveFlag
from kiwicha.contract.short_elements import EngineShortElements
from kiwicha.gateware.engine.control.job_check import JOB_WORDS, JobCheck
from kiwicha.gateware.engine.control.transfer_fetcher import TransferFetcher
from kiwicha.numerics.lstm_steps import CellScales
from tests.gateware.engine.control.bad_descriptors import LEGAL, bad_jobs, bad_transfers, changed
from tests.gateware.engine.control.stand_in_lists import make_job
from tests.gateware.engine.random_jobs import random_work
from tests.gateware.engine.recurrence_jobs import Places, Recurrence, recurrence_job
from tests.gateware.engine.short_element_jobs import elements_job, random_elements
from tests.support.gateware.unit_simulation import UnitSimulation

SCRATCHPAD_BYTES = 56 * 1024
TRANSFERS = 3
JOBS = 5
UNIT_JOB = make_job(
    kind=JobKind.DEPTHWISE_UNIT,
    kernel_rows=3,
    segments=3,
    row_words=7,
    output_columns=7,
    segment_words=9,
    stride_columns=1,
    group_words=1,
    skip_results=1,
    first_index=9,
    dilation_rows=1,
    wait_rows=700,
    wait_group_step=9,
    wait_row_step=1,
    waits_in_pairs=1,
)


@functools.cache
def job_check(
    *,
    macs: int,
    has_codec: bool,
    has_softmax: bool,
    has_blocks: bool,
    is_resident: bool,
    has_depthwise: bool,
    has_int16: bool,
    has_recurrent: bool,
) -> UnitSimulation[JobCheck]:
    return UnitSimulation(
        JobCheck(
            scratchpad_bytes=SCRATCHPAD_BYTES,
            macs=macs,
            has_codec=has_codec,
            has_blocks=has_blocks,
            is_resident=is_resident,
            has_softmax=has_softmax,
            has_depthwise=has_depthwise,
            has_int16=has_int16,
            has_recurrent=has_recurrent,
        )
    )


@functools.cache
def transfer_fetcher() -> UnitSimulation[TransferFetcher]:
    return UnitSimulation(TransferFetcher(scratchpad_bytes=SCRATCHPAD_BYTES))


def check_jobs(
    jobs: Sequence[AnyJob],
    macs: int = 64,
    *,
    has_codec: bool = True,
    has_softmax: bool = True,
    has_blocks: bool = False,
    is_resident: bool = False,
    has_depthwise: bool = False,
    has_int16: bool = False,
    has_recurrent: bool = False,
) -> list[EngineError]:
    """Give what is found in each job, each by itself."""
    simulation = job_check(
        macs=macs,
        has_codec=has_codec,
        has_softmax=has_softmax,
        has_blocks=has_blocks,
        is_resident=is_resident,
        has_depthwise=has_depthwise,
        has_int16=has_int16,
        has_recurrent=has_recurrent,
    )
    dut = simulation.component
    found = []

    async def bench(ctx: SimulatorContext) -> None:
        ctx.set(dut.transfers, TRANSFERS)
        ctx.set(dut.takes, 1)
        for job in jobs:
            raw = job.pack()
            for index in range(JOB_WORDS):
                ctx.set(dut.index, index)
                ctx.set(dut.word, int.from_bytes(raw[16 * index : 16 * index + 16], "little"))
                await ctx.tick()
            found.append(EngineError(ctx.get(dut.error)))

    simulation.run(bench)
    return found


def check_transfer(transfer: EngineTransfer) -> tuple[EngineError, dict[str, int] | None]:
    """Give what is found in a transfer, and what comes out."""
    dut = transfer_fetcher().component
    found: list[tuple[EngineError, dict[str, int] | None]] = []

    async def bench(ctx: SimulatorContext) -> None:
        ctx.set(dut.jobs, JOBS)
        ctx.set(dut.beats.valid, 1)
        ctx.set(dut.beats.payload.data, int.from_bytes(transfer.pack(), "little"))
        await ctx.tick()
        ctx.set(dut.beats.valid, 0)
        payload = ctx.get(dut.transfers.payload)
        fields = {name: int(payload[name]) for name, _ in dut.transfers.payload.shape()}
        is_valid = ctx.get(dut.transfers.valid)
        found.append((EngineError(ctx.get(dut.error)), fields if is_valid else None))

    transfer_fetcher().run(bench)
    return found[0]


def test_accepts_legal_jobs() -> None:
    rng = np.random.default_rng(0)
    jobs = [
        random_work(rng, 64, kind, SCRATCHPAD_BYTES).job
        for kind in sorted(COMPUTE_KINDS - {JobKind.DEPTHWISE_UNIT})
        for _ in range(40)
    ]
    jobs += LEGAL.values()
    jobs += [
        changed("conv", interval=8, group_words=256, wait_transfers=TRANSFERS),
        changed("conv", output_address=SCRATCHPAD_BYTES - 8, weight_zero_point=-256),
        changed("depthwise", flags=JobFlag.TAPS_8, segments=8, last_beats=2, weight_zero_point=255),
        changed("conv", flags=JobFlag.CODED),
        changed("conv", flags=JobFlag.CODED | JobFlag.FUSED, input_2_address=8),
        changed("table", kind=JobKind.ADD, flags=JobFlag.FUSED),
        changed("table", flags=JobFlag.CODED),
        changed("table", flags=JobFlag.WIDE | JobFlag.SQUARE, interval=SQUARE_INTERVAL),
        changed("max", gives_positions=1),
        changed("softmax", flags=JobFlag.CODED, output_address=5, output_row_step=7, input_rows=0),
        changed("softmax", segment_words=MAX_SOFTMAX_DEPTH, output_rows=0xFFFF, kernel_rows=0),
        changed("softmax", flags=JobFlag.CODED | JobFlag.LOGARITHMS, output_zero_point=127),
        changed("max", sums=SumFlag.KEEP | SumFlag.CONTINUE, output_row_step=1 << 20),
        changed("table", sums=SumFlag.KEEP),
        changed("products", sums=SumFlag.CONTINUE),
        changed(
            "depthwise", segments=4, stride_columns=3, first_phase=2, segment_words=0, row_words=0
        ),
    ]
    assert set(check_jobs(jobs)) == {EngineError.NONE}


def test_moves_are_judged_by_their_first_word() -> None:
    rng = np.random.default_rng(1)
    moves = [random_work(rng, 64, JobKind.MOVE, SCRATCHPAD_BYTES).job for _ in range(20)]
    odd: dict[str, Any] = {
        "target": SCRATCHPAD_BYTES - 1,
        "last_indices": (0xFFFF,) * 4,
        "last_byte": 0xFFFF,
    }
    odd |= dict.fromkeys(("source_steps", "target_steps"), (-1,) * 4)
    moves += [dataclasses.replace(moves[0], **odd, flags=flag) for flag in (0, *MoveFlag)]
    assert set(check_jobs(moves)) == {EngineError.NONE}


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        *(({"flags": flags}, EngineError.BAD_FIELD) for flags in (3, 4, 8, 128)),
        ({"groups": 0}, EngineError.BAD_FIELD),
        ({"interval": 0}, EngineError.BAD_FIELD),
        ({"wait_transfers": TRANSFERS + 1}, EngineError.BAD_FIELD),
        ({"target": SCRATCHPAD_BYTES}, EngineError.OUTSIDE_SCRATCHPAD),
        ({"reserved": (0, 0, 0, 0x4000)}, EngineError.BAD_FIELD),
    ],
)
def test_refuses_bad_moves(fields: dict[str, Any], error: EngineError) -> None:
    good = random_work(np.random.default_rng(1), 64, JobKind.MOVE, SCRATCHPAD_BYTES).job
    assert check_jobs([dataclasses.replace(good, **fields)]) == [error]


def test_packed_jobs_need_an_engine_for_them() -> None:
    good = changed("conv", flags=JobFlag.PACKED, last_beats=2)
    assert check_jobs([good], macs=128) == [EngineError.NONE]
    assert check_jobs([good], macs=64) == [EngineError.BAD_FIELD]
    assert check_jobs([good], macs=256) == [EngineError.NONE]
    for bad in (
        changed("conv", flags=JobFlag.PACKED, last_beats=0),
        changed("depthwise", flags=JobFlag.PACKED),
        changed("table", flags=JobFlag.PACKED),
        changed("max", flags=JobFlag.PACKED),
    ):
        assert check_jobs([bad], macs=128) == [EngineError.BAD_FIELD]


@pytest.mark.parametrize("macs", [32, 64, 128, 256])
def test_gathered_jobs_are_convolutions_of_some_engines(macs: int) -> None:
    good = changed("conv", flags=JobFlag.GATHERED, last_beats=2, segment_step=7)
    expected = EngineError.NONE if macs in GATHERING_MACS else EngineError.BAD_FIELD
    assert check_jobs([good], macs=macs) == [expected]
    for kind in ("depthwise", "table", "max"):
        bad = changed(kind, flags=LEGAL[kind].flags | JobFlag.GATHERED)
        assert check_jobs([bad], macs=macs) == [EngineError.BAD_FIELD]


def test_deep_words_are_half_as_many() -> None:
    for flags, most in ((JobFlag.PACKED, 128), (JobFlag(0), 256)):
        for words, error in ((most, EngineError.NONE), (most + 1, EngineError.BAD_FIELD)):
            job = changed("conv", flags=flags, last_beats=2, group_words=words)
            assert check_jobs([job], macs=256) == [error]


def test_all_depthwise_jobs_have_8_taps_with_256() -> None:
    job = changed("depthwise", flags=0, segments=8)
    assert check_jobs([job], macs=64) == [EngineError.BAD_FIELD]
    assert check_jobs([job], macs=256) == [EngineError.NONE]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "field", "value", "error"), bad_jobs(SCRATCHPAD_BYTES, TRANSFERS))
def test_refuses_bad_jobs(kind: str, field: str, value: int, error: EngineError) -> None:
    # The first error stays.
    jobs = [LEGAL[kind], changed(kind, **{field: value}), changed("conv", kind=0)]
    assert check_jobs(jobs) == [EngineError.NONE, error, error]


def test_takes_transfers_apart() -> None:
    store = EngineTransfer(1 << 31 | 0x30, 0x40, 1 << 31 | 35, JOBS, 0)
    plain = {"is_float": 0, "is_table": 0}
    expected = {
        "offset": 3,
        "line": 4,
        "lines": 3,
        "first_byte": 0,
        "last_bytes": 3,
        "wait_jobs": JOBS,
        **plain,
    }
    assert check_transfer(store) == (
        EngineError.NONE,
        {**expected, "is_program": 1, "is_store": 1},
    )
    load = EngineTransfer(0x7FFF_FFF0, 0, SCRATCHPAD_BYTES, 0, 0)
    expected = {
        "offset": 0x7FF_FFFF,
        "line": 0,
        "lines": SCRATCHPAD_BYTES // 16,
        "first_byte": 0,
        "last_bytes": 0,
        "wait_jobs": 0,
        **plain,
    }
    assert check_transfer(load) == (EngineError.NONE, {**expected, "is_program": 0, "is_store": 0})
    floats = EngineTransfer(0x30, 0x40, 4 * 37, JOBS, TransferFlag.FLOAT)
    expected = {**expected, "offset": 3, "line": 4, "lines": 10, "wait_jobs": JOBS}
    assert check_transfer(floats) == (
        EngineError.NONE,
        {**expected, "is_program": 0, "is_store": 0, "is_float": 1},
    )


@pytest.mark.parametrize(
    ("first", "count", "lines", "last_bytes"),
    [(1, 15, 1, 0), (15, 1, 1, 0), (15, 2, 2, 1), (9, 3, 1, 12), (9, 39, 3, 0), (15, 33, 3, 0)],
)
def test_transfers_begin_at_any_byte(first: int, count: int, lines: int, last_bytes: int) -> None:
    error, step = check_transfer(EngineTransfer(0x50 + first, 0x20 + first, count, 0, 0))
    assert error is EngineError.NONE
    assert step is not None
    assert (step["offset"], step["line"], step["first_byte"]) == (5, 2, first)
    assert (step["lines"], step["last_bytes"]) == (lines, last_bytes)


@pytest.mark.slow
@pytest.mark.parametrize(("fields", "error"), bad_transfers(SCRATCHPAD_BYTES, JOBS))
def test_refuses_bad_transfers(fields: tuple[int, ...], error: EngineError) -> None:
    assert check_transfer(EngineTransfer(*fields)) == (error, None)


def test_an_engine_without_a_codec_refuses_coded_weights() -> None:
    coded = changed("conv", flags=JobFlag.CODED)
    assert check_jobs([coded]) == [EngineError.NONE]
    assert check_jobs([coded], has_codec=False) == [EngineError.BAD_FIELD]
    assert check_jobs([LEGAL["conv"]], has_codec=False) == [EngineError.NONE]


def test_an_engine_of_blocks_refuses_other_coded_weights() -> None:
    """Those of convolutions are coded, and nothing else."""
    for name, job in LEGAL.items():
        coded = changed(name, flags=job.flags | JobFlag.CODED)
        wanted = EngineError.NONE if job.kind in BLOCK_KINDS else EngineError.BAD_FIELD
        assert check_jobs([coded], has_blocks=True) == [wanted], name
        assert check_jobs([job], has_blocks=True) == [EngineError.NONE], name


def test_an_engine_that_keeps_weights_refuses_those_that_nobody_has_stored() -> None:
    """Convolutions hold weights, load them only then, and code only those that they load."""
    held, loads, coded = JobFlag.HELD, JobFlag.LOADS, JobFlag.CODED
    for name, job in LEGAL.items():
        for flags in (held, held | loads, held | loads | coded, loads, held | coded):
            found = changed(name, flags=job.flags | flags, resident_word=511)
            is_good = job.kind in BLOCK_KINDS and flags not in {loads, held | coded}
            wanted = EngineError.NONE if is_good else EngineError.BAD_FIELD
            assert check_jobs([found], has_blocks=True, is_resident=True) == [wanted], name
            assert check_jobs([found], has_blocks=True) == [EngineError.BAD_FIELD], name


def test_int16_is_for_convolutions_of_engines_that_have_it() -> None:
    short, lower, wide = JobFlag.SHORT, JobFlag.LOWER, JobFlag.WIDE
    for name, job in LEGAL.items():
        for flags in (lower, short, short | wide, short | wide | JobFlag.FUSED):
            found = changed(name, flags=JobFlag(job.flags) & ~wide | flags)
            is_good = job.kind in BLOCK_KINDS and flags in {lower, short | wide}
            wanted = EngineError.NONE if is_good else EngineError.BAD_FIELD
            assert check_jobs([found], has_int16=True) == [wanted], name
            assert check_jobs([found]) == [EngineError.BAD_FIELD], name
    shifted = changed("conv", sums=SumFlag.CONTINUE | SumFlag.SHIFTED)
    assert check_jobs([shifted], has_int16=True) == [EngineError.NONE]
    assert check_jobs([shifted]) == [EngineError.BAD_FIELD]
    assert set(check_jobs(list(LEGAL.values()), has_int16=True)) == {EngineError.NONE}


def test_steps_of_lstms_are_for_engines_that_have_them() -> None:
    """Their fields can have any values, but for those that all jobs have."""
    rng = np.random.default_rng(7)
    scales = CellScales(-11, -(2**15), 2**15 - 1, 2**31 - 1, -31, -128)
    step = Recurrence(2**16 - 1, 2**15 - 1, scales)
    last = SCRATCHPAD_BYTES - 1
    jobs = [recurrence_job(step, Places(*(int(v) for v in rng.integers(last, size=5))))]
    jobs.append(recurrence_job(step, Places(-1, 2**32 - 1, last, 2**32 - 1, 2**32 - 1)))
    jobs.append(recurrence_job(dataclasses.replace(step, upper_step=2**16 - 1), Places(*5 * [3])))
    assert jobs[-1].flags == JobFlag.SHORT
    assert check_jobs(jobs, has_recurrent=True) == 3 * [EngineError.NONE]
    assert check_jobs(jobs) == 3 * [EngineError.BAD_KIND]
    for changes, error in (
        ({"output": last + 1}, EngineError.OUTSIDE_SCRATCHPAD),
        ({"wait_transfers": TRANSFERS + 1}, EngineError.BAD_FIELD),
        ({"interval": 0}, EngineError.BAD_FIELD),
        ({"groups": 0}, EngineError.BAD_FIELD),
        ({"flags": JobFlag.WIDE}, EngineError.BAD_FIELD),
        ({"flags": JobFlag.SHORT | JobFlag.WIDE}, EngineError.BAD_FIELD),
        ({"reserved_sums": 1}, EngineError.BAD_FIELD),
    ):
        bad = dataclasses.replace(jobs[0], **changes)
        assert check_jobs([bad], has_recurrent=True) == [error], changes
    assert set(check_jobs(list(LEGAL.values()), has_recurrent=True)) == {EngineError.NONE}


def test_numbers_of_int16_are_for_engines_that_have_them() -> None:
    """Their fields can have any values, but for those that all jobs have."""
    rng = np.random.default_rng(8)
    jobs = []
    for _ in range(12):
        raw = elements_job(random_elements(rng), (0, 0, 0)).pack()
        own = dataclasses.replace(
            EngineShortElements.unpack(raw),
            **dict.fromkeys(("kernel_row_step", "row_step", "second_address"), 2**32 - 1),
            shift_1=-1,
            output_address=SCRATCHPAD_BYTES - 8,
        )
        jobs.append(own)
    assert check_jobs(jobs, has_int16=True) == len(jobs) * [EngineError.NONE]
    assert check_jobs(jobs) == len(jobs) * [EngineError.BAD_KIND]
    assert check_jobs(jobs, 32, has_int16=True) == len(jobs) * [EngineError.BAD_KIND]
    for changes, error in (
        ({"output_address": SCRATCHPAD_BYTES}, EngineError.OUTSIDE_SCRATCHPAD),
        ({"output_address": 4}, EngineError.BAD_FIELD),
        ({"wait_transfers": TRANSFERS + 1}, EngineError.BAD_FIELD),
        ({"interval": 0}, EngineError.BAD_FIELD),
        ({"groups": 0}, EngineError.BAD_FIELD),
        ({"flags": JobFlag.SHORT}, EngineError.BAD_FIELD),
        ({"flags": JobFlag.WIDE}, EngineError.BAD_FIELD),
        ({"flags": 0}, EngineError.BAD_FIELD),
        ({"reserved_sums": 1}, EngineError.BAD_FIELD),
    ):
        bad = dataclasses.replace(jobs[0], **changes)
        assert check_jobs([bad], has_int16=True) == [error], changes


def test_an_engine_without_softmax_does_not_know_it() -> None:
    jobs = [changed("softmax", output_rows=rows) for rows in (1, 0)]
    assert check_jobs(jobs[:1]) == [EngineError.NONE]
    for job in jobs:
        assert check_jobs([job], has_softmax=False) == [EngineError.BAD_KIND]
    others = [job for name, job in LEGAL.items() if name != "softmax"]
    assert set(check_jobs(others, has_softmax=False)) == {EngineError.NONE}


def test_an_engine_with_a_depthwise_unit_knows_its_jobs_and_waits() -> None:
    waiting = [changed("conv", wait_rows=9, wait_row_step=1), changed("max", wait_rows=65_535)]
    legal = [UNIT_JOB, *LEGAL.values(), *waiting]
    assert set(check_jobs(legal, has_depthwise=True)) == {EngineError.NONE}
    assert check_jobs([UNIT_JOB]) == [EngineError.BAD_KIND]
    assert set(check_jobs(waiting)) == {EngineError.BAD_FIELD}


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("kernel_rows", (0, 8)),
        ("segments", (0, 8)),
        ("row_words", (0, 257)),
        ("output_columns", (0, 257)),
        ("segment_words", (3, 1024)),
        ("stride_columns", (0,)),
        ("group_words", (0, 10)),
        ("skip_results", (7,)),
        ("first_index", (0,)),
        ("dilation_rows", (0, 2)),
        ("sums", (SumFlag.KEEP, SumFlag.CONTINUE)),
        ("flags", (JobFlag.WIDE, JobFlag.TAPS_8, JobFlag.ONES)),
        ("wait_row_step", (2, 128)),
        ("waits_in_pairs", (2, 129)),
        ("reserved_1", (1,)),
        ("resident_word", (1,)),
    ],
)
def test_refuses_bad_jobs_of_the_depthwise_unit(name: str, values: tuple[int, ...]) -> None:
    jobs = [dataclasses.replace(UNIT_JOB, **{name: value}) for value in values]
    assert set(check_jobs(jobs, has_depthwise=True)) == {EngineError.BAD_FIELD}


def test_jobs_of_the_depthwise_unit_may_have_all_that_it_has_room_for() -> None:
    limits = {
        "kernel_rows": (1, 7),
        "segments": (1, 7),
        "row_words": (1, 256),
        "output_columns": (1, 256),
        "segment_words": (4, 1023),
        "stride_columns": (1, 255),
        "group_words": (1, 9),
        "skip_results": (0, 6),
        "first_index": (1, 65_535),
    }
    jobs = [
        dataclasses.replace(UNIT_JOB, **{name: value})
        for name, values in limits.items()
        for value in values
    ]
    assert set(check_jobs(jobs, has_depthwise=True)) == {EngineError.NONE}


@pytest.mark.parametrize("name", ["wait_group_step", "waits_in_pairs"])
def test_only_jobs_of_the_depthwise_unit_wait_for_more_with_each_group(name: str) -> None:
    jobs = [dataclasses.replace(job, **{name: 1}) for job in LEGAL.values()]
    assert set(check_jobs(jobs, has_depthwise=True)) == {EngineError.BAD_FIELD}

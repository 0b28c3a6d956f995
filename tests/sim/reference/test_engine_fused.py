"""Reference engine: sums behind convolutions against what they are defined to be, and refusals."""

import dataclasses
from typing import Any

import numpy as np
import pytest

from kiwicha.contract.engine import FUSED_BITS, TABLE_ENTRIES, EngineJob, JobFlag, JobKind
from kiwicha.errors import ProgramError
from kiwicha.sim.reference.engine_jobs import (
    check_kind,
    execute_job,
    read_ranges,
    written_range,
)
from kiwicha.sim.reference.scratchpad import Scratchpad
from tests.gateware.engine.element_jobs import element_fills
from tests.gateware.engine.fused_jobs import random_fused
from tests.gateware.engine.window_jobs import Fill
from tests.gateware.engine.works import Work

SIZE = 8192
BEAT_BYTES = 16


def stream_of(fills: list[Fill]) -> bytes:
    return b"".join(beat.to_bytes(BEAT_BYTES, "little") for fill in fills for beat in fill.beats)


def scratchpad_of(rng: np.random.Generator) -> Scratchpad:
    found = Scratchpad(SIZE)
    found.write(np.arange(SIZE), rng.integers(-128, 128, SIZE).astype(np.int8))
    return found


def execute(work: Work, macs: int, scratchpad: Scratchpad, **changes: Any) -> None:
    assert isinstance(work.job, EngineJob)
    job = dataclasses.replace(work.job, **changes)
    check_kind(job)
    execute_job(job, stream_of(work.fills), macs, scratchpad)


@pytest.mark.parametrize("macs", [32, 64, 128, 256])
@pytest.mark.parametrize("seed", range(5))
def test_random_jobs(macs: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    works = random_fused(rng, macs, SIZE)
    scratchpad = scratchpad_of(rng)
    expected = scratchpad.bytes.copy()
    for work in works:
        execute(work, macs, scratchpad)
        work.apply(expected)
        np.testing.assert_array_equal(scratchpad.bytes, expected)


def test_what_is_added_is_read() -> None:
    tables, work, *_ = random_fused(np.random.default_rng(1), 64, SIZE)
    assert isinstance(work.job, EngineJob)
    assert isinstance(tables.job, EngineJob)
    assert (read_ranges(tables.job, 64), written_range(tables.job, 64)) == ([], (0, 0))
    first, end = written_range(work.job, 64)
    second = work.inputs[1].start // 8 * 8
    assert read_ranges(work.job, 64)[-1] == (second, second + end - first)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"further": 4}, r"^a second tensor must be at another multiple of 8 "),
        ({"input_2_address": 0}, r"^a (job must not write what|second tensor must be at another)"),
        ({"interval": 1, "row_words": 1}, r"^results to which others are added must be 8 cycles"),
        ({"kind": JobKind.MAX}, rf"^kind and flags must be known, not 5 and {JobFlag.FUSED:#x}$"),
    ],
)
def test_refuses_bad_jobs(changes: dict[str, int], message: str) -> None:
    rng = np.random.default_rng(0)
    scratchpad = scratchpad_of(rng)
    for seed in range(100):
        tables, work, *_ = random_fused(np.random.default_rng(seed), 64, SIZE)
        assert isinstance(work.job, EngineJob)
        # One word for each row, so that results could come every cycle.
        if work.job.flags == JobFlag.FUSED and work.job.row_words == 1:
            break
    execute(tables, 64, scratchpad)
    if "further" in changes:
        changes = {"input_2_address": work.job.input_2_address + changes["further"]}
    with pytest.raises(ProgramError, match=message):
        execute(work, 64, scratchpad, **changes)


def test_needs_tables_and_a_second_tensor() -> None:
    rng = np.random.default_rng(0)
    tables, work, *_ = random_fused(rng, 64, SIZE)
    with pytest.raises(ProgramError, match=r"^tables must come before a job that adds by them$"):
        execute(work, 64, scratchpad_of(rng))
    scratchpad = scratchpad_of(rng)
    execute(tables, 64, scratchpad)
    second = work.inputs[1]
    scratchpad.spoil(second.start, second.stop)
    with pytest.raises(ProgramError, match=r"^a second tensor must be written before it is added$"):
        execute(work, 64, scratchpad)


def test_terms_and_sums_have_so_many_bits() -> None:
    rng = np.random.default_rng(0)
    tables, work, *_ = random_fused(rng, 64, SIZE)
    limit = 1 << (FUSED_BITS - 1)
    for value, place in ((limit, 0), (limit - 1, 1)):
        terms = np.full((2, TABLE_ENTRIES), value)
        changed = dataclasses.replace(
            tables, fills=element_fills(64, np.zeros((3, 1, 8), np.int64), terms)
        )
        scratchpad = scratchpad_of(rng)
        message = rf"^(sums of )?terms must have {FUSED_BITS} bits$"
        if place:
            execute(changed, 64, scratchpad)
        with pytest.raises(ProgramError, match=message):
            execute((changed, work)[place], 64, scratchpad)
    with pytest.raises(ProgramError, match=r"^a job of tables for others must have one group "):
        execute(tables, 64, scratchpad_of(rng), groups=2)

"""Transfers that convert between float32 and int8, on the whole engine."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from kiwicha.contract.engine import (
    LINE_BYTES,
    TRANSFER_FLAG,
    EngineError,
    EngineJob,
    EngineTransfer,
    JobKind,
    TransferFlag,
)
from kiwicha.numerics.float_edges import dequantized
from kiwicha.program.float_tables import quantize_table
from tests.gateware.engine.campaign import SCRATCHPAD_BYTES, Round, build_engine, run_rounds
from tests.gateware.engine.float_numbers import dequantize_table, quantized_bits
from tests.gateware.engine.random_jobs import random_work
from tests.gateware.engine.transfer_lists import (
    TransferList,
    dequantizing,
    dequantizing_lists,
    quantizing,
    quantizing_lists,
)
from tests.gateware.engine.work_list import work_list
from tests.support.choices import by_day
from tests.support.gateware.dram_port import DramTiming

pytestmark = pytest.mark.verilator
MACS, SIZE = 64, 4096
FAST = DramTiming(latency_cycles=1)
TIMINGS = {
    "fast": FAST,
    "ddr3": DramTiming(latency_cycles=16, refresh_every_cycles=780, refresh_cycles=40),
    "stubborn": DramTiming(latency_cycles=20, jitter_cycles=30, stall=0.3),
}
UNLIMITED = 1_000_000
LISTS = 8


@pytest.fixture(scope="module")
def engine() -> Path:
    return build_engine(MACS, SCRATCHPAD_BYTES)


def check(engine: Path, made: list[TransferList], timing: DramTiming, seed: int) -> None:
    """Execute lists, and compare what they leave."""
    outcomes = run_rounds(engine, [item.given for item in made], timing, seed=seed, host_stall=0.1)
    for number, (item, outcome) in enumerate(zip(made, outcomes, strict=True)):
        item.check(outcome, f"list {number}")


@pytest.mark.parametrize("name", TIMINGS)
def test_quantizes_all_numbers_as_they_are_defined_to_be(engine: Path, name: str) -> None:
    check(engine, quantizing_lists(), TIMINGS[name], seed=1)


@pytest.mark.parametrize("name", TIMINGS)
def test_dequantizes_every_byte(engine: Path, name: str) -> None:
    check(engine, dequantizing_lists(), TIMINGS[name], seed=2)


def test_tables_follow_each_other_in_a_list(engine: Path) -> None:
    rng = np.random.default_rng(11)
    numbers = rng.normal(0, 3, 64).astype(np.float32)
    made = TransferList(bytearray(numbers.tobytes() + bytes(4096)))
    offset = numbers.nbytes
    for scale, zero_point in ((0.1, 3), (0.03, -100), (0.5, 0)):
        table = quantize_table(scale, zero_point)
        assert table is not None
        made.table(table)
        made.add(0, 0, numbers.nbytes, is_store=False, flags=TransferFlag.FLOAT)
        made.table(dequantize_table(scale, zero_point))
        made.add(offset, 0, numbers.nbytes, is_store=True, flags=TransferFlag.FLOAT)
        values = quantized_bits(numbers.view(np.uint32), scale, zero_point)
        made.expect(offset, dequantized(values, scale, zero_point))
        offset += numbers.nbytes
    check(engine, [made], TIMINGS["ddr3"], seed=3)


@pytest.mark.parametrize("kind", [JobKind.TABLE, JobKind.CONV, JobKind.DEPTHWISE])
@pytest.mark.parametrize("name", by_day("stubborn", "fast"))
def test_results_of_jobs_come_in_between(engine: Path, name: str, kind: JobKind) -> None:
    """Jobs use the first half of the scratchpad, transfers that convert the other one."""
    rng = np.random.default_rng(kind)
    half = SIZE // 2
    rounds, expected = [], []
    for _ in range(LISTS):
        made = work_list(
            [random_work(rng, MACS, kind, half) for _ in range(3)], MACS, half, [False] * 3
        )
        scale, zero_point = 0.05, int(rng.integers(-128, 128))
        numbers = (rng.normal(0, 40 * scale, half)).astype(np.float32)
        quantized = quantized_bits(numbers.view(np.uint32), scale, zero_point)
        first_table = quantize_table(scale, zero_point)
        assert first_table is not None
        tables = (first_table, dequantize_table(scale, zero_point))
        behind = 2 * half
        floats = [
            (0, half, 4 * half, False, TransferFlag.FLOAT),
            (4 * half, half, half, True, 0),
            (5 * half, half, 4 * half, True, TransferFlag.FLOAT),
        ]
        size = LINE_BYTES * (len(floats) + len(tables))
        place = len(made.image) + size
        added = []
        for offset, address, count, is_store, flags in floats:
            if flags:
                table = tables[is_store]
                added.append(
                    EngineTransfer(TRANSFER_FLAG | place, 0, len(table), 0, TransferFlag.TABLE)
                )
                place += len(table)
            moved = count | (TRANSFER_FLAG if is_store else 0)
            added.append(EngineTransfer(behind + offset, address, moved, 0, flags))
        jobs = [
            dataclasses.replace(job, weights_offset=job.weights_offset + size)
            for job in made.jobs
            if isinstance(job, EngineJob)
        ]
        *loads, store = made.transfers
        parts = [item.pack() for item in (*jobs, *loads, *added, store)]
        image = b"".join([*parts, made.streams, *tables])
        arena = rng.bytes(behind) + numbers.tobytes() + bytes(5 * half)
        rounds.append(Round(image, arena, len(jobs) | 8 << 16, UNLIMITED))
        wanted = np.frombuffer(arena, np.uint8).copy()
        memory = wanted[:half].copy()
        made.apply(memory)
        wanted[half:behind] = memory
        wanted[behind + 4 * half :][: 5 * half] = np.concatenate([
            quantized.view(np.uint8),
            dequantized(quantized, scale, zero_point).view(np.uint8),
        ])
        expected.append(wanted)
    outcomes = run_rounds(engine, rounds, TIMINGS[name], seed=1, host_stall=0.1)
    for outcome, wanted in zip(outcomes, expected, strict=True):
        assert outcome.status == 0
        wrong = np.flatnonzero(np.frombuffer(outcome.arena, np.uint8) != wanted)
        assert len(wrong) == 0, f"{len(wrong)} bytes from {wrong[:10]} differ"


@pytest.mark.parametrize("count", [16, 2048])
@pytest.mark.parametrize("make", [quantizing, dequantizing])
def test_an_element_takes_a_cycle(engine: Path, make: object, count: int) -> None:
    rng = np.random.default_rng(5)
    if make is quantizing:
        made = quantizing(0.1, 0, rng.normal(0, 5, count).astype(np.float32).view(np.uint32))
    else:
        made = dequantizing(0.1, 0, rng.integers(-128, 128, count).astype(np.int8))
    # The other transfer moves a line per cycle, and its burst.
    limit = count + 2 * count // LINE_BYTES + 400
    (outcome,) = run_rounds(engine, [made.round(limit)], FAST, seed=1, host_stall=0)
    assert outcome.status == 0
    (outcome,) = run_rounds(engine, [made.round(count + 200)], FAST, seed=1, host_stall=0)
    assert outcome.status >> 16 == EngineError.WATCHDOG

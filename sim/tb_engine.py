"""Bench of the whole engine: random jobs from DRAM to DRAM, against what they are defined to do."""

import dataclasses
import random
from collections.abc import Iterable
from typing import Any

import cocotb
import numpy as np
from cocotb.triggers import FallingEdge

from kiwicha import codec
from kiwicha.engine_packing import stream_shape
from kiwicha.isa import DRAM_BASE
from kiwicha.isa_engine import (
    EngineCounter,
    EngineError,
    EngineJob,
    EngineOp,
    EngineTransfer,
    JobFlag,
    JobKind,
)
from kiwicha.sim import bench, stream_drivers
from kiwicha.sim.dram_port import DramPort, DramTiming, Window
from kiwicha.sim.engine_host import EngineHost, Script
from kiwicha.sim.random_jobs import Work, random_work

__all__ = ["lists"]

_LINE = 16
_STORE_BIT = 1 << 31
_PROGRAM_BYTES = 1 << 20
_LIMIT_CYCLES = 2_000_000


@dataclasses.dataclass
class _List:
    """Jobs that change a scratchpad which is loaded before and stored behind them."""

    works: list[Work]
    jobs: list[EngineJob]
    image: bytes
    counts: int

    def apply(self, memory: Any) -> None:
        """Change the scratchpad's bytes."""
        for work in self.works:
            work.apply(memory)


def _make_list(
    works: list[Work], macs: int, size: int, coded: Iterable[bool], *, is_stuck: bool
) -> _List:
    """Return the image of a list; a stuck one waits for a transfer that waits for its last job."""
    streams, jobs = [], []
    half = size // 2
    waits = (0, len(works)) if is_stuck else (0, 0)
    transfers = [
        EngineTransfer(half * k, half * k, half, wait, 0) for k, wait in enumerate(waits)
    ] + [EngineTransfer(size, 0, size | _STORE_BIT, len(works), 0)]
    cursor = len(works) * works[0].job.size_bytes() + len(transfers) * _LINE
    for number, (work, is_coded) in enumerate(zip(works, coded, strict=True)):
        stream = b"".join(
            beat.to_bytes(_LINE, "little") for fill in work.fills for beat in fill.beats
        )
        if is_coded:
            stream = codec.encode(stream, stream_shape(work.job, macs))
        is_last = number == len(works) - 1
        jobs.append(
            dataclasses.replace(
                work.job,
                flags=work.job.flags | (JobFlag.CODED if is_coded else 0),
                wait_transfers=1 if is_stuck and not is_last else 2,
                weights_offset=cursor,
                weights_bytes=len(stream),
            )
        )
        cursor += len(stream)
        streams.append(stream)
    image = b"".join(part.pack() for part in (*jobs, *transfers)) + b"".join(streams)
    return _List(works, jobs, image, len(jobs) | len(transfers) << 16)


def _spoilt(made: _List, rng: np.random.Generator) -> tuple[bytes, int] | None:
    """Return the image with a bit of a coded stream flipped, and the number of its job."""
    coded = [number for number, job in enumerate(made.jobs) if job.flags & JobFlag.CODED]
    if not coded:
        return None
    number = int(rng.choice(coded))
    job, image = made.jobs[number], bytearray(made.image)
    bit = int(rng.integers(8 * job.weights_bytes))
    image[job.weights_offset + bit // 8] ^= 1 << bit % 8
    return bytes(image), number


def _script(
    dut: Any, dram: bytearray, program: Window, arena: Window, values: dict[str, Any]
) -> Script:
    """Execute lists of random jobs; let some of them expire, and spoil the streams of others."""
    rng, size = np.random.default_rng(values["seed"]), values["scratchpad_bytes"]
    for index, window in enumerate((program, arena)):
        assert (yield EngineOp.WINDOW, index, DRAM_BASE + window.first, window.bytes) == 0
    for number in range(values["rounds"]):
        is_stuck = number % 3 == 1
        is_spoilt = number % 3 == 2 and number % 2 == 0
        count = int(rng.integers(1, values["jobs"] + 1))
        kinds = [JobKind(int(rng.choice(values["kinds"]))) for _ in range(count)]
        works = [random_work(rng, values["macs"], kind, size) for kind in kinds]
        coded = rng.random(count) < 0.5
        made = _make_list(works, values["macs"], size, coded, is_stuck=is_stuck)
        assert len(made.image) <= program.bytes
        spoilt = _spoilt(made, rng) if is_spoilt else None
        image = spoilt[0] if spoilt else made.image
        dram[program.first : program.first + len(image)] = image
        scratchpad = np.frombuffer(rng.bytes(size), np.uint8).copy()
        dram[arena.first : arena.first + size] = scratchpad.tobytes()
        limit = int(rng.integers(300, 3000)) if is_stuck else 10**6
        assert (yield EngineOp.WATCHDOG, 0, limit, 0) == 0
        assert (yield EngineOp.START, 0, 0, made.counts) == 0
        status = yield EngineOp.WAIT, 0, 0, 0
        counts = []
        for counter in EngineCounter:
            counts.append((yield EngineOp.COUNTER, counter, 0, 0))
        dut._log.info("list %d: %s, status %#x, counts %s", number, kinds, status, counts)
        if spoilt:
            expected = EngineError.BAD_STREAM << 16 | spoilt[1]
            assert status == expected, f"list {number}: {status:#x}, not {expected:#x}"
            continue
        if is_stuck:
            assert status >> 16 == EngineError.WATCHDOG, f"list {number}: {status:#x}"
            continue
        assert status == 0, f"list {number}: {status:#x}"
        made.apply(scratchpad)
        stored = np.frombuffer(dram[arena.first + size : arena.first + 2 * size], np.uint8)
        wrong = np.flatnonzero(stored != scratchpad)
        assert not len(wrong), f"list {number}, {kinds}: {len(wrong)} bytes from {wrong[0]} differ"


@cocotb.test()
async def lists(dut: Any) -> None:
    """Execute lists of random jobs."""
    values = bench.parameters()
    rng = random.Random(values["seed"])
    program = Window(4096, _PROGRAM_BYTES, is_writable=False)
    arena = Window(4096 + _PROGRAM_BYTES, 2 * values["scratchpad_bytes"], is_writable=True)
    dram = bytearray(arena.first + arena.bytes + 4096)
    timing = DramTiming(**values["timing"])
    port = DramPort(dut, "memory", memory=dram, windows=[program, arena], timing=timing, rng=rng)
    host = EngineHost(dut, _script(dut, dram, program, arena, values), rng, 0.1)
    dut.commands__valid.value = 0
    dut.memory__rdata__valid.value = 0
    await stream_drivers.reset(dut.clk, dut.rst)
    await FallingEdge(dut.clk)
    await stream_drivers.run_until(
        dut.clk, [port, host], lambda: host.is_done, limit_cycles=_LIMIT_CYCLES
    )

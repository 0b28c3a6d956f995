"""Bench of the whole engine: random jobs from DRAM to DRAM, against what they are defined to do."""

import random
from typing import Any

import cocotb
import numpy as np
from cocotb.triggers import FallingEdge

from kiwicha.isa import DRAM_BASE
from kiwicha.isa_engine import EngineCounter, EngineError, EngineOp, JobKind
from kiwicha.sim import bench, stream_drivers
from kiwicha.sim.dram_port import DramPort, DramTiming, Window
from kiwicha.sim.engine_host import EngineHost, Script
from kiwicha.sim.random_jobs import random_work
from kiwicha.sim.work_list import work_list

__all__ = ["lists"]

_PROGRAM_BYTES = 1 << 20
_LIMIT_CYCLES = 2_000_000


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
        made = work_list(works, values["macs"], size, coded, is_stuck=is_stuck)
        assert len(made.image) <= program.bytes
        spoilt = made.spoilt(rng) if is_spoilt else None
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

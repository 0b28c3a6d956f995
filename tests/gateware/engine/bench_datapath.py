"""Bench of the engine's data path: whole jobs, from bytes in the scratchpad to bytes there."""

import dataclasses
import random
from typing import Any

import cocotb
import numpy as np
from cocotb.triggers import FallingEdge

from kiwicha.compiler.engine.cost.job_work import job_work
from kiwicha.contract.engine import JobFlag, JobKind, outputs_of
from kiwicha.contract.latencies import (
    MOVE_DRAIN_CYCLES,
    RECURRENT_DRAIN_CYCLES,
    RECURRENT_SHORT_CYCLES,
    RECURRENT_START_CYCLES,
    SOFTMAX_DRAIN_CYCLES,
    SOFTMAX_START_CYCLES,
    drain_cycles,
    short_beat_cycles,
)
from kiwicha.contract.moves import EngineMove
from kiwicha.contract.recurrences import EngineRecurrence
from kiwicha.contract.short_elements import PAIRS, EngineShortElements, ShortForm
from tests.gateware.engine.addressing.address_model import schedule
from tests.gateware.engine.datapath_drivers import Clock, Job, Lines, Weights
from tests.gateware.engine.move_jobs import move_schedule
from tests.gateware.engine.sum_jobs import random_works
from tests.gateware.engine.works import Work
from tests.support.gateware import bench, stream_drivers
from tests.support.gateware.engine_fields import pack

__all__ = ["jobs"]

_START_CYCLES = 1
"""From ``start`` until the first group can begin."""

_FUSED_CYCLES = 60
"""What the last sums behind a convolution take at most."""


def _check_cycles(
    work: Work, macs: int, interval: int, job: Job, ready: list[int], drain: int, name: str
) -> None:
    """Compare what a job took with the order of work; ``ready`` is when its weights were."""
    assert job.started_at is not None
    assert job.done_at is not None
    begin = job.started_at + _START_CYCLES
    if isinstance(work.job, EngineMove):
        assert work.move is not None
        reads, writes = move_schedule(work.move, work.job.target, begin)
        expected = writes[-1] + MOVE_DRAIN_CYCLES
        assert job.done_at == expected, f"{name}: done in cycle {job.done_at}, not {expected}"
        busy = len({*reads, *writes})
        assert job.busy == busy, f"{name}: {job.busy} busy cycles, not {busy}"
        assert job.waits_weights == 0, f"{name}: waited {job.waits_weights}, not 0"
        return
    if isinstance(work.job, EngineRecurrence):
        busy = job_work(work.job, macs).cycles
        expected = begin + RECURRENT_START_CYCLES + busy - 1 + RECURRENT_DRAIN_CYCLES
        expected += RECURRENT_SHORT_CYCLES if work.job.flags & JobFlag.SHORT else 0
        assert job.done_at == expected, f"{name}: done in cycle {job.done_at}, not {expected}"
        assert job.busy == busy, f"{name}: {job.busy} busy cycles, not {busy}"
        assert job.waits_weights == 0, f"{name}: waited {job.waits_weights}, not 0"
        return
    if isinstance(work.job, EngineShortElements):
        found = job_work(work.job, macs)
        last_read = begin + found.start + found.cycles - _left(work.job)
        latest = last_read + found.drain
        # Results without lower bytes of their own are there a cycle earlier, and counted alike.
        assert job.done_at == latest, f"{name}: done in cycle {job.done_at}, not {latest}"
        assert job.busy == found.cycles, f"{name}: {job.busy} busy cycles, not {found.cycles}"
        assert job.waits_weights == 0, f"{name}: waited {job.waits_weights}, not 0"
        return
    if work.job.kind == JobKind.SOFTMAX:
        first = max(begin, *ready) + SOFTMAX_START_CYCLES
        busy = job_work(work.job, 64).cycles
        expected = first + busy - 1 + SOFTMAX_DRAIN_CYCLES
        assert job.done_at == expected, f"{name}: done in cycle {job.done_at}, not {expected}"
        assert job.busy == busy, f"{name}: {job.busy} busy cycles, not {busy}"
        waits = max(0, *ready, begin) - begin
        assert job.waits_weights == waits, f"{name}: waited {job.waits_weights}, not {waits}"
        return
    paced = dataclasses.replace(work.job, interval=interval)
    issued = schedule(paced, ready, begin, macs=macs)
    ends = [group[-1][0] for group in issued]
    expected = ends[-1] + drain
    is_fused = work.job.kind == JobKind.CONV and bool(work.job.flags & JobFlag.FUSED)
    latest = expected + (_FUSED_CYCLES if is_fused else 0)
    assert expected <= job.done_at <= latest, f"{name}: done in cycle {job.done_at}, not {expected}"
    operations = sum(len(group) for group in issued)
    assert job.busy == operations, f"{name}: {job.busy} operations, not {operations}"
    begins = [begin, *(end + 1 for end in ends[:-1])]
    waits = sum(max(0, there - begin) for begin, there in zip(begins, ready, strict=True))
    assert job.waits_weights == waits, f"{name}: waited {job.waits_weights}, not {waits}"


def _left(job: EngineShortElements) -> int:
    """Return the cycles from the last read of a beat to the next beat."""
    reads = 1 if job.form == ShortForm.WHOLE else 2
    reads *= 2 if job.operator in PAIRS else job.kernel_rows * job.kernel_columns
    return short_beat_cycles(job) - reads + 1


@cocotb.test()
async def jobs(dut: Any) -> None:
    """Run random jobs one after the other; compare the whole scratchpad after each."""
    values = bench.parameters()
    seed, stall = values["seed"], values["stall"]
    numbers = np.random.default_rng(seed)
    memory = np.zeros(values["scratchpad_bytes"], np.uint8)
    works = [
        work
        for _ in range(values["count"])
        for kind in values["kinds"]
        for work in random_works(numbers, values["macs"], JobKind(kind), len(memory))
    ]
    weights = Weights(dut, works, random.Random(seed + 1), stall)
    lines = Lines(dut, memory, random.Random(seed + 2), stall)
    job = Job(dut)
    dut.start.value = dut.fill__commands__valid.value = 0
    dut.fill__beats__valid.value = 0
    await stream_drivers.reset(dut.clk, dut.rst)
    await FallingEdge(dut.clk)
    clock = Clock(dut, [weights, lines, job])
    lines.fill()
    await clock.run_until(lambda: lines.is_idle, 8 * len(memory))
    has_int16 = JobKind.SHORT_ELEMENTS in values["kinds"]
    drain = drain_cycles(values["macs"], values["lanes"], has_int16=has_int16)
    beats = outputs_of(values["macs"]) // values["lanes"]
    done_fills = 0
    for number, work in enumerate(works):
        job.start(pack(list(work.job.pack()), 8))
        lines.share(work)
        limit = 20000 + 20 * sum(len(fill.beats) for fill in work.fills)
        await clock.run_until(lambda: job.done_at is not None, limit)
        work.apply(memory)
        ready = weights.ready[done_fills : done_fills + len(work.fills)]
        done_fills += len(work.fills)
        interval = work.job.interval * beats
        name = f"job {number} {work.job}"
        _check_cycles(work, values["macs"], interval, job, ready, drain, name)
        # The next job sees its results at once, other accesses too.
        lines.stop_sharing()
        if numbers.integers(2):
            lines.check(work.output.stop - 1)
            await clock.run_until(lambda: lines.is_idle, 8 * len(memory))
    lines.check(0)
    await clock.run_until(lambda: lines.is_idle, 8 * len(memory))

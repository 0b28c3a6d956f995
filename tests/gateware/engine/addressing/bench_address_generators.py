"""Bench of the address generators: every operation in its cycle, against their order of work.

In its cycle, if nothing holds it back; and in its order in any case.
"""

import dataclasses
import math
import random
from typing import Any

import cocotb
import numpy as np
from cocotb.triggers import FallingEdge, ReadOnly

from kiwicha.contract.engine import ELEMENT_KINDS, EngineJob, JobFlag, JobKind
from kiwicha.gateware.engine.addressing.interfaces import OPERATION
from kiwicha.gateware.engine.descriptors import ADDRESS_BITS
from tests.gateware.engine.addressing.address_model import Operation, schedule
from tests.gateware.engine.addressing.wide_jobs import widened
from tests.gateware.engine.random_jobs import random_work
from tests.support.gateware import bench, stream_drivers
from tests.support.gateware.engine_fields import pack

__all__ = ["groups"]

_MEMORY_BYTES = 16384
_WIDE_SHARE = 0.5
_MAX_INTERVAL = 16
"""Of a requantizer of half as many lanes; of squares half of it."""
_IDLE_CYCLES = 20
_MOST_CYCLES = 100_000


def _fields(payload: int) -> dict[str, int]:
    """Return the fields of an operation."""
    return {name: payload >> field.offset & ((1 << field.width) - 1) for name, field in OPERATION}


def _check(
    got: dict[str, int], wanted: Operation, kind: JobKind, where: str, *, all_rows: bool
) -> None:
    """Compare an operation; where it has no data, its address and word mean nothing.

    With all kernel rows the word counts: it meets the zero point, or bytes of another row.
    """
    lanes = range(got["low"], max(got["low"], got["high"]))
    assert list(lanes) == list(wanted.lanes), f"{where}: lanes {lanes}, not {wanted.lanes}"
    names = ["last", "ends_row"]
    if kind == JobKind.DEPTHWISE:
        names += ["first", "shift", "is_dropped"]
    elif kind in (JobKind.CONV, JobKind.MAX):
        names += ["is_dropped", "carried"]
    else:
        names += ["first", "shift", "is_dropped"]
    if wanted.lanes:
        names += ["address"]
    if (wanted.lanes or all_rows) and kind not in ELEMENT_KINDS:
        names += ["index"]
    for name in names:
        expected = int(getattr(wanted, name)) % (1 << ADDRESS_BITS)
        assert got[name] == expected, f"{where}: {name} {got[name]}, not {expected}"


def _interval(rng: random.Random, job: EngineJob, *, is_longest: bool) -> int:
    """Return cycles between results: those of the job, or others."""
    most = _MAX_INTERVAL // (2 if job.flags & JobFlag.SQUARE else 1)
    return most if is_longest else rng.choice((job.interval, 1, rng.randint(1, most)))


def _has_all_rows(job: EngineJob) -> bool:
    """Return whether kernel rows outside the input count."""
    return bool(job.flags & (JobFlag.PACKED | JobFlag.GATHERED))


@cocotb.test()
async def groups(dut: Any) -> None:
    """Generate a few groups of each of many random jobs, some with another interval.

    Half of them have fields as wide as descriptors have. Some are held back, and some end with a
    reset.
    """
    values = bench.parameters()
    rng = random.Random(values["seed"])
    numbers = np.random.default_rng(values["seed"])
    kind = JobKind(values["kind"])
    dut.start.value = 0
    dut.yields.value = 0
    dut.pauses.value = 0
    await stream_drivers.reset(dut.clk, dut.rst)
    held_jobs = 0
    for number in range(values["count"]):
        job = random_work(numbers, values["macs"], kind, _MEMORY_BYTES).job
        assert isinstance(job, EngineJob)
        job = widened(rng, job, values["macs"]) if rng.random() < _WIDE_SHARE else job
        stops = number % 5 == 2
        job = dataclasses.replace(job, interval=_interval(rng, job, is_longest=stops))
        dut.job.value = pack(list(job.pack()), 8)
        dut.all_kernel_rows.value = int(_has_all_rows(job))
        # Weights come in time, or late.
        ready = [0]
        for _ in range(min(job.groups, 4) - 1):
            ready.append(ready[-1] + rng.choice((0, rng.randint(0, 300))))
        name = f"job {number} {job}"
        if number % 5 == 4:
            await _generate_held(dut, job, ready, name, values["macs"], rng)
        else:
            stop = rng.random() if stops else 1.0
            held_jobs += await _generate(dut, job, ready, name, values["macs"], stop)
            if stops:
                # The next job finds nothing of this one.
                dut.rst.value = 1
                await FallingEdge(dut.clk)
                dut.rst.value = 0
                continue
        # Longer than any interval, as it is in the data path.
        for _ in range(rng.randint(11, 13)):
            await FallingEdge(dut.clk)
    assert held_jobs > 0


async def _generate(
    dut: Any, job: EngineJob, ready: list[int], name: str, macs: int, stop: float
) -> bool:
    """Begin groups as soon as possible, compare each cycle; return whether it was held back.

    Up to that share of the results, and the cycle behind it.
    """
    groups_of_job = schedule(job, ready, macs=macs)
    wanted = {cycle: operation for group in groups_of_job for cycle, operation in group}
    ends = {group[-1][0] for group in groups_of_job}
    results = [cycle for cycle, operation in wanted.items() if operation.last]
    begun = held = 0
    for cycle in range(results[math.ceil(stop * len(results)) - 1] + 1):
        begun += _begin(dut, job, ready, begun, cycle)
        await ReadOnly()
        where = f"cycle {cycle} of {max(ends)}, {name}"
        _compare(dut, job, wanted.get(cycle), where, is_end=cycle in ends)
        held += int(dut.is_held.value)
        await FallingEdge(dut.clk)
    dut.start.value = 0
    return held > 0


async def _generate_held(
    dut: Any, job: EngineJob, ready: list[int], name: str, macs: int, rng: random.Random
) -> None:
    """Hold operations back, all or those with a result, and compare their order."""
    groups_of_job = schedule(job, ready, macs=macs)
    wanted = [operation for group in groups_of_job for _, operation in group]
    ends = {len(wanted)}
    for group in groups_of_job[:0:-1]:
        ends.add(min(ends) - len(group))
    share = rng.choice((0.1, 0.5, 0.9))
    begun = seen = cycle = 0
    due = -1
    yields = pauses = False
    idle = 0
    while idle < _IDLE_CYCLES:
        begun += _begin(dut, job, ready, begun, cycle)
        now = rng.random() < share / 2, rng.random() < share / 2
        dut.yields.value, dut.pauses.value = map(int, now)
        await ReadOnly()
        where = f"operation {seen} of {len(wanted)}, held, {name}"
        comes = bool(dut.operations__valid.value)
        operation = wanted[seen] if comes and seen < len(wanted) else None
        seen += comes
        _compare(dut, job, operation, where, is_end=comes and seen in ends)
        if operation is not None:
            assert not pauses, where
            assert not (operation.last and (yields or cycle < due)), where
            due = cycle + job.interval if operation.last else due
        yields, pauses = now
        cycle += 1
        idle = idle + 1 if seen == len(wanted) else 0
        assert cycle < _MOST_CYCLES, where
        await FallingEdge(dut.clk)
    dut.start.value = 0
    dut.yields.value = 0
    dut.pauses.value = 0


def _begin(dut: Any, job: EngineJob, ready: list[int], begun: int, cycle: int) -> bool:
    """Begin with the next group, if its weights are there and the last one is under way."""
    begins = begun < len(ready) and cycle >= ready[begun] and bool(dut.is_free.value)
    dut.start.value = int(begins)
    dut.group_offset.value = begun * job.group_input_step
    return begins


def _compare(
    dut: Any, job: EngineJob, operation: Operation | None, where: str, *, is_end: bool
) -> None:
    """Compare what comes in a cycle."""
    assert int(dut.operations__valid.value) == (operation is not None), where
    assert int(dut.done.value) == is_end, where
    if operation is not None:
        fields = _fields(int(dut.operations__payload.value))
        _check(fields, operation, JobKind(job.kind), where, all_rows=_has_all_rows(job))

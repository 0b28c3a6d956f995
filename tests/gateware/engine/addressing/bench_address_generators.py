"""Bench of the address generators: every operation in its cycle, against their order of work."""

import random
from typing import Any

import cocotb
import numpy as np
from cocotb.triggers import FallingEdge, ReadOnly

from kiwicha.contract.engine import ELEMENT_KINDS, EngineJob, JobFlag, JobKind
from kiwicha.gateware.engine.addressing.interfaces import OPERATION
from kiwicha.gateware.engine.descriptors import ADDRESS_BITS
from tests.gateware.engine.addressing.address_model import Operation, schedule
from tests.gateware.engine.random_jobs import random_work
from tests.support.gateware import bench, stream_drivers
from tests.support.gateware.engine_fields import pack

__all__ = ["groups"]

_MEMORY_BYTES = 16384


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


def _has_all_rows(job: EngineJob) -> bool:
    """Return whether kernel rows outside the input count."""
    return bool(job.flags & (JobFlag.PACKED | JobFlag.GATHERED))


@cocotb.test()
async def groups(dut: Any) -> None:
    """Generate a few groups of each of many random jobs, some with another interval."""
    values = bench.parameters()
    rng = random.Random(values["seed"])
    numbers = np.random.default_rng(values["seed"])
    kind = JobKind(values["kind"])
    dut.start.value = 0
    await stream_drivers.reset(dut.clk, dut.rst)
    held_jobs = 0
    for number in range(values["count"]):
        job = random_work(numbers, values["macs"], kind, _MEMORY_BYTES).job
        job = EngineJob(
            **{name: getattr(job, name) for name, _, _ in job.layout()}
            | {"interval": rng.choice((job.interval, 1, rng.randint(1, 8)))}
        )
        dut.job.value = pack(list(job.pack()), 8)
        dut.all_kernel_rows.value = int(_has_all_rows(job))
        # Weights come in time, or late.
        ready = [0]
        for _ in range(min(job.groups, 4) - 1):
            ready.append(ready[-1] + rng.choice((0, rng.randint(0, 300))))
        held_jobs += await _generate(dut, job, ready, f"job {number} {job}", values["macs"])
        # Longer than any interval, as it is in the data path.
        for _ in range(rng.randint(11, 13)):
            await FallingEdge(dut.clk)
    assert held_jobs > 0


async def _generate(dut: Any, job: EngineJob, ready: list[int], name: str, macs: int) -> bool:
    """Begin groups as soon as possible, compare each cycle; return whether it was held back."""
    kind = JobKind(job.kind)
    groups_of_job = schedule(job, ready, macs=macs)
    wanted = {cycle: operation for group in groups_of_job for cycle, operation in group}
    ends = {group[-1][0] for group in groups_of_job}
    begun = held = 0
    for cycle in range(max(ends) + 1):
        dut.start.value = 0
        begins = begun < len(ready) and cycle >= ready[begun] and int(dut.is_free.value)
        dut.start.value = int(begins)
        dut.group_offset.value = begun * job.group_input_step
        begun += begins
        await ReadOnly()
        where = f"cycle {cycle} of {max(ends)}, {name}"
        operation = wanted.get(cycle)
        assert int(dut.operations__valid.value) == (operation is not None), where
        assert int(dut.done.value) == (cycle in ends), where
        if operation is not None:
            fields = _fields(int(dut.operations__payload.value))
            _check(fields, operation, kind, where, all_rows=_has_all_rows(job))
        held += int(dut.is_held.value)
        await FallingEdge(dut.clk)
    dut.start.value = 0
    return held > 0

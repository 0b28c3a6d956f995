"""Bench of the engine without its arithmetic: lists, errors and watchdog on a stubborn DRAM."""

import random
from collections.abc import Callable
from typing import Any

import cocotb
from cocotb.triggers import FallingEdge

from kiwicha.contract.cfu import DRAM_BASE
from kiwicha.contract.engine import EngineCounter, EngineError, EngineOp, EngineTransfer
from kiwicha.contract.latencies import PORT_QUIET_CYCLES
from tests.gateware.engine.control.stand_in_lists import JobList, Machine, broken, overfed
from tests.gateware.engine.host import EngineHost, Script
from tests.support.gateware import bench, stream_drivers
from tests.support.gateware.dram_port import DramPort, DramTiming

__all__ = ["costs", "lists", "overfed_lists", "watchdog"]

_RUNNING = 1 << 31
_LIMIT_CYCLES = 400_000


class _Stalls:
    """Takes the scratchpad away, now and then."""

    def __init__(self, dut: Any, rng: random.Random, share: float) -> None:
        self.dut, self.rng, self.share = dut, rng, share

    def drive(self) -> None:
        self.dut.stall.value = int(self.rng.random() < self.share)

    def sample(self, cycle: int) -> None:
        """Nothing to see."""


def _set_ranges(machine: Machine) -> Script:
    for index, allowed in enumerate((machine.program, machine.arena)):
        answer = yield EngineOp.RANGE, index, DRAM_BASE + allowed.first, allowed.bytes
        assert answer == 0


def _check_memory(machine: Machine, dram: bytearray) -> Script:
    """Compare DRAM, and some words of the scratchpad; poke one."""
    assert dram == machine.dram, "DRAM must hold what was stored"
    for _ in range(6):
        address = 4 * machine.rng.randrange(len(machine.scratchpad) // 4)
        place = slice(address, address + 4)
        word = yield EngineOp.PEEK, 0, address, 0
        if machine.is_known[place].all():
            expected = int.from_bytes(machine.scratchpad[place].tobytes(), "little")
            assert word == expected, f"scratchpad {address:#x}: {word:#x}, not {expected:#x}"
        value = machine.rng.getrandbits(32)
        assert (yield EngineOp.PEEK, 1, address, value) == 0
        machine.scratchpad[place] = list(value.to_bytes(4, "little"))
        machine.is_known[place] = True


def _check_counters(made: JobList) -> Script:
    total = yield EngineOp.COUNTER, EngineCounter.TOTAL, 0, 0
    busy = yield EngineOp.COUNTER, EngineCounter.BUSY, 0, 0
    assert busy == sum(job.groups * job.output_columns for job in made.jobs)
    waits = yield EngineOp.COUNTER, EngineCounter.WAIT_TRANSFERS, 0, 0
    weights = yield EngineOp.COUNTER, EngineCounter.WAIT_WEIGHTS, 0, 0
    assert busy + waits + weights <= total
    assert (yield EngineOp.COUNTER, 15, 0, 0) == 0
    ends = []
    for number in range(len(made.jobs)):
        ends.append((yield EngineOp.JOB_END, 0, number, 0))
    work = [job.groups * job.output_columns for job in made.jobs]
    starts = [0, *ends][: len(ends)]
    assert all(end - start > least for start, end, least in zip(starts, ends, work, strict=True))
    assert not ends or ends[-1] <= total


def _lists_script(machine: Machine, dram: bytearray, values: dict[str, Any]) -> Script:
    """Execute lists, some of them spoilt, and compare what they leave."""
    rng, errors = machine.rng, values["errors"]
    yield from _set_ranges(machine)
    for number in range(values["rounds"]):
        made = machine.make_list(rng.choice((0, 1, rng.randint(1, 12))))
        error = EngineError(errors[number % len(errors)])
        spoilt = broken(made, error, rng) if error != EngineError.NONE else None
        machine.write_list(made)
        if spoilt is not None and spoilt.flipped_bit is not None:
            machine.flip(spoilt.flipped_bit)
        dram[:] = machine.dram
        offset = made.offset
        if spoilt is None and error == EngineError.OUTSIDE_RANGE and made.counts:
            offset = machine.program.bytes
        assert (yield EngineOp.START, 0, offset, made.counts) == 0
        polled = yield EngineOp.STATUS, 0, 0, 0
        status = yield EngineOp.WAIT, 0, 0, 0
        assert polled in {_RUNNING, _RUNNING | status, status}
        assert (yield EngineOp.STATUS, 0, 0, 0) == status
        if spoilt is not None:
            expected = spoilt.error << 16 | spoilt.number
            assert status == expected, f"list {number}: {status:#x}, not {expected:#x} ({spoilt})"
        elif offset != made.offset:
            assert status == EngineError.OUTSIDE_RANGE << 16
        else:
            assert status == 0, f"list {number}: {status:#x}"
            machine.execute(made)
            # The engine has stopped: nothing may come later.
            assert dram == machine.dram, "DRAM must hold what was stored"
            yield from _check_counters(made)
            yield from _check_memory(machine, dram)
            continue
        # What was stored before the error is inside the arena: the port checks that.
        machine.dram[:] = dram
        machine.is_known[:] = False


def _overfed_script(machine: Machine, dram: bytearray, values: dict[str, Any]) -> Script:
    """Execute lists whose last job has too long a stream: each ends with that error."""
    yield from _set_ranges(machine)
    for _ in range(values["rounds"]):
        spoilt = None
        while spoilt is None:
            made = machine.make_list(machine.rng.randint(2, 6))
            spoilt = overfed(made, machine.rng)
        machine.write_list(made)
        dram[:] = machine.dram
        assert (yield EngineOp.START, 0, made.offset, made.counts) == 0
        status = yield EngineOp.WAIT, 0, 0, 0
        expected = spoilt.error << 16 | spoilt.number
        assert status == expected, f"{status:#x}, not {expected:#x} ({spoilt})"
        machine.dram[:] = dram
        machine.is_known[:] = False


def _watchdog_script(machine: Machine, dram: bytearray, values: dict[str, Any]) -> Script:
    """Let lists expire: one that waits for itself, and others in the middle of their work."""
    rng = machine.rng
    yield from _set_ranges(machine)
    assert (yield EngineOp.WATCHDOG, 0, 1000, 0) == 0
    stuck = machine.make_list(0)
    while not (stuck.jobs and stuck.transfers):
        stuck = machine.make_list(8)
    stuck.transfers[0] = EngineTransfer(0, 0, 16, 1, 0)
    machine.write_list(stuck)
    dram[:] = machine.dram
    assert (yield EngineOp.START, 0, stuck.offset, stuck.counts) == 0
    assert (yield EngineOp.START, 0, stuck.offset, stuck.counts) == 1
    for index in range(2):
        assert (yield EngineOp.RANGE, index, 0, 0) == 1
    assert (yield EngineOp.PEEK, 0, 0, 0) == 0
    assert (yield EngineOp.STATUS, 0, 0, 0) == _RUNNING
    assert (yield EngineOp.WAIT, 0, 0, 0) == EngineError.WATCHDOG << 16
    total = yield EngineOp.COUNTER, EngineCounter.TOTAL, 0, 0
    assert 1000 < total < 1000 + 1200, f"{total} cycles"
    for number in range(values["rounds"]):
        has_limit = number % 2 == 0
        limit = rng.randint(1, 1500) if has_limit else 10**6
        made = machine.make_list(12)
        dram[:] = machine.dram
        yield EngineOp.WATCHDOG, 0, limit, 0
        assert (yield EngineOp.START, 0, made.offset, made.counts) == 0
        status = yield EngineOp.WAIT, 0, 0, 0
        if status == 0:
            machine.execute(made)
            yield from _check_memory(machine, dram)
        else:
            assert has_limit
            assert status >> 16 == EngineError.WATCHDOG
            assert status & 0xFFFF <= len(made.jobs)
            machine.dram[:] = dram
            machine.is_known[:] = False


def _costs_script(machine: Machine, dram: bytearray, values: dict[str, Any]) -> Script:
    """Time lists of transfers alone, on a DRAM without refresh."""
    yield from _set_ranges(machine)
    lines = values["lines"]
    half = 16 * lines // 2
    load, store = (EngineTransfer(0, 0, 16 * lines | bit, 0, 0) for bit in (0, 1 << 31))
    halves = [EngineTransfer(half * k, half * k, half, 0, 0) for k in range(2)]
    # The list is fetched in 40 cycles; a load takes 30 more, a store 45, and both one per line.
    for transfers, limit in (([load], 73), (halves, 103), ([store], 88), ([load, store], 120)):
        made = JobList(0, [], transfers)
        machine.write_list(made)
        dram[:] = machine.dram
        assert (yield EngineOp.START, 0, 0, made.counts) == 0
        assert (yield EngineOp.WAIT, 0, 0, 0) == 0
        machine.execute(made)
        assert dram == machine.dram
        total = yield EngineOp.COUNTER, EngineCounter.TOTAL, 0, 0
        moved = lines * (len(transfers) if transfers is not halves else 1)
        assert moved < total < moved + limit, f"{total - moved} cycles more than {moved} lines"


async def _run(
    dut: Any, make_script: Callable[[Machine, bytearray, dict[str, Any]], Script]
) -> None:
    values = bench.parameters()
    rng = random.Random(values["seed"])
    machine = Machine(rng, macs=values["macs"], scratchpad_bytes=values["scratchpad_bytes"])
    dram = bytearray(machine.dram)
    port = DramPort(
        dut,
        "memory",
        memory=dram,
        ranges=[machine.program, machine.arena],
        timing=DramTiming(**values["timing"]),
        rng=rng,
    )
    host = EngineHost(dut, make_script(machine, dram, values), rng, values["stall"])
    dut.commands__valid.value = 0
    dut.memory__rdata__valid.value = 0
    await stream_drivers.reset(dut.clk, dut.rst, PORT_QUIET_CYCLES + 1)
    await FallingEdge(dut.clk)
    await stream_drivers.run_until(
        dut.clk,
        [port, host, _Stalls(dut, rng, values["stall"])],
        lambda: host.is_done,
        limit_cycles=_LIMIT_CYCLES,
    )
    assert port.is_idle, "nothing may be under way when the engine has stopped"


@cocotb.test()
async def lists(dut: Any) -> None:
    """Execute random lists, some with errors; see `_lists_script`."""
    await _run(dut, _lists_script)


@cocotb.test()
async def overfed_lists(dut: Any) -> None:
    """Execute lists that are complete before their streams end; see `_overfed_script`."""
    await _run(dut, _overfed_script)


@cocotb.test()
async def watchdog(dut: Any) -> None:
    """Stop lists at random times; see `_watchdog_script`."""
    await _run(dut, _watchdog_script)


@cocotb.test()
async def costs(dut: Any) -> None:
    """Time transfers; see `_costs_script`."""
    await _run(dut, _costs_script)

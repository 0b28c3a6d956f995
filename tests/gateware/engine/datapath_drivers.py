"""What surrounds the engine's data path in its bench: weights, memory accesses, jobs."""

import random
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from cocotb.triggers import FallingEdge, ReadOnly
from numpy.typing import NDArray

from kiwicha.contract.engine import LINE_BYTES, EngineJob, JobFlag
from kiwicha.contract.latencies import (
    FUSED_TABLES_READY_CYCLES,
    LINE_READ_CYCLES,
    WEIGHTS_READY_CYCLES,
)
from kiwicha.gateware.engine.descriptors import LINE_BITS
from kiwicha.gateware.engine.memory.interfaces import LineSource
from tests.gateware.engine.works import Work
from tests.support.gateware.stream_drivers import Driver

__all__ = ["Access", "Clock", "Job", "Lines", "Weights"]

Bytes = NDArray[np.uint8]
_FULL_CYCLES = 4
"""After the last beat of a fill its zero point stays for as long."""
_WORD_BITS = 9


class Weights:
    """Sends the fills of all works in order, as far ahead of the jobs as the buffer allows."""

    def __init__(self, dut: Any, works: list[Work], rng: random.Random, stall: float) -> None:
        self.dut, self.rng, self.stall = dut, rng, stall
        self.works = deque((work, fill) for work in works for fill in work.fills)
        self.beats: deque[int] = deque()
        self.is_fused = False
        self.pause = 0
        self.is_offered = False
        self.ready: list[int] = []
        """For each fill that is done the cycle in which its group can begin."""
        self.block_bits = len(dut.fill__commands__payload) - _WORD_BITS - 2

    def drive(self) -> None:
        """Offer a command or a beat, which stays until it is taken."""
        dut, rng = self.dut, self.rng
        is_due = bool(self.beats or (self.works and not self.pause))
        self.pause = max(0, self.pause - 1)
        self.is_offered = is_due and (self.is_offered or rng.random() >= self.stall)
        dut.fill__commands__valid.value = int(self.is_offered and not self.beats)
        dut.fill__beats__valid.value = int(self.is_offered and bool(self.beats))
        beat = self.beats[0] if self.beats else rng.getrandbits(128)
        dut.fill__beats__payload.value = beat
        dut.fill__parameters.value = beat
        if self.beats or not is_due:
            dut.fill__commands__payload.value = rng.getrandbits(len(dut.fill__commands__payload))
            return
        work, fill = self.works[0]
        assert isinstance(work.job, EngineJob)
        self.is_fused = fill.is_table and bool(work.job.flags & JobFlag.FUSED)
        flags = self.is_fused << (self.block_bits + _WORD_BITS)
        dut.fill__commands__payload.value = fill.blocks | fill.words << self.block_bits | flags
        dut.fill__zero_point.value = work.job.weight_zero_point & 0x1FF
        dut.fill__is_unsigned.value = int(bool(work.job.flags & JobFlag.UNSIGNED))
        dut.fill__is_table.value = int(fill.is_table)
        dut.fill__is_packed.value = int(bool(work.job.flags & JobFlag.PACKED))

    def sample(self, cycle: int) -> None:
        """Note what is taken."""
        if not self.is_offered:
            return
        if self.beats:
            if int(self.dut.fill__beats__ready.value):
                self.beats.popleft()
                self.is_offered = False
                if not self.beats:
                    self.pause = _FULL_CYCLES
                    wait = FUSED_TABLES_READY_CYCLES if self.is_fused else WEIGHTS_READY_CYCLES
                    self.ready.append(cycle + wait)
        elif int(self.dut.fill__commands__ready.value):
            self.beats.extend(self.works.popleft()[1].beats)
            self.is_offered = False


@dataclass(frozen=True)
class Access:
    """One access of a line."""

    line: int
    is_write: bool = False
    mask: int = 0
    data: int = 0


class Lines:
    """Accesses of the scratchpad's lines, with stalls; every read is compared with ``memory``."""

    def __init__(self, dut: Any, memory: Bytes, rng: random.Random, stall: float) -> None:
        self.dut, self.memory, self.rng, self.stall = dut, memory, rng, stall
        self.queue: deque[Access] = deque()
        self.readable: list[int] = []
        """While nothing is queued, these lines are read..."""
        self.writable: list[int] = []
        """...and these are written."""
        self.current: Access | None = None
        self.due: dict[int, tuple[int, bytes]] = {}

    @property
    def is_idle(self) -> bool:
        """Every queued access was taken, and every read compared."""
        return not self.queue and self.current is None and not self.due

    def drive(self) -> None:
        """Offer an access, which stays until it is taken; show other lines but for its reads."""
        dut, rng = self.dut, self.rng
        if self.current is None and rng.random() >= self.stall:
            self.current = self.queue.popleft() if self.queue else self._competing()
        access = self.current
        is_read = access is not None and not access.is_write
        source = LineSource.MEMORY if is_read else rng.choice(list(LineSource))
        dut.other_lines__source.value = source.value
        dut.other_lines__loaded.value = rng.getrandbits(8 * LINE_BYTES)
        dut.lines__accesses__valid.value = int(access is not None)
        if access is None:
            dut.lines__accesses__payload.value = rng.getrandbits(len(dut.lines__accesses__payload))
            return
        dut.lines__accesses__payload.value = (
            access.line
            | access.is_write << LINE_BITS
            | access.mask << (LINE_BITS + 1)
            | access.data << (LINE_BITS + 1 + LINE_BYTES)
        )

    def _competing(self) -> Access | None:
        rng = self.rng
        if self.writable and rng.random() < 0.5:
            return Access(
                rng.choice(self.writable), True, rng.getrandbits(16), rng.getrandbits(128)
            )
        return Access(rng.choice(self.readable)) if self.readable else None

    def sample(self, cycle: int) -> None:
        """Compare what a read gave; do to ``memory`` what a write does."""
        if cycle in self.due:
            line, expected = self.due.pop(cycle)
            got = int(self.dut.lines__read_data.value).to_bytes(LINE_BYTES, "little")
            assert got == expected, (
                f"cycle {cycle}, bytes from {line * LINE_BYTES}: {got.hex(' ')},"
                f" not {expected.hex(' ')}"
            )
        access = self.current
        if access is None or not int(self.dut.lines__accesses__ready.value):
            return
        self.current = None
        view = self.memory[access.line * LINE_BYTES :][:LINE_BYTES]
        if access.is_write:
            for byte in range(LINE_BYTES):
                if access.mask >> byte & 1:
                    view[byte] = access.data >> 8 * byte & 0xFF
        else:
            self.due[cycle + LINE_READ_CYCLES] = access.line, view.tobytes()

    def fill(self) -> None:
        """Queue writes of every line: random bytes."""
        for line in range(len(self.memory) // LINE_BYTES):
            self.queue.append(Access(line, True, (1 << LINE_BYTES) - 1, self.rng.getrandbits(128)))

    def check(self, first_byte: int) -> None:
        """Queue reads of every line, starting with that of a byte."""
        lines = len(self.memory) // LINE_BYTES
        first = first_byte // LINE_BYTES
        self.queue.extend(Access((first + line) % lines) for line in range(lines))

    def share(self, work: Work) -> None:
        """Compete with a job: write no line that it reads or writes, read none that it writes."""
        lines = range(len(self.memory) // LINE_BYTES)
        outputs = {byte // LINE_BYTES for byte in work.output}
        inputs = {byte // LINE_BYTES for span in work.inputs for byte in span}
        self.readable = [line for line in lines if line not in outputs]
        self.writable = [line for line in self.readable if line not in inputs]

    def stop_sharing(self) -> None:
        """Leave the memory alone."""
        self.readable, self.writable = [], []


class Job:
    """Starts one job and counts its cycles."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.starts = False
        self.started_at: int | None = None
        self.done_at: int | None = None
        self.busy = self.waits_weights = self.held = 0

    def start(self, word: int) -> None:
        """Start in the coming cycle."""
        self.dut.job.value = word
        self.starts = True
        self.started_at = self.done_at = None
        self.busy = self.waits_weights = self.held = 0

    def drive(self) -> None:
        """Give the start."""
        self.dut.start.value = int(self.starts)

    def sample(self, cycle: int) -> None:
        """Count."""
        if self.starts:
            assert not int(self.dut.is_busy.value)
            self.started_at, self.starts = cycle, False
            return
        if self.started_at is None or self.done_at is not None:
            assert not int(self.dut.done.value)
            return
        assert int(self.dut.is_busy.value)
        counts = int(self.dut.counts.value)
        self.busy += counts & 1
        self.waits_weights += counts >> 1 & 1
        self.held += counts >> 2
        if int(self.dut.done.value):
            self.done_at = cycle


class Clock:
    """Runs the drivers from one event to the next, with one count of cycles."""

    def __init__(self, dut: Any, drivers: Sequence[Driver]) -> None:
        self.dut, self.drivers, self.cycle = dut, drivers, 0

    async def run_until(self, is_done: Callable[[], bool], limit_cycles: int) -> None:
        """Run until something is so after a cycle."""
        for _ in range(limit_cycles):
            for driver in self.drivers:
                driver.drive()
            await ReadOnly()
            for driver in self.drivers:
                driver.sample(self.cycle)
            self.cycle += 1
            await FallingEdge(self.dut.clk)
            if is_done():
                return
        raise AssertionError(f"not done after {limit_cycles} cycles")

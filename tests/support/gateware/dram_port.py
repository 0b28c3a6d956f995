"""A LiteDRAM native port in cocotb: latency, stalls and refresh, and a guard over addresses."""

import random
from collections import deque
from dataclasses import dataclass
from typing import Any

from kiwicha.contract.engine import LINE_BYTES

__all__ = ["DramPort", "DramRange", "DramTiming"]


@dataclass(frozen=True)
class DramTiming:
    """How a port behaves.

    Parameters
    ----------
    latency_cycles : int
        From a command to its data, at least; 1 or more.
    jitter_cycles : int
        Added to it at random, at most.
    stall : float
        Share of the cycles, 0 to 1, in which commands or data wait.
    refresh_every_cycles, refresh_cycles : int
        Nothing moves for the latter, after each of the former; 0: never.
    """

    latency_cycles: int = 16
    jitter_cycles: int = 0
    stall: float = 0.0
    refresh_every_cycles: int = 0
    refresh_cycles: int = 0


@dataclass(frozen=True)
class DramRange:
    """Bytes of DRAM that may be read, and perhaps written."""

    first: int
    bytes: int
    is_writable: bool

    def holds(self, address: int) -> bool:
        """Return whether a whole word at the byte address lies inside."""
        return self.first <= address and address + LINE_BYTES <= self.first + self.bytes


class DramPort:
    """Driver of a `MEMORY_PORT`.

    Commands are executed in order, one per cycle. As in LiteDRAM, data are taken and given when it
    is time, whether or not the other side has them or is ready: what is missed is an error here.

    Parameters
    ----------
    dut : cocotb handle
        Its ``<prefix>__cmd__valid`` and so on.
    prefix : str
        Of the port.
    memory : bytearray
        Contents of DRAM, from byte 0 on.
    ranges : list of DramRange
        All that may be touched.
    timing : DramTiming
    rng : random.Random
    """

    def __init__(
        self,
        dut: Any,
        prefix: str,
        *,
        memory: bytearray,
        ranges: list[DramRange],
        timing: DramTiming,
        rng: random.Random,
    ) -> None:
        self.memory, self.ranges, self.timing, self.rng = memory, ranges, timing, rng
        self._cmd, self._wdata, self._rdata = (
            {
                part: getattr(dut, f"{prefix}__{channel}__{part}")
                for part in ("valid", "payload", "ready")
                if (channel, part) != ("rdata", "ready")
            }
            for channel in ("cmd", "wdata", "rdata")
        )
        self._queue: deque[tuple[int, bool, int]] = deque()
        self._offered: int | None = None
        self._cycle = 0
        self.reads = 0
        self.writes = 0
        self.words_by_cycle: list[int] = []
        """Cycles in which a word moved."""

    @property
    def is_idle(self) -> bool:
        """Every command that was taken is complete."""
        return not self._queue

    def _is_refreshing(self) -> bool:
        every = self.timing.refresh_every_cycles
        return every > 0 and self._cycle % (every + self.timing.refresh_cycles) >= every

    def drive(self) -> None:
        """Take a command or not; complete the oldest one or not."""
        rng, is_refreshing = self.rng, self._is_refreshing()
        self._takes = not is_refreshing and rng.random() >= self.timing.stall
        self._cmd["ready"].value = int(self._takes)
        completes = (
            bool(self._queue)
            and self._queue[0][0] <= self._cycle
            and not is_refreshing
            and rng.random() >= self.timing.stall
        )
        self._completes: tuple[bool, int] | None = self._queue.popleft()[1:] if completes else None
        is_read = self._completes is not None and not self._completes[0]
        is_write = self._completes is not None and self._completes[0]
        self._wdata["ready"].value = int(is_write)
        self._rdata["valid"].value = int(is_read)
        word = rng.getrandbits(8 * LINE_BYTES)
        if is_read and self._completes is not None:
            first = self._completes[1]
            word = int.from_bytes(self.memory[first : first + LINE_BYTES], "little")
        self._rdata["payload"].value = word

    def sample(self, cycle: int) -> None:
        """Check what is offered, and note what is taken."""
        if self._completes is not None:
            self.words_by_cycle.append(cycle)
            if self._completes[0]:
                self._write(self._completes[1])
        if int(self._cmd["valid"].value):
            payload = int(self._cmd["payload"].value)
            assert self._offered in {None, payload}, "a command that waited changed"
            self._offered = payload
            if self._takes:
                self._offered = None
                self._accept(bool(payload & 1), (payload >> 1) * LINE_BYTES)
        else:
            assert self._offered is None, "a command that waited went away"
        self._cycle += 1

    def _accept(self, is_write: bool, address: int) -> None:
        allowed = [
            allowed
            for allowed in self.ranges
            if allowed.holds(address) and (allowed.is_writable or not is_write)
        ]
        assert allowed, f"{'write' if is_write else 'read'} of {address:#x} is outside the ranges"
        due = self._cycle + self.timing.latency_cycles
        due += self.rng.randint(0, self.timing.jitter_cycles)
        self._queue.append((due, is_write, address))
        self.reads += not is_write
        self.writes += is_write

    def _write(self, address: int) -> None:
        assert int(self._wdata["valid"].value), "data must be there when the port takes it"
        payload = int(self._wdata["payload"].value)
        mask = payload >> 8 * LINE_BYTES
        for k in range(LINE_BYTES):
            if mask >> k & 1:
                self.memory[address + k] = payload >> 8 * k & 0xFF

"""Drive and check ready/valid streams in cocotb, with random stalls on either side."""

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, ReadOnly

__all__ = ["CLOCK_NS", "Driver", "Sink", "Source", "reset", "run_until"]

CLOCK_NS = 10


class Driver(Protocol):
    """One side of one stream."""

    def drive(self) -> None:
        """Set the signals of the coming clock edge."""

    def sample(self, cycle: int) -> None:
        """Look at the signals as the coming clock edge will find them."""


class Source:
    """Offer payloads one after the other; once offered, a payload stays until it is taken.

    While nothing is offered the payload is random: the receiver must not use it.

    Parameters
    ----------
    valid, ready : cocotb handles
        The stream's flags; ``ready`` is None if the stream is always ready.
    fields : mapping of str to cocotb handle
        The payload.
    items : sequence of mappings of str to int
        What to offer.
    rng : random.Random
        Decides about stalls.
    stall : float
        Share of the cycles, 0 to 1, in which a next payload is not offered.
    """

    def __init__(
        self,
        valid: Any,
        ready: Any,
        fields: Mapping[str, Any],
        items: Sequence[Mapping[str, int]],
        rng: random.Random,
        stall: float,
    ) -> None:
        self.valid, self.ready, self.fields = valid, ready, fields
        self.items, self.rng, self.stall = items, rng, stall
        self.is_offered = False
        self.taken_cycles: list[int] = []
        """Cycle in which each item was taken."""

    @property
    def is_done(self) -> bool:
        """Every item was taken."""
        return len(self.taken_cycles) == len(self.items)

    def drive(self) -> None:
        """Offer the next item, or keep offering it, or stall."""
        if not self.is_offered and not self.is_done:
            self.is_offered = self.rng.random() >= self.stall
        self.valid.value = int(self.is_offered)
        for name, handle in self.fields.items():
            if self.is_offered:
                handle.value = self.items[len(self.taken_cycles)][name]
            else:
                handle.value = self.rng.getrandbits(len(handle))

    def sample(self, cycle: int) -> None:
        """Note whether the item is taken."""
        if self.is_offered and (self.ready is None or int(self.ready.value)):
            self.taken_cycles.append(cycle)
            self.is_offered = False


class Sink:
    """Take payloads, and check that one that waits neither changes nor goes away.

    Parameters
    ----------
    valid, ready, payload : cocotb handles
        The stream; ``ready`` is None if the stream is always ready.
    rng : random.Random
        Decides about stalls.
    stall : float
        Share of the cycles, 0 to 1, in which nothing is taken.
    """

    def __init__(
        self, valid: Any, ready: Any, payload: Any, rng: random.Random, stall: float
    ) -> None:
        self.valid, self.ready, self.payload = valid, ready, payload
        self.rng, self.stall = rng, stall
        self.waiting: int | None = None
        self.taken: list[int] = []
        self.taken_cycles: list[int] = []
        self.first_valid_cycles: list[int] = []
        """Cycle in which each payload was there for the first time."""

    def drive(self) -> None:
        """Be ready, or not."""
        self.is_ready = self.ready is None or self.rng.random() >= self.stall
        if self.ready is not None:
            self.ready.value = int(self.is_ready)

    def sample(self, cycle: int) -> None:
        """Take what is there."""
        is_valid = int(self.valid.value)
        if self.waiting is not None and not is_valid:
            raise AssertionError(f"cycle {cycle}: a payload that waited went away")
        if not is_valid:
            return
        payload = int(self.payload.value)
        if self.waiting is None:
            self.first_valid_cycles.append(cycle)
        elif payload != self.waiting:
            raise AssertionError(f"cycle {cycle}: a payload that waited changed")
        self.waiting = None if self.is_ready else payload
        if self.is_ready:
            self.taken.append(payload)
            self.taken_cycles.append(cycle)


async def reset(clock: Any, signal: Any, rest_cycles: int = 0) -> None:
    """Start the clock, hold the synchronous reset for two cycles, and wait for some more."""
    Clock(clock, CLOCK_NS, unit="ns").start()
    signal.value = 1
    for _ in range(2):
        await FallingEdge(clock)
    signal.value = 0
    for _ in range(rest_cycles):
        await FallingEdge(clock)


async def run_until(
    clock: Any, drivers: Sequence[Driver], is_done: Callable[[], bool], *, limit_cycles: int
) -> None:
    """Run drivers cycle by cycle: all drive after the falling edge, all sample what comes of it.

    Raises
    ------
    AssertionError
        If it is not done within ``limit_cycles``.
    """
    for cycle in range(limit_cycles):
        for driver in drivers:
            driver.drive()
        await ReadOnly()
        for driver in drivers:
            driver.sample(cycle)
        if is_done():
            return
        await FallingEdge(clock)
    raise AssertionError(f"not done after {limit_cycles} cycles")

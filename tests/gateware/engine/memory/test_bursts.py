"""A reader and a writer alone: when bursts begin and end, and what finds a place."""

import functools
import re
from collections import deque
from collections.abc import Callable
from typing import Any

import pytest
from amaranth.sim import SimulatorContext

from kiwicha.gateware.engine.memory.dma_reader import DmaReader
from kiwicha.gateware.engine.memory.dma_writer import DmaWriter
from kiwicha.gateware.engine.memory.memory_port import MemoryPort
from tests.support.gateware.unit_simulation import UnitSimulation

DEPTH = 16
HALF = DEPTH // 2


@pytest.mark.filterwarnings("ignore::amaranth.hdl.UnusedElaboratable")
@pytest.mark.parametrize("kind", [DmaReader, DmaWriter])
def test_depths(kind: Callable[..., Any]) -> None:
    for depth in (8, 16, 512):
        assert kind(depth=depth).depth == depth
    refused: tuple[Any, ...] = (0, 4, 7, 9, 24, 513, 1024, 16.0)
    for wrong in refused:
        message = f"depth must be a power of two from 8 to 512, not {wrong!r}"
        with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
            kind(depth=wrong)


@pytest.mark.filterwarnings("ignore::amaranth.hdl.UnusedElaboratable")
def test_one_to_seven_readers() -> None:
    for readers in (1, 7):
        assert len(MemoryPort(readers=readers).readers) == readers
    refused: tuple[Any, ...] = (0, 8, 2.0)
    for wrong in refused:
        message = f"readers must be an integer from 1 to 7, not {wrong!r}"
        with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
            MemoryPort(readers=wrong)


@functools.cache
def reading() -> UnitSimulation[DmaReader]:
    return UnitSimulation(DmaReader(depth=DEPTH))


@functools.cache
def writing() -> UnitSimulation[DmaWriter]:
    return UnitSimulation(DmaWriter(depth=DEPTH))


class Reading:
    """A reader, and DRAM that gives each word in the cycle behind its command."""

    def __init__(self, ctx: SimulatorContext, dut: DmaReader) -> None:
        self.ctx, self.dut = ctx, dut
        self.asked: list[tuple[int, int]] = []
        self.taken: list[tuple[int, int]] = []
        self.coming: deque[tuple[int, int]] = deque()

    async def tick(self, *, takes: bool, gives: bool = True) -> None:
        """Let a cycle pass, in which a beat is taken, and a command if there is one."""
        ctx, port = self.ctx, self.dut.port
        ctx.set(self.dut.beats.ready, takes)
        ctx.set(port.commands.ready, gives)
        ctx.set(port.beats.valid, bool(self.coming))
        if self.coming:
            address, is_last = self.coming.popleft()
            ctx.set(port.beats.payload, {"data": 3 * address, "is_last": is_last})
        if gives and ctx.get(port.commands.valid):
            command = ctx.get(port.commands.payload)
            self.asked.append((command.address, command.is_last))
            self.coming.append(self.asked[-1])
        if takes and ctx.get(self.dut.beats.valid):
            beat = ctx.get(self.dut.beats.payload)
            self.taken.append((beat.data, beat.is_last))
        await ctx.tick()

    async def ask(self, address: int, words: int) -> None:
        """Give a request, which is taken."""
        requests = self.dut.requests
        self.ctx.set(requests.payload, {"address": address, "words": words, "end": address + words})
        self.ctx.set(requests.valid, 1)
        assert self.ctx.get(requests.ready)
        await self.tick(takes=False)
        self.ctx.set(requests.valid, 0)


def test_a_read_burst_begins_with_half_the_fifo_and_ends_when_it_is_full() -> None:
    dut = reading().component

    async def bench(ctx: SimulatorContext) -> None:
        around = Reading(ctx, dut)
        await around.ask(100, 3 * DEPTH)
        for _ in range(2 * DEPTH):
            await around.tick(takes=False)
        assert [address for address, _ in around.asked] == list(range(100, 100 + DEPTH))
        # Places come back one by one: all but half of them are not enough.
        for taken in range(1, HALF):
            await around.tick(takes=True)
            for _ in range(3):
                await around.tick(takes=False)
            assert (len(around.taken), len(around.asked)) == (taken, DEPTH)
        await around.tick(takes=True)
        for _ in range(2 * DEPTH):
            await around.tick(takes=False)
        assert len(around.asked) == DEPTH + HALF
        assert not ctx.get(dut.requests.ready)
        for _ in range(5 * DEPTH):
            await around.tick(takes=True)
        whole = [(100 + k, int(k == 3 * DEPTH - 1)) for k in range(3 * DEPTH)]
        assert around.asked == whole
        assert around.taken == [(3 * address, is_last) for address, is_last in whole]
        assert ctx.get(dut.requests.ready)

    reading().run(bench)


def test_a_command_waits_until_it_is_taken() -> None:
    dut = reading().component

    async def bench(ctx: SimulatorContext) -> None:
        around = Reading(ctx, dut)
        for address, words in ((7, 1), (900, 2)):
            await around.ask(address, words)
            for _ in range(4):
                await around.tick(takes=True, gives=False)
                assert ctx.get(dut.port.commands.valid)
                assert ctx.get(dut.port.commands.payload.address) == address
                assert not ctx.get(dut.requests.ready)
            for _ in range(8):
                await around.tick(takes=True)
        assert around.taken == [(21, 1), (2700, 0), (2703, 1)]

    reading().run(bench)


class Writing:
    """A writer, and DRAM that takes the data of commands, in order."""

    def __init__(self, ctx: SimulatorContext, dut: DmaWriter) -> None:
        self.ctx, self.dut = ctx, dut
        self.given: list[int] = []
        self.addresses: list[int] = []
        self.written: list[int] = []

    async def tick(self, *, stores: bool = False, gives: bool = True, takes: bool = True) -> None:
        """Let a cycle pass, in which a beat comes, a command and data are taken."""
        ctx, dut = self.ctx, self.dut
        ctx.set(dut.store.beats.valid, stores)
        if stores:
            ctx.set(dut.store.beats.payload, {"data": 5 * len(self.given), "mask": 0xFFFF})
            self.given.append(5 * len(self.given))
        ctx.set(dut.port.commands.ready, gives)
        if gives and ctx.get(dut.port.commands.valid):
            self.addresses.append(ctx.get(dut.port.commands.payload))
        is_owed = takes and len(self.written) < len(self.addresses)
        ctx.set(dut.port.beats.ready, is_owed)
        if is_owed:
            assert ctx.get(dut.port.beats.valid)
            beat = ctx.get(dut.port.beats.payload)
            assert beat.mask == 0xFFFF
            self.written.append(beat.data)
        await ctx.tick()

    async def ask(self, address: int, words: int) -> None:
        """Give a request, which is taken."""
        ctx, requests = self.ctx, self.dut.requests
        assert ctx.get(self.dut.store.is_idle)
        assert ctx.get(requests.ready)
        ctx.set(requests.payload, {"address": address, "words": words, "end": address + words})
        ctx.set(requests.valid, 1)
        await self.tick()
        ctx.set(requests.valid, 0)


def test_there_is_room_for_those_that_are_on_their_way() -> None:
    dut = writing().component

    async def bench(ctx: SimulatorContext) -> None:
        around = Writing(ctx, dut)
        await around.ask(40, DEPTH)
        for level in range(DEPTH + 1):
            assert ctx.get(dut.store.has_room) == (level <= DEPTH - DmaWriter.ROOM)
            if level < DEPTH:
                await around.tick(stores=True, gives=False)
        for _ in range(3 * DEPTH):
            await around.tick()
        assert around.addresses == list(range(40, 40 + DEPTH))
        assert around.written == around.given
        assert ctx.get(dut.store.is_idle)

    writing().run(bench)


def test_a_write_burst_begins_with_half_a_fifo_or_the_rest() -> None:
    dut = writing().component

    async def bench(ctx: SimulatorContext) -> None:
        around = Writing(ctx, dut)
        await around.ask(200, 2 * HALF + 3)
        for burst in (HALF, HALF, 3):
            before = len(around.addresses)
            for _ in range(burst - 1):
                await around.tick(stores=True)
                for _ in range(3):
                    await around.tick()
            # The words of a range that are left are enough, fewer than half a FIFO are not.
            assert len(around.addresses) == before
            await around.tick(stores=True)
            for _ in range(burst + 4):
                assert not ctx.get(dut.requests.ready)
                await around.tick(takes=False)
            assert len(around.addresses) == before + burst
            # Data that were not taken keep it busy.
            assert not ctx.get(dut.store.is_idle)
            for _ in range(burst):
                await around.tick()
        assert around.addresses == list(range(200, 200 + 2 * HALF + 3))
        assert around.written == around.given
        assert ctx.get(dut.requests.ready)
        await around.ask(3, 1)
        await around.tick(stores=True)
        for _ in range(6):
            await around.tick()
        assert around.addresses[-1] == 3
        assert around.written == around.given

    writing().run(bench)

"""Readers, a writer and the port between them, with DRAM behind it, cycle by cycle."""

import functools
import itertools
from collections import deque
from typing import Any

import pytest
from amaranth import Module, ResetInserter
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.sim import SimulatorContext

from kiwicha.contract.latencies import PORT_QUIET_CYCLES, PORT_TURN_WORDS
from kiwicha.gateware.engine.memory.dma_reader import DmaReader
from kiwicha.gateware.engine.memory.dma_writer import DmaWriter
from kiwicha.gateware.engine.memory.interfaces import (
    GRANT,
    READ_BEAT,
    MemoryPortSignature,
    StoreSignature,
)
from kiwicha.gateware.engine.memory.memory_port import MemoryPort
from tests.support.choices import by_day
from tests.support.gateware.unit_simulation import UnitSimulation

READERS = 2
DEPTH = 32
LATENCY_CYCLES = 17
LIMIT_CYCLES = 1000 + PORT_QUIET_CYCLES
COMMAND = tuple[int, bool, int]
"""Cycle, whether it is a write, and address."""


class MemoryPath(wiring.Component):
    """What the controller has between requests and DRAM, without windows."""

    def __init__(self) -> None:
        self.readers = [DmaReader(depth=DEPTH) for _ in range(READERS)]
        self.writer = DmaWriter(depth=DEPTH)
        self.port = MemoryPort(readers=READERS)
        super().__init__({
            "requests": In(stream.Signature(GRANT)).array(READERS),
            "beats": Out(stream.Signature(READ_BEAT)).array(READERS),
            "writes": In(stream.Signature(GRANT)),
            "store": In(StoreSignature()),
            "memory": Out(MemoryPortSignature()),
            "halt": In(1),
            "is_idle": Out(1),
            "reset": In(1),
        })

    def elaborate(self, platform: object) -> Module:
        """Connect them."""
        m = Module()
        reset = ResetInserter(self.reset)
        port, writer = self.port, self.writer
        m.submodules.port = reset(port)
        m.submodules.writer = reset(writer)
        for number, reader in enumerate(self.readers):
            m.submodules[f"reader_{number}"] = reset(reader)
            wiring.connect(m, reader.port, port.readers[number])
            wiring.connect(m, wiring.flipped(self.requests[number]), reader.requests)
            wiring.connect(m, reader.beats, wiring.flipped(self.beats[number]))
        wiring.connect(m, writer.port, port.writer)
        wiring.connect(m, wiring.flipped(self.writes), writer.requests)
        wiring.connect(m, wiring.flipped(self.store), writer.store)
        wiring.connect(m, port.port, wiring.flipped(self.memory))
        m.d.comb += [port.halt.eq(self.halt), self.is_idle.eq(port.is_idle)]
        return m


class Surroundings:
    """DRAM that takes a command in any cycle but some, and clients that take what comes.

    Parameters
    ----------
    ctx : SimulatorContext
    dut : MemoryPath
    refuses_every : int
        Each such cycle DRAM takes nothing; 0: none.
    """

    def __init__(self, ctx: SimulatorContext, dut: MemoryPath, refuses_every: int = 0) -> None:
        self.ctx, self.dut, self.refuses_every = ctx, dut, refuses_every
        self.cycle = 0
        self.owed: deque[tuple[int, int]] = deque()
        self.unwritten: deque[int] = deque()
        self.commands: list[COMMAND] = []
        self.words: list[list[tuple[int, int]]] = [[] for _ in range(READERS)]
        self.written: dict[int, tuple[int, int]] = {}
        self.to_store: deque[tuple[int, int]] = deque()

    async def tick(self) -> None:
        """Let a cycle pass."""
        ctx, memory = self.ctx, self.dut.memory
        refuses = self.refuses_every and self.cycle % self.refuses_every == 0
        ctx.set(memory.cmd.ready, not refuses)
        comes = bool(self.owed) and self.owed[0][0] <= self.cycle
        ctx.set(memory.rdata.valid, comes)
        if comes:
            ctx.set(memory.rdata.payload, 7 * self.owed.popleft()[1])
        ctx.set(memory.wdata.ready, bool(self.unwritten))
        if self.unwritten:
            # Without a look at valid, as LiteDRAM.
            data = ctx.get(memory.wdata.payload)
            self.written[self.unwritten.popleft()] = (data.data, data.we)
        if ctx.get(memory.cmd.valid) and not refuses:
            command = ctx.get(memory.cmd.payload)
            self.commands.append((self.cycle, bool(command.we), command.addr))
            if command.we:
                self.unwritten.append(command.addr)
            else:
                self.owed.append((self.cycle + LATENCY_CYCLES, command.addr))
        gives = bool(self.to_store) and bool(ctx.get(self.dut.store.has_room))
        ctx.set(self.dut.store.beats.valid, gives)
        if gives:
            data, mask = self.to_store.popleft()
            ctx.set(self.dut.store.beats.payload, {"data": data, "mask": mask})
        for number, beats in enumerate(self.dut.beats):
            ctx.set(beats.ready, 1)
            if ctx.get(beats.valid):
                beat = ctx.get(beats.payload)
                self.words[number].append((beat.data, beat.is_last))
        await ctx.tick()
        self.cycle += 1

    async def begin(self) -> None:
        """Let the port find that DRAM owes nothing."""
        for cycle in range(PORT_QUIET_CYCLES + 1):
            assert self.ctx.get(self.dut.is_idle) == (cycle == PORT_QUIET_CYCLES)
            await self.ctx.tick()
        self.cycle += 1

    async def ask(self, requests: Any, address: int, words: int) -> None:
        """Ask for a range; it must be taken at once."""
        self.ctx.set(requests.payload, {"address": address, "words": words, "end": address + words})
        self.ctx.set(requests.valid, 1)
        assert self.ctx.get(requests.ready)
        await self.tick()
        self.ctx.set(requests.valid, 0)

    async def finish(self) -> None:
        """Let everything that was asked for happen."""
        for _ in range(4):
            await self.tick()
        for _ in range(LIMIT_CYCLES):
            await self.tick()
            is_done = self.ctx.get(self.dut.is_idle) and not self.owed and not self.to_store
            if is_done and self.ctx.get(self.dut.store.is_idle):
                break
        else:
            pytest.fail("the port must come to rest")
        for _ in range(4):
            await self.tick()


@functools.cache
def simulation() -> UnitSimulation[MemoryPath]:
    return UnitSimulation(MemoryPath())


def expected(address: int, words: int) -> list[tuple[int, int]]:
    return [(7 * (address + k), int(k == words - 1)) for k in range(words)]


@pytest.mark.parametrize("refuses_every", [0, 3])
@pytest.mark.parametrize("words", [1, 2, DEPTH // 2, 100])
def test_everybody_gets_what_was_asked_for(words: int, refuses_every: int) -> None:
    dut = simulation().component

    async def bench(ctx: SimulatorContext) -> None:
        around = Surroundings(ctx, dut, refuses_every)
        await around.begin()
        await around.ask(dut.requests[0], 1000, words)
        await around.ask(dut.requests[1], 5000, words + 1)
        stored = [(11 * k, 1 << k % 16) for k in range(words)]
        await around.ask(dut.writes, 9000, words)
        around.to_store.extend(stored)
        assert not ctx.get(dut.is_idle)
        await around.finish()
        assert around.words == [expected(1000, words), expected(5000, words + 1)]
        assert around.written == {9000 + k: beat for k, beat in enumerate(stored)}
        # And once more, from where they are.
        await around.ask(dut.requests[1], 20, 3)
        await around.finish()
        assert around.words[1][words + 1 :] == expected(20, 3)

    simulation().run(bench)


def test_a_turn_is_as_long_as_it_should_be() -> None:
    dut = simulation().component

    async def bench(ctx: SimulatorContext) -> None:
        around = Surroundings(ctx, dut)
        await around.begin()
        await around.ask(dut.requests[0], 1000, 200)
        await around.ask(dut.requests[1], 5000, 200)
        await around.finish()
        who = [address >= 5000 for _, _, address in around.commands]
        turns = [len(list(group)) for _, group in itertools.groupby(who)]
        assert max(turns) <= PORT_TURN_WORDS
        # Where its FIFO does not end it, a turn is a whole one.
        assert turns.count(PORT_TURN_WORDS) >= len(turns) // 2

    simulation().run(bench)


def test_commands_follow_each_other() -> None:
    """A word per cycle, and a burst begins with half a FIFO."""
    dut = simulation().component

    async def bench(ctx: SimulatorContext) -> None:
        around = Surroundings(ctx, dut)
        await around.begin()
        await around.ask(dut.requests[0], 1000, DEPTH)
        asked = around.cycle
        await around.finish()
        cycles = [cycle for cycle, _, _ in around.commands]
        assert cycles == list(range(cycles[0], cycles[0] + DEPTH))
        assert cycles[0] - asked <= 3
        await around.ask(dut.writes, 9000, DEPTH)
        around.commands.clear()
        around.to_store.extend([(0, 0)] * (DEPTH // 2 - 1))
        for _ in range(40):
            await around.tick()
        assert not around.commands
        around.to_store.extend([(0, 0)] * (DEPTH // 2 + 1))
        await around.finish()
        assert len(around.commands) == DEPTH

    simulation().run(bench)


@pytest.mark.parametrize("gap", by_day(0, 8, *range(1, 8), *range(9, 41)))
def test_words_from_before_a_reset_go_to_nobody(gap: int) -> None:
    """DRAM is not reset."""
    dut = simulation().component

    async def bench(ctx: SimulatorContext) -> None:
        around = Surroundings(ctx, dut)
        await around.begin()
        for number, requests in enumerate(dut.requests):
            await around.ask(requests, 100 * (number + 1), 20)
        for _ in range(12):
            await around.tick()
        assert around.owed
        ctx.set(dut.reset, 1)
        await around.tick()
        await around.tick()
        ctx.set(dut.reset, 0)
        for words in around.words:
            words.clear()
        for _ in range(gap):
            await around.tick()
            assert not ctx.get(dut.is_idle)
        await around.ask(dut.requests[1], 900, 4)
        await around.ask(dut.writes, 9000, 2)
        around.to_store.extend([(5, 1), (6, 2)])
        await around.finish()
        assert around.words == [[], expected(900, 4)]
        assert around.written == {9000: (5, 1), 9001: (6, 2)}

    simulation().run(bench)


def test_nothing_is_asked_in_a_halt() -> None:
    dut = simulation().component

    async def bench(ctx: SimulatorContext) -> None:
        around = Surroundings(ctx, dut)
        await around.begin()
        await around.ask(dut.requests[0], 1000, DEPTH)
        for _ in range(6):
            await around.tick()
        ctx.set(dut.halt, 1)
        await around.finish()
        assert 0 < len(around.commands) < DEPTH
        assert len(around.words[0]) == len(around.commands)
        ctx.set(dut.halt, 0)
        for _ in range(3 * LATENCY_CYCLES):
            await around.tick()
        assert around.words[0] == expected(1000, DEPTH)

    simulation().run(bench)

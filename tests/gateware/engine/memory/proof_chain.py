"""What is proven of the way from requests to DRAM, as a whole: through windows, DMA and port."""

from typing import Any

from amaranth import Array, Cat, Module, Mux, Signal, Value
from amaranth.hdl import Assert, Assume
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from kiwicha.gateware.engine.memory.dma_reader import DmaReader
from kiwicha.gateware.engine.memory.dma_writer import DmaWriter
from kiwicha.gateware.engine.memory.interfaces import (
    PORT_ADDRESS_BITS,
    RANGE_REQUEST,
    READ_BEAT,
    MemoryPortSignature,
    RangeSettingSignature,
    StoreSignature,
)
from kiwicha.gateware.engine.memory.memory_port import MemoryPort
from kiwicha.gateware.engine.memory.protection import ProtectionRanges
from tests.support.gateware.proof import Rules, assume_stream, signals_of

__all__ = ["WindowChain", "window_chain"]


class WindowChain(wiring.Component):
    """Windows, one client's reader, the last client's writer, and the port, as in the `Controller`.

    Parameters
    ----------
    clients : int
        Of the windows. What the others are granted is taken at any time.
    client : int
        The one with a reader; the last one has the writer as well.
    parts : dict
        Classes that stand in for some of these, by name.

    Members
    -------
    setting, requests
        As of the `ProtectionRanges`.
    others_ready : ``In(clients)``
        Grants of other clients are taken.
    beats : ``Out(stream.Signature(READ_BEAT))``
        Of the reader.
    store : ``In(StoreSignature())``
        To the writer.
    memory : ``Out(MemoryPortSignature())``
    halt : ``In(1)``
        As of the `MemoryPort`.
    """

    def __init__(self, *, clients: int, client: int, **parts: Any) -> None:
        self.client = client
        self.ranges = parts.get("ranges", ProtectionRanges)(clients=clients)
        self.reader = parts.get("reader", DmaReader)(depth=8)
        self.writer = parts.get("writer", DmaWriter)(depth=16)
        self.port = parts.get("port", MemoryPort)(readers=1)
        super().__init__({
            "setting": In(RangeSettingSignature()),
            "requests": In(stream.Signature(RANGE_REQUEST)).array(clients),
            "others_ready": In(clients),
            "beats": Out(stream.Signature(READ_BEAT)),
            "store": In(StoreSignature()),
            "memory": Out(MemoryPortSignature()),
            "halt": In(1),
        })

    @property
    def has_writer(self) -> bool:
        """Whether the client can write."""
        return self.client == len(self.requests) - 1

    def elaborate(self, platform: object) -> Module:
        """Connect the parts."""
        m = Module()
        ranges, reader, writer, port = self.ranges, self.reader, self.writer, self.port
        m.submodules.ranges = ranges
        m.submodules.reader = reader
        m.submodules.writer = writer
        m.submodules.port = port
        wiring.connect(m, wiring.flipped(self.setting), ranges.setting)
        wiring.connect(m, port.port, wiring.flipped(self.memory))
        wiring.connect(m, reader.port, port.readers[0])
        wiring.connect(m, writer.port, port.writer)
        wiring.connect(m, reader.beats, wiring.flipped(self.beats))
        wiring.connect(m, wiring.flipped(self.store), writer.store)
        m.d.comb += port.halt.eq(self.halt)
        for number, grant in enumerate(ranges.grants):
            wiring.connect(m, wiring.flipped(self.requests[number]), ranges.requests[number])
            if number != self.client:
                m.d.comb += grant.ready.eq(self.others_ready[number])
        grant = ranges.grants[self.client]
        is_store = self.requests[self.client].payload.is_write if self.has_writer else 0
        m.d.comb += [
            reader.requests.payload.eq(grant.payload),
            reader.requests.valid.eq(grant.valid & ~Value.cast(is_store)[0]),
            writer.requests.payload.eq(grant.payload),
            writer.requests.valid.eq(grant.valid & is_store),
            grant.ready.eq(Mux(is_store, writer.requests.ready, reader.requests.ready)),
        ]
        return m


def _holds(window: Any, address: Value) -> Value:
    """Return whether a word lies in a window."""
    return (address >= window.address) & (address < window.address + window.words)


def _fits(window: Any) -> Value:
    """Return whether a window ends in DRAM."""
    return window.address + window.words <= 1 << PORT_ADDRESS_BITS


def _holds_part(window: Any, address: Value, words: Value) -> Value:
    """Return whether words lie in a window, at least one."""
    is_within = address + words <= window.address + window.words
    return _holds(window, address) & (words != 0) & is_within


def window_chain(dut: WindowChain) -> Rules:
    """State that what reaches DRAM lies in its window: reads in either one, writes in the arena.

    Assumed: windows end in DRAM and change only while nothing is under way; a request stays until
    it is granted, is of a word at least, and only the last client's may be a write.
    """

    def rules(m: Module, submodules: Any) -> None:
        program, arena = dut.ranges.program, dut.ranges.arena
        command = dut.memory.cmd
        waits = Cat(requests.valid for requests in dut.requests).any()
        is_reading = ~dut.reader.requests.ready
        is_busy = waits | is_reading | ~dut.writer.requests.ready | command.valid
        m.d.comb += Assume(~(dut.setting.sets & (is_busy | ~_fits(dut.setting.range))))
        for number, requests in enumerate(dut.requests):
            assume_stream(m, requests, f"requests_{number}")
            asked = requests.payload
            m.d.comb += Assume(~requests.valid | (asked.words != 0))
            if number != len(dut.requests) - 1:
                m.d.comb += Assume(~(requests.valid & asked.is_write))
        is_in_arena = _holds(arena, command.payload.addr)
        is_in_program = _holds(program, command.payload.addr)
        m.d.comb += [
            # What is stated.
            Assert(~command.valid | is_in_arena | (~command.payload.we & is_in_program)),
            # What it follows from.
            Assert(_fits(program) & _fits(arena)),
        ]
        address, end = dut.reader.address, dut.reader.end
        words = (end - address)[:PORT_ADDRESS_BITS]
        is_sound = _holds_part(arena, address, words) | _holds_part(program, address, words)
        left = dut.writer.left
        is_sound_left = _holds_part(arena, left.address, left.words)
        m.d.comb += [
            Assert(~is_reading | is_sound),
            Assert(~dut.writer.is_active | is_sound_left),
        ]
        _check_windows(m, dut, submodules.ranges)

    return rules


def _check_windows(m: Module, dut: WindowChain, submodule: Any) -> None:
    """Assert how far the check of the chosen request is."""
    own = signals_of(submodule)
    fsm = own["fsm_state"]
    client = own["client"]
    choices = Array(Value.cast(requests.payload) for requests in dut.requests)
    asked = Signal(RANGE_REQUEST)
    is_waiting = Array(requests.valid for requests in dut.requests)[client]
    program, arena = dut.ranges.program, dut.ranges.arena
    first = Mux(asked.is_program, program.address, arena.address)
    allowed = Mux(asked.is_program, program.words, arena.words)
    # In the order of the states: CHOOSE, ADD, CHECK, GRANT, REFUSE.
    choose, add, _, grant, refuse = range(5)
    is_granted = (
        (own["end"] <= allowed)
        & ~(asked.is_write & asked.is_program)
        & (own["address_end"] == (own["address"] + asked.words)[:PORT_ADDRESS_BITS])
    )
    m.d.comb += [
        Value.cast(asked).eq(choices[client]),
        Assert(client < len(dut.requests)),
        Assert(fsm <= refuse),
        Assert((fsm == choose) | is_waiting),
        Assert((fsm <= add) | (own["end"] == asked.offset + asked.words)),
        Assert((fsm <= add) | (own["address"] == (asked.offset + first)[:PORT_ADDRESS_BITS])),
        Assert((fsm != grant) | is_granted),
    ]

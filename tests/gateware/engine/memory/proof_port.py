"""What is proven of the port to DRAM."""

from typing import Any

from amaranth import Cat, Module, Signal
from amaranth.hdl import Assert, Assume

from kiwicha.contract.engine import LINE_BYTES
from kiwicha.gateware.engine.memory.interfaces import PORT_ADDRESS_BITS
from kiwicha.gateware.engine.memory.memory_port import MemoryPort
from tests.support.gateware.proof import (
    Rules,
    assume_stream,
    body_of,
    check_stream,
    signals_of,
)

__all__ = ["memory_port"]

_COUNT_BITS = 8
"""Of reads under way, which are `MemoryPort.MAX_OUTSTANDING` at most."""
_INDEX_BITS = (MemoryPort.MAX_OUTSTANDING - 1).bit_length()


class _Reads:
    """What DRAM owes, counted beside the port."""

    def __init__(self, m: Module, dut: MemoryPort) -> None:
        cmd, rdata = dut.port.cmd, dut.port.rdata
        # Words from before a reset come until the port begins, and none behind.
        begins = signals_of(dut)["begins"]
        comes = rdata.valid & begins
        self.count = Signal(_COUNT_BITS, name="reads")
        """Words that were asked for and did not come."""
        self.came = Signal()
        """A word came in the cycle before."""
        self.asks = cmd.valid & cmd.ready & ~cmd.payload.we
        self.waits = cmd.valid & ~cmd.payload.we
        """A read stands in the command register."""
        m.d.sync += [self.count.eq(self.count + self.asks - comes), self.came.eq(comes)]
        m.d.comb += [
            Assume(~comes | (self.count != 0)),
            Assert(begins | ((self.count == 0) & ~self.came & ~cmd.valid & ~dut.is_idle)),
        ]


class _ChosenRead:
    """Any one read: noted when the port takes it, and followed until its word is delivered.

    Attributes
    ----------
    is_active : Signal
        It was taken, and its word did not come from DRAM.
    is_sent : Signal
        DRAM has taken its command.
    ahead : Signal
        Words of earlier reads that did not come.
    has_come : Signal
        Its word came in the cycle before, and is ``word``.
    place, who, address, is_last : Signal
        Its place in the FIFO of tags, its reader, and its command.
    """

    def __init__(self, m: Module, dut: MemoryPort, reads: _Reads, choose: Signal, place: Signal):
        self.is_active, self.is_sent, self.has_come = Signal(), Signal(), Signal()
        self.ahead = Signal(_COUNT_BITS)
        self.place = Signal(_INDEX_BITS)
        self.who = Signal(range(len(dut.readers) + 1))
        self.address = Signal(PORT_ADDRESS_BITS)
        self.is_last = Signal()
        self.word = Signal(8 * LINE_BYTES)
        rdata = dut.port.rdata
        takes = Cat(reader.commands.valid & reader.commands.ready for reader in dut.readers)
        comes = self.is_active & rdata.valid & self.is_sent & (self.ahead == 0)
        m.d.sync += [self.has_come.eq(comes), self.word.eq(rdata.payload)]
        with m.If(self.is_active):
            with m.If(reads.asks):
                m.d.sync += self.is_sent.eq(1)
            with m.If(rdata.valid & (self.ahead != 0)):
                m.d.sync += self.ahead.eq(self.ahead - 1)
            with m.If(comes):
                m.d.sync += self.is_active.eq(0)
        with m.Elif(choose & takes.any()):
            m.d.sync += [
                self.is_active.eq(1),
                self.is_sent.eq(0),
                self.place.eq(place),
                self.ahead.eq(reads.count + reads.waits - rdata.valid),
            ]
            for number, reader in enumerate(dut.readers):
                command = reader.commands.payload
                with m.If(takes[number]):
                    m.d.sync += [
                        self.who.eq(number),
                        self.address.eq(command.address),
                        self.is_last.eq(command.is_last),
                    ]


def memory_port(dut: MemoryPort, choose: Signal) -> Rules:
    """State that each word of DRAM goes to the reader that asked for its address.

    It comes with the reader's ``is_last``, in order; a write has its writer's address, and its data
    and mask are offered after its command was taken. Commands and data stay until they are taken,
    nothing is taken in ``halt``, and idle means that DRAM owes nothing. Assumed: commands and beats
    of clients stay until they are taken; DRAM answers reads in order, each once, and those from
    before a reset before the port begins.

    Parameters
    ----------
    dut : MemoryPort
    choose : Signal
        Chooses the read that is followed; must be free.
    """

    def rules(m: Module, submodules: Any) -> None:
        # Before the FIFO is looked into: then its memory takes no further port.
        entry = body_of(submodules.tags).submodules.storage.read_port(domain="comb")
        tags, own = signals_of(submodules.tags), signals_of(dut)
        for number, its_reader in enumerate(dut.readers):
            assume_stream(m, its_reader.commands, f"commands_{number}")
        assume_stream(m, dut.writer.commands, "write_commands")
        assume_stream(m, dut.writer.beats, "write_beats")
        reads = _Reads(m, dut)
        read = _ChosenRead(m, dut, reads, choose, tags["produce"])
        _check_counts(m, dut, reads, submodules.tags.level)
        m.d.comb += [
            entry.addr.eq(read.place),
            Assert(own["grant"] <= len(dut.readers)),
            Assert(_index(tags["produce"] - tags["consume"]) == _index(submodules.tags.level)),
        ]
        _check_chosen(m, dut, reads, read, tags["consume"], submodules.tags.level, entry.data)
        _check_writes(m, dut, own["writes"])
        check_stream(m, dut.port.cmd, "cmd")
        check_stream(m, dut.port.wdata, "wdata")

    return rules


def _index(value: Any) -> Any:
    return value[:_INDEX_BITS]


def _check_counts(m: Module, dut: MemoryPort, reads: _Reads, level: Signal) -> None:
    """Assert that there is a tag for each word, and that idle means idle."""
    clients = [*dut.readers, dut.writer]
    nothing_waits = ~dut.port.cmd.valid & (reads.count == 0) & ~reads.came & ~dut.port.wdata.valid
    m.d.comb += [
        Assert(level == reads.count + reads.waits + reads.came),
        Assert(level <= dut.MAX_OUTSTANDING),
        Assert(Cat(reader.beats.valid for reader in dut.readers).any() == reads.came),
        Assert(~dut.halt | ~Cat(client.commands.ready for client in clients).any()),
        Assert(~dut.is_idle | nothing_waits),
    ]


def _check_chosen(
    m: Module,
    dut: MemoryPort,
    reads: _Reads,
    read: _ChosenRead,
    consume: Signal,
    level: Signal,
    entry: Any,
) -> None:
    """Assert where the chosen read is, and that its word goes where it should."""
    cmd = dut.port.cmd
    is_registered = read.is_active & ~read.is_sent
    is_followed = read.is_active | read.has_come
    tag = Cat(read.is_last, read.who)[: len(entry)]
    m.d.comb += [
        Assert(read.who < len(dut.readers)),
        Assert(
            ~is_registered
            | (reads.waits & (cmd.payload.addr == read.address) & (read.ahead == reads.count))
        ),
        Assert(~(read.is_active & read.is_sent) | (read.ahead < reads.count)),
        Assert(~read.is_active | (_index(read.place - consume) == _index(read.ahead + reads.came))),
        Assert(~read.is_active | (read.ahead + reads.came < level)),
        Assert(~is_followed | (entry == tag)),
        # The oldest tag is its own when its word is delivered.
        Assert(~read.has_come | (reads.came & (level != 0) & (read.place == consume))),
        Assert(~(read.has_come & read.is_active)),
    ]
    for number, reader in enumerate(dut.readers):
        beat = reader.beats.payload
        is_its = read.has_come & (read.who == number)
        m.d.comb += [
            Assert(~read.has_come | (reader.beats.valid == (read.who == number))),
            Assert(~is_its | ((beat.is_last == read.is_last) & (beat.data == read.word))),
        ]


def _check_writes(m: Module, dut: MemoryPort, writes: Signal) -> None:
    """Assert that writes are the writer's, and that data follow their commands."""
    cmd, wdata = dut.port.cmd, dut.port.wdata
    commands, beats = dut.writer.commands, dut.writer.beats
    owed = Signal(_COUNT_BITS)
    took = Signal()
    address = Signal(PORT_ADDRESS_BITS)
    takes = commands.valid & commands.ready
    accepts = wdata.valid & wdata.ready
    m.d.sync += [owed.eq(owed + takes - accepts), took.eq(takes), address.eq(commands.payload)]
    m.d.comb += [
        Assert(~took | (cmd.valid & cmd.payload.we & (cmd.payload.addr == address))),
        Assert(writes == owed),
        Assert(~wdata.valid | (owed != 0)),
        Assert(~dut.is_idle | (owed == 0)),
        Assert((beats.valid & beats.ready) == accepts),
        Assert(wdata.payload.data == beats.payload.data),
        Assert(~wdata.valid | (wdata.payload.we == beats.payload.mask)),
        Assert((writes != 0) | (wdata.payload.we == 0)),
    ]

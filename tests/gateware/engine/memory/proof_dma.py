"""What is proven of the components between the engine and DRAM."""

from typing import Any

from amaranth import Cat, Module, Signal
from amaranth.hdl import Assert, Assume

from kiwicha.gateware.engine.memory.dma_reader import DmaReader
from kiwicha.gateware.engine.memory.dma_writer import DmaWriter
from kiwicha.gateware.engine.memory.interfaces import PORT_ADDRESS_BITS
from kiwicha.gateware.engine.memory.protection import ProtectionRanges
from tests.support.gateware.proof import Rules, assume_stream, check_stream

__all__ = ["ranges", "reader", "reader_payloads", "writer", "writer_payloads"]


def _count_commands(m: Module, requests: Any, commands: Any) -> tuple[Signal, Signal, Signal]:
    """Count a range's commands; return its first word, its words and those asked for."""
    first, words, asked = (
        Signal(PORT_ADDRESS_BITS, name=name) for name in ("first", "words", "asked")
    )
    with m.If(commands.valid & commands.ready):
        m.d.sync += asked.eq(asked + 1)
    with m.If(requests.valid & requests.ready):
        m.d.sync += [
            first.eq(requests.payload.address),
            words.eq(requests.payload.words),
            asked.eq(0),
        ]
    request = requests.payload
    end = (request.address + request.words)[:PORT_ADDRESS_BITS]
    m.d.comb += Assume(~requests.valid | ((request.words != 0) & (request.end == end)))
    return first, words, asked


def _reads_under_way(m: Module, commands: Any, beats: Any) -> Signal:
    """Count the words that were asked for and did not come; assume that no others come."""
    count = Signal(PORT_ADDRESS_BITS, name="reads_under_way")
    m.d.sync += count.eq(count + (commands.valid & commands.ready) - beats.valid)
    m.d.comb += Assume(~beats.valid | (count != 0))
    return count


def reader(dut: DmaReader) -> Rules:
    """State that each word of a range is asked for once, in order, and always finds a place.

    Assumed: a request is of a word at least, with the end of its words; no word comes unasked.
    """

    def rules(m: Module, submodules: Any) -> None:
        commands, beats = dut.port.commands, dut.port.beats
        first, words, asked = _count_commands(m, dut.requests, commands)
        under_way = _reads_under_way(m, commands, beats)
        is_active = ~dut.requests.ready
        m.d.comb += [
            Assert(~is_active | (asked < words)),
            Assert(~is_active | (dut.address == (first + asked)[:PORT_ADDRESS_BITS])),
            Assert(~is_active | (dut.end == (first + words)[:PORT_ADDRESS_BITS])),
            Assert(~commands.valid | is_active),
            Assert(~commands.valid | (commands.payload.address == dut.address)),
            Assert(~commands.valid | (commands.payload.is_last == (asked + 1 == words))),
            Assert(dut.free + submodules.fifo.level + under_way == dut.depth),
            Assert(~beats.valid | submodules.fifo.w_rdy),
        ]
        check_stream(m, commands, "commands")
        check_stream(m, dut.beats, "beats", has_payload=False)

    return rules


def reader_payloads(dut: DmaReader) -> Rules:
    """State that a word that waits to be taken by the reader's client does not change.

    Assumed: no word comes unasked.
    """

    def rules(m: Module, submodules: Any) -> None:
        _reads_under_way(m, dut.port.commands, dut.port.beats)
        check_stream(m, dut.beats, "beats")

    return rules


def _feed(m: Module, dut: DmaWriter, words: Signal, asked: Signal) -> tuple[Signal, Signal, Signal]:
    """Assume that beats and port are as the writer wants them.

    Return the beats that came and that left, and those since there was room.
    """
    came = Signal(PORT_ADDRESS_BITS)
    left = Signal(PORT_ADDRESS_BITS)
    since_room = Signal(range(DmaWriter.ROOM + 1))
    takes_data = dut.port.beats.valid & dut.port.beats.ready
    earlier = Signal.like(since_room)
    m.d.comb += earlier.eq(0)
    with m.If(~dut.store.has_room):
        m.d.comb += earlier.eq(since_room)
    m.d.sync += [
        came.eq(came + dut.store.beats.valid),
        left.eq(left + takes_data),
        since_room.eq(earlier + dut.store.beats.valid),
    ]
    with m.If(dut.requests.valid & dut.requests.ready):
        m.d.sync += [came.eq(0), left.eq(0)]
    m.d.comb += [
        Assume(~dut.store.beats.valid | (came < words)),
        Assume(~dut.store.beats.valid | ~dut.requests.ready),
        Assume(~dut.store.beats.valid | (earlier < DmaWriter.ROOM)),
        Assume(~dut.port.beats.ready | (left < asked)),
        Assert(dut.store.has_room | (since_room <= DmaWriter.ROOM)),
    ]
    return came, left, since_room


def writer(dut: DmaWriter) -> Rules:
    """State that each word has one command, in order, after its data, which find a place.

    Assumed: a request is of a word at least; beats come behind it, no more than its words and than
    the room that was told; data are taken behind their commands.
    """

    def rules(m: Module, submodules: Any) -> None:
        commands = dut.port.commands
        first, words, asked = _count_commands(m, dut.requests, commands)
        came, left, since_room = _feed(m, dut, words, asked)
        level = submodules.fifo.level
        m.d.comb += [
            Assert(asked <= words),
            Assert(came <= words),
            Assert(dut.is_active == (asked != words)),
            Assert(dut.left.words == words - asked),
            Assert(~dut.is_active | (dut.left.address == (first + asked)[:PORT_ADDRESS_BITS])),
            Assert(~commands.valid | (asked < came)),
            Assert(~commands.valid | (commands.payload == dut.left.address)),
            Assert((left <= asked) & (asked <= came)),
            Assert(level == came - left),
            Assert(level <= dut.depth - DmaWriter.ROOM + since_room),
            Assert(dut.waiting == came - asked),
            Assert(~dut.store.beats.valid | submodules.fifo.w_rdy),
        ]
        check_stream(m, commands, "commands")
        check_stream(m, dut.port.beats, "data", has_payload=False)

    return rules


def writer_payloads(dut: DmaWriter) -> Rules:
    """State that a word that waits to be taken by the port does not change.

    Assumed: as for the writer.
    """

    def rules(m: Module, submodules: Any) -> None:
        _, words, asked = _count_commands(m, dut.requests, dut.port.commands)
        _feed(m, dut, words, asked)
        check_stream(m, dut.port.beats, "data")

    return rules


def ranges(dut: ProtectionRanges) -> Rules:
    """State that what is granted lies in its range, and is not a write to the Program.

    Assumed: ranges change while nobody asks; a request stays until it is granted.
    """

    def rules(m: Module, submodules: Any) -> None:
        waits = Cat(requests.valid for requests in dut.requests).any()
        m.d.comb += Assume(~(dut.setting.sets & waits))
        for number, (requests, grant) in enumerate(zip(dut.requests, dut.grants, strict=True)):
            assume_stream(m, requests, f"requests_{number}")
            check_stream(m, grant, f"grant_{number}")
            asked, granted = requests.payload, grant.payload
            end = (granted.address + granted.words)[:PORT_ADDRESS_BITS]
            for arena, allowed in enumerate((dut.program, dut.arena)):
                applies = grant.valid & (asked.is_program != arena)
                address = (allowed.address + asked.offset)[:PORT_ADDRESS_BITS]
                m.d.comb += [
                    Assert(~applies | (asked.offset + asked.words <= allowed.words)),
                    Assert(~applies | (granted.address == address)),
                ]
            m.d.comb += [
                Assert(~grant.valid | requests.valid),
                Assert(~grant.valid | (granted.words == asked.words)),
                Assert(~grant.valid | (granted.end == end)),
                Assert(~(grant.valid & asked.is_program & asked.is_write)),
                Assert(requests.ready == (grant.valid & grant.ready)),
            ]
        refused = Signal(len(dut.is_outside))
        m.d.sync += refused.eq(dut.is_outside)
        any_grant = Cat(grant.valid for grant in dut.grants).any()
        m.d.comb += Assert((refused == 0) | ((dut.is_outside == refused) & ~any_grant))

    return rules

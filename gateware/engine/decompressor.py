"""Weight streams as they are stored, to beats of fills."""

from amaranth import Module, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from kiwicha.codec import BEAT_BYTES, CHUNK_BITS, LANES
from kiwicha.gateware.engine.decompressor_input import DecompressorInput
from kiwicha.gateware.engine.decompressor_lanes import DecompressorLanes
from kiwicha.gateware.engine.windows import OFFSET_BITS

__all__ = ["BEAT_COUNT_BITS", "DECODED_GROUP", "Decompressor"]

BEAT_COUNT_BITS = 12
"""Beats of a group: up to 256 words of 128 bytes, and parameters."""
DECODED_GROUP = data.StructLayout({
    "head": BEAT_COUNT_BITS,
    "body": BEAT_COUNT_BITS,
    "words": OFFSET_BITS,
    "is_first": 1,
    "is_last": 1,
})
"""A group to pass on: ``head`` beats as they are, 1 or more, then ``body`` coded ones; always 0 if
the stream is not coded. With ``is_first`` a stream of ``words`` beats begins, with ``is_last`` it
must end."""

_ENTRY_BITS = 16
_ENTRIES_PER_CHUNK = CHUNK_BITS // _ENTRY_BITS
_PART_BITS = (BEAT_BYTES // LANES - 1).bit_length()
"""Bits that count the steps of a beat."""


class Decompressor(wiring.Component):
    """Decode groups of a stream in the form of `kiwicha.codec`; pass on streams that are not coded.

    Throughput: a beat that is not coded per cycle; of those that are, 4 bytes per cycle as long as
    they take no more than `CHUNK_BITS` stored bits per cycle, and about a twentieth less near that.
    A group takes up to 5 cycles more, the first one of a coded stream 56 more.

    Latency: 1 cycle from a beat that is not coded to the output.

    An error is found when the stream is used up before its last group, or when it is not used up
    after the last one, or if its check sum then is not 0. What came out until then may be wrong; no
    content of a stream makes the decoder take more beats than announced, give more than asked for,
    or wait for ever.

    Members
    -------
    groups : ``In(stream.Signature(DECODED_GROUP))``
        What is to come, group by group.
    stored : ``In(stream.Signature(128))``
        The stream.
    beats : ``Out(stream.Signature(128))``
        Beats of the groups.
    is_idle : ``Out(1)``
        No group is under way.
    is_bad : ``Out(1)``
        The stream has an error; stays until the next reset.
    """

    def __init__(self) -> None:
        super().__init__({
            "groups": In(stream.Signature(DECODED_GROUP)),
            "stored": In(stream.Signature(8 * BEAT_BYTES)),
            "beats": Out(stream.Signature(8 * BEAT_BYTES)),
            "is_idle": Out(1),
            "is_bad": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        """Connect input and lanes; build the output and the walk through a group."""
        m = Module()
        m.submodules.input = source = DecompressorInput()
        m.submodules.lanes = lanes = DecompressorLanes()
        wiring.connect(m, wiring.flipped(self.stored), source.stored)
        is_coded, is_settled, is_empty = Signal(), Signal(), Signal(init=1)
        writes_table, takes_head, has_room = Signal(), Signal(), Signal()
        self._table(m, source, lanes, writes_table)
        self._output(m, source, lanes, takes_head, has_room, is_empty)
        m.d.comb += [
            source.is_coded.eq(is_coded),
            source.words.eq(self.groups.payload.words),
            source.heads.ready.eq(takes_head),
            # Heads, and the end, come behind all that the lanes asked for until then.
            is_settled.eq(~is_coded | (source.chunks.valid & ~lanes.is_waiting)),
        ]
        with m.If(is_coded & ~source.chunks.valid & source.is_used_up):
            m.d.sync += self.is_bad.eq(1)
        group = Signal(DECODED_GROUP)
        steps_left = Signal(BEAT_COUNT_BITS + _PART_BITS)
        with m.FSM():
            self._begin(m, source, lanes, group, is_coded, is_settled, writes_table)
            with m.State("HEAD"):
                m.d.comb += takes_head.eq(source.heads.valid & has_room & is_settled)
                m.d.sync += steps_left.eq((group.body << _PART_BITS) - 1)
                with m.If(takes_head):
                    m.d.sync += group.head.eq(group.head - 1)
                    with m.If(group.head == 1):
                        m.next = "END"
                        with m.If(is_coded):
                            m.next = "BODY"
                with m.If(is_settled & source.is_used_up):
                    m.d.sync += self.is_bad.eq(1)
            with m.State("BODY"):
                m.d.comb += lanes.wants_step.eq(is_empty | has_room)
                with m.If(lanes.steps):
                    m.d.sync += steps_left.eq(steps_left - 1)
                    with m.If(steps_left == 0):
                        m.next = "END"
            with m.State("END"):
                with m.If(is_settled & is_empty):
                    m.next = "IDLE"
                    with m.If(group.is_last):
                        m.d.sync += is_coded.eq(0)
                        with m.If(~source.is_used_up | (is_coded & ~source.is_correct)):
                            m.d.sync += self.is_bad.eq(1)
                            m.next = "BAD"
            with m.State("BAD"):
                # The other errors leave nothing to go on with.
                pass
        return m

    def _begin(
        self,
        m: Module,
        source: DecompressorInput,
        lanes: DecompressorLanes,
        group: Signal,
        is_coded: Signal,
        is_settled: Signal,
        writes_table: Signal,
    ) -> None:
        """Build the states up to the head of a group."""
        with m.State("IDLE"):
            m.d.comb += [
                self.groups.ready.eq(1),
                self.is_idle.eq(~self.groups.valid),
                source.start.eq(self.groups.valid & self.groups.payload.is_first),
            ]
            m.d.sync += group.eq(self.groups.payload)
            with m.If(self.groups.valid):
                m.next = "HEAD"
            with m.If(source.start & (self.groups.payload.body != 0)):
                m.d.sync += is_coded.eq(1)
                m.next = "TABLE"
        with m.State("TABLE"):
            m.d.comb += writes_table.eq(source.chunks.valid)
            with m.If(writes_table & lanes.table.address.all()):
                m.d.comb += lanes.ask.eq(1)
                m.next = "START"
        with m.State("START"):
            with m.If(is_settled):
                m.d.comb += [lanes.restart.eq(1), lanes.ask.eq(1)]
                m.next = "HEAD"

    def _table(
        self, m: Module, source: DecompressorInput, lanes: DecompressorLanes, writes: Signal
    ) -> None:
        """Write an entry per cycle; chunks that are not of the table go to the lanes."""
        part = lanes.table.address[: (_ENTRIES_PER_CHUNK - 1).bit_length()]
        m.d.comb += [
            lanes.table.entry.eq(source.chunks.payload.word_select(part, _ENTRY_BITS)),
            lanes.table.enable.eq(writes),
            lanes.chunks.payload.eq(source.chunks.payload),
            lanes.chunks.valid.eq(source.chunks.valid),
            source.chunks.ready.eq(lanes.chunks.ready | (writes & part.all())),
        ]
        address = Signal.like(lanes.table.address)
        m.d.comb += lanes.table.address.eq(address)
        with m.If(writes):
            m.d.sync += address.eq(address + 1)

    def _output(
        self,
        m: Module,
        source: DecompressorInput,
        lanes: DecompressorLanes,
        takes_head: Signal,
        has_room: Signal,
        is_empty: Signal,
    ) -> None:
        """Put together what steps give, or take a head; ``is_empty``: no step is to be taken."""
        part, takes_values = Signal(_PART_BITS), Signal()
        m.d.comb += [
            has_room.eq(~self.beats.valid | self.beats.ready),
            takes_values.eq(~is_empty & has_room),
        ]
        with m.If(lanes.steps | takes_values):
            m.d.sync += is_empty.eq(~lanes.steps)
        with m.If(self.beats.ready):
            m.d.sync += self.beats.valid.eq(0)
        with m.If(takes_values):
            m.d.sync += [part.eq(part + 1), self.beats.valid.eq(part.all())]
            m.d.sync += self.beats.payload.word_select(part, 8 * LANES).eq(lanes.values)
        with m.If(takes_head):
            m.d.sync += [self.beats.payload.eq(source.heads.payload), self.beats.valid.eq(1)]

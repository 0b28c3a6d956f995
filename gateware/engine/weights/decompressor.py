"""Weight streams as they are stored, to beats of fills."""

from amaranth import Module, Mux, Signal, Value
from amaranth.lib import wiring

from kiwicha.contract.codec import BEAT_BYTES, CHUNK_BITS, LANES
from kiwicha.gateware.engine.weights.decompressor_input import DecompressorInput
from kiwicha.gateware.engine.weights.decompressor_lanes import DecompressorLanes
from kiwicha.gateware.engine.weights.interfaces import (
    BEAT_COUNT_BITS,
    STREAM_GROUP,
    StreamDecoderSignature,
)

__all__ = ["Decompressor"]

_ENTRY_BITS = 16
_ENTRIES_PER_CHUNK = CHUNK_BITS // _ENTRY_BITS
_PART_BITS = (BEAT_BYTES // LANES - 1).bit_length()
"""Bits that count the steps of a beat."""


class Decompressor(wiring.Component):
    """Decode groups of a coded stream (`kiwicha.program.codec.streams`); pass on streams as stored.

    Throughput: a beat that is not coded per cycle; of those that are, 4 bytes per cycle as long as
    they take no more than `CHUNK_BITS` stored bits per cycle, and about a twentieth less near that.
    A group takes up to 5 cycles more, the first one of a coded stream 56 more.

    Latency: none from a beat that is not coded to the output.

    An error is found when the stream is used up before its last group, or when it is not used up
    after the last one, or if its check sum then is not 0. What came out until then may be wrong; no
    content of a stream makes the decoder take more beats than announced, give more than asked for,
    or wait for ever.

    Members
    -------
    See `StreamDecoderSignature`.

    Attributes
    ----------
    source : DecompressorInput
        What takes the streams.
    group : Signal
        The group that was taken last.
    fsm : FSM
        What is being done.
    """

    def __init__(self) -> None:
        super().__init__(StreamDecoderSignature().flip())
        self.source = DecompressorInput()
        self.group = Signal(STREAM_GROUP)

    def elaborate(self, platform: object) -> Module:
        """Connect input and lanes; build the output and the states of a group."""
        m = Module()
        m.submodules.input = source = self.source
        m.submodules.lanes = lanes = DecompressorLanes()
        wiring.connect(m, wiring.flipped(self.stored), source.stored)
        is_coded = Signal()
        is_settled = Signal()
        is_empty = Signal(init=1)
        writes_table = Signal()
        gives_plain = Signal()
        takes_plain = Signal()
        self._table(m, source, lanes, writes_table)
        has_room = self._output(m, source, lanes, gives_plain, takes_plain, is_empty)
        m.d.comb += [
            source.is_coded.eq(is_coded),
            source.is_empty.eq(self.groups.payload.is_empty),
            source.plain.ready.eq(takes_plain),
            # Plain beats, and the end, come behind all that the lanes asked for until then.
            is_settled.eq(~is_coded | (source.chunks.valid & ~lanes.is_waiting)),
        ]
        with m.If(is_coded & ~source.chunks.valid & source.is_used_up):
            m.d.sync += self.is_bad.eq(1)
        group = self.group
        # Plain beats, then steps of the coded ones.
        left = Signal(BEAT_COUNT_BITS + _PART_BITS)
        with m.If(takes_plain | lanes.steps):
            m.d.sync += left.eq(left - 1)
        with m.FSM() as self.fsm:
            self._begin(m, source, lanes, group, left, is_coded, is_settled, writes_table)
            with m.State("PLAIN"):
                m.d.comb += gives_plain.eq(source.plain.valid & is_settled)
                with m.If(takes_plain & (left == 1)):
                    m.next = "END"
                    with m.If(is_coded):
                        m.d.sync += left.eq(group.coded_beats << _PART_BITS)
                        m.next = "CODED"
                with m.If(is_settled & source.is_used_up):
                    m.d.sync += self.is_bad.eq(1)
            with m.State("CODED"):
                m.d.comb += lanes.wants_step.eq(is_empty | has_room)
                with m.If(lanes.steps & (left == 1)):
                    m.next = "END"
            with m.State("END"):
                with m.If(is_settled & is_empty):
                    m.next = "IDLE"
                    with m.If(group.is_last):
                        m.d.sync += is_coded.eq(0)
                        with m.If(~source.is_used_up | (is_coded & ~source.is_correct)):
                            m.d.sync += self.is_bad.eq(1)
                            m.next = "BAD"
                        with m.Else():
                            m.d.comb += self.ends.eq(1)
                            m.d.sync += self.is_between.eq(1)
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
        left: Signal,
        is_coded: Signal,
        is_settled: Signal,
        writes_table: Signal,
    ) -> None:
        """Build the states up to the plain beats of a group."""
        with m.State("IDLE"):
            m.d.comb += [
                self.groups.ready.eq(1),
                source.start.eq(self.groups.valid & self.groups.payload.is_first),
            ]
            m.d.sync += [group.eq(self.groups.payload), left.eq(self.groups.payload.plain_beats)]
            with m.If(self.groups.valid):
                m.d.sync += self.is_between.eq(0)
                m.next = "PLAIN"
            with m.If(source.start & self.groups.payload.is_coded):
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
                m.next = "PLAIN"

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
        gives_plain: Signal,
        takes_plain: Signal,
        is_empty: Signal,
    ) -> Value:
        """Put together what steps give, or pass on a plain beat.

        ``is_empty``: no step is to be taken. Returns whether the values of a step could be.
        """
        beat = Signal(8 * BEAT_BYTES, reset_less=True)
        part = Signal(_PART_BITS)
        is_whole = Signal()
        takes_values = Signal()
        has_room = ~is_whole | self.beats.ready
        m.d.comb += [
            takes_values.eq(~is_empty & has_room),
            self.beats.valid.eq(is_whole | gives_plain),
            self.beats.payload.eq(Mux(is_whole, beat, source.plain.payload)),
            takes_plain.eq(gives_plain & ~is_whole & self.beats.ready),
        ]
        with m.If(lanes.steps | takes_values):
            m.d.sync += is_empty.eq(~lanes.steps)
        with m.If(self.beats.ready):
            m.d.sync += is_whole.eq(0)
        with m.If(takes_values):
            m.d.sync += [part.eq(part + 1), is_whole.eq(part.all())]
            m.d.sync += beat.word_select(part, 8 * LANES).eq(lanes.values)
        return has_room

"""Weight streams in blocks, or as they are, to beats of fills: 32 bytes per cycle."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import wiring

from kiwicha.contract.codec import BEAT_BYTES, BLOCK_STEP_BYTES, WIDTH_PAIRS
from kiwicha.gateware.engine.weights.block_lanes import BlockLanes
from kiwicha.gateware.engine.weights.checked_stream import CheckedStream
from kiwicha.gateware.engine.weights.interfaces import (
    BEAT_COUNT_BITS,
    STREAM_GROUP,
    StreamDecoderSignature,
)

__all__ = ["BlockDecoder"]

_STEP_BEATS = BLOCK_STEP_BYTES // BEAT_BYTES


class BlockDecoder(wiring.Component):
    """Decode groups of a stream in blocks (`kiwicha.program.codec.blocks`); pass on others.

    Takes the place of a `Decompressor`. Coded beats come out two at a time.

    Throughput: a beat that is not coded per cycle; of those that are, two per cycle as long as no
    more than a stored beat per cycle is needed. A group that has plain beats takes up to 4
    cycles more, and the first one of a coded stream 16 more.

    Latency: none from a beat that is not coded to the output.

    Errors are found as a `Decompressor` finds them.

    Members
    -------
    See `StreamDecoderSignature`.

    Attributes
    ----------
    source : CheckedStream
        What takes the streams.
    group : Signal
        The group that was taken last.
    fsm : FSM
        What is being done.
    """

    def __init__(self) -> None:
        super().__init__(StreamDecoderSignature(has_pairs=True).flip())
        self.source = CheckedStream()
        self.group = Signal(STREAM_GROUP)

    def elaborate(self, platform: object) -> Module:
        """Connect input and lanes; build the output and the states of a group."""
        m = Module()
        m.submodules.source = source = self.source
        m.submodules.lanes = lanes = BlockLanes()
        wiring.connect(m, wiring.flipped(self.stored), source.stored)
        is_coded, is_settled, is_empty, gives_plain, takes_plain, takes_header, takes_table = (
            Signal(name=name)
            for name in (
                *("is_coded", "is_settled", "is_empty", "gives_plain", "takes_plain"),
                *("takes_header", "takes_table"),
            )
        )
        group = self.group
        m.d.comb += [
            source.is_empty.eq(self.groups.payload.is_empty),
            source.beats.ready.eq(takes_header | takes_plain | lanes.beats.ready),
            lanes.beats.valid.eq(source.beats.valid),
            lanes.beats.payload.eq(source.beats.payload),
            # Plain beats come behind all that the lanes asked for until then. At the end they may
            # wait for beats that nobody needs, which are not stored.
            is_settled.eq(~lanes.is_waiting),
            lanes.is_over.eq(source.is_used_up),
        ]
        self._output(m, lanes, gives_plain, takes_plain, is_empty)
        is_writing = self._table(m, lanes, takes_table)
        # Of the cycle before, as much follows it: where there are plain beats nothing asks.
        was_settled = Signal()
        m.d.sync += was_settled.eq(is_settled & ~lanes.ask & ~lanes.steps)
        # Plain beats, then steps.
        left = Signal(BEAT_COUNT_BITS)
        with m.If(takes_plain | lanes.steps):
            m.d.sync += left.eq(left - 1)
        with m.FSM() as self.fsm:
            self._begin(m, lanes, left, is_coded, is_settled, takes_header, takes_table)
            with m.State("PLAIN"):
                m.d.comb += gives_plain.eq(source.beats.valid & was_settled & is_empty)
                with m.If(takes_plain & (left == 1)):
                    m.next = "END"
                    with m.If(is_coded):
                        m.d.sync += left.eq(group.coded_beats // _STEP_BEATS)
                        m.next = "CODED"
                with m.If(source.is_used_up):
                    m.d.sync += self.is_bad.eq(1)
            with m.State("CODED"):
                m.d.comb += lanes.wants_step.eq(~is_writing)
                with m.If(~is_writing & lanes.is_stuck & source.is_used_up):
                    m.d.sync += self.is_bad.eq(1)
                with m.If(lanes.steps & (left == 1)):
                    m.next = "END"
                    with m.If(~group.is_last):
                        m.next = "IDLE"
                        # Steps follow each other from group to group.
                        self._take_group(m, left, is_coded)
            with m.State("END"):
                with m.If((is_settled | source.is_used_up) & is_empty):
                    m.d.comb += lanes.drop.eq(source.is_used_up)
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
        lanes: BlockLanes,
        left: Signal,
        is_coded: Signal,
        is_settled: Signal,
        takes_header: Signal,
        takes_table: Signal,
    ) -> None:
        """Build the states up to the plain beats of a group."""
        source, group = self.source, self.groups.payload
        with m.State("IDLE"):
            m.d.comb += source.start.eq(self.groups.valid & group.is_first)
            self._take_group(m, left, is_coded)
            with m.If(source.start & group.is_coded):
                m.d.sync += is_coded.eq(1)
                m.next = "TABLE"
        for state, following in (("TABLE", "CHECK"), ("CHECK", "START")):
            with m.State(state):
                m.d.comb += takes_header.eq(source.beats.valid)
                m.d.comb += (takes_table if state == "TABLE" else lanes.ask).eq(takes_header)
                with m.If(takes_header):
                    m.next = following
                with m.If(source.is_used_up):
                    m.d.sync += self.is_bad.eq(1)
        with m.State("START"):
            with m.If(is_settled):
                m.d.comb += [lanes.restart.eq(1), lanes.ask.eq(1)]
                m.next = "PLAIN"
            with m.Elif(source.is_used_up):
                m.d.sync += self.is_bad.eq(1)

    def _take_group(self, m: Module, left: Signal, is_coded: Signal) -> None:
        """Take a group, and go on with its plain beats, or its steps."""
        group = self.groups.payload
        m.d.comb += self.groups.ready.eq(1)
        with m.If(self.groups.valid):
            m.d.sync += [self.group.eq(group), left.eq(group.plain_beats), self.is_between.eq(0)]
            m.next = "PLAIN"
            with m.If(is_coded & ~group.plain_beats.any()):
                m.d.sync += left.eq(group.coded_beats // _STEP_BEATS)
                m.next = "CODED"

    def _table(self, m: Module, lanes: BlockLanes, takes_table: Signal) -> Signal:
        """Keep a beat of pairs, and write one per cycle; return whether that goes on."""
        table = Signal(8 * BEAT_BYTES, reset_less=True)
        address = Signal(range(WIDTH_PAIRS))
        is_writing = Signal()
        m.d.comb += [
            lanes.table.address.eq(address),
            lanes.table.pair.eq(table.word_select(address, 8)),
            lanes.table.enable.eq(is_writing),
        ]
        with m.If(is_writing):
            m.d.sync += [address.eq(address + 1), is_writing.eq(~address.all())]
        with m.If(takes_table):
            m.d.sync += [table.eq(self.source.beats.payload), is_writing.eq(1)]
        return is_writing

    def _output(
        self,
        m: Module,
        lanes: BlockLanes,
        gives_plain: Signal,
        takes_plain: Signal,
        is_empty: Signal,
    ) -> None:
        """Give out what the lanes have decoded, or a plain beat twice.

        ``is_empty``: nothing is between a step and the output.
        """
        is_s1, is_s2 = Signal(), Signal()
        plain = self.source.beats.payload
        m.d.comb += [
            lanes.advances.eq(~is_s2 | self.beats.ready),
            is_empty.eq(~is_s1 & ~is_s2),
            takes_plain.eq(gives_plain & self.beats.ready),
            self.beats.valid.eq(is_s2 | gives_plain),
            self.beats.payload.eq(Mux(is_s2, lanes.values, Cat(plain, plain))),
            self.is_pair.eq(is_s2),
        ]
        with m.If(lanes.advances):
            m.d.sync += [is_s1.eq(lanes.steps), is_s2.eq(is_s1)]

"""Weight streams as they are stored, for an engine without a codec."""

from amaranth import Module, Signal
from amaranth.lib import wiring

from kiwicha.gateware.engine.weights.interfaces import BEAT_COUNT_BITS, StreamDecoderSignature

__all__ = ["RawStreams"]


class RawStreams(wiring.Component):
    """Pass on streams by groups, and see that each has the beats of its groups.

    Takes the place of a `Decompressor`, where no stream is coded: groups
    have plain beats only. Throughput: a beat per cycle, and two cycles for a group. Latency: none.

    Members
    -------
    See `StreamDecoderSignature`.
    """

    def __init__(self) -> None:
        super().__init__(StreamDecoderSignature().flip())

    def elaborate(self, platform: object) -> Module:
        """Build the states of a group."""
        m = Module()
        group = self.groups.payload
        left = Signal(BEAT_COUNT_BITS)
        is_last = Signal()
        is_used_up = Signal()
        with m.FSM():
            with m.State("IDLE"):
                m.d.comb += self.groups.ready.eq(1)
                m.d.sync += [left.eq(group.plain_beats), is_last.eq(group.is_last)]
                with m.If(self.groups.valid):
                    m.d.sync += self.is_between.eq(0)
                    m.next = "PLAIN"
                with m.If(self.groups.valid & group.is_first):
                    m.d.sync += is_used_up.eq(group.is_empty)
            with m.State("PLAIN"):
                m.d.comb += [
                    self.beats.valid.eq(self.stored.valid & ~is_used_up),
                    self.beats.payload.eq(self.stored.payload.data),
                    self.stored.ready.eq(self.beats.ready & ~is_used_up),
                ]
                with m.If(self.stored.valid & self.stored.ready):
                    m.d.sync += [left.eq(left - 1), is_used_up.eq(self.stored.payload.is_last)]
                    with m.If(left == 1):
                        m.next = "END"
                with m.If(is_used_up):
                    m.d.sync += self.is_bad.eq(1)
                    m.next = "BAD"
            with m.State("END"):
                m.next = "IDLE"
                with m.If(is_last):
                    m.d.comb += self.ends.eq(is_used_up)
                    m.d.sync += [self.is_between.eq(is_used_up), self.is_bad.eq(~is_used_up)]
                    with m.If(~is_used_up):
                        m.next = "BAD"
            with m.State("BAD"):
                # Until the next reset.
                pass
        return m

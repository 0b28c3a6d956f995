"""Weight streams as they are stored, for an engine without a codec."""

from amaranth import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from kiwicha.contract.codec import BEAT_BYTES
from kiwicha.gateware.engine.memory.memory_port import READ_BEAT
from kiwicha.gateware.engine.weights.decompressor import BEAT_COUNT_BITS, DECODED_GROUP

__all__ = ["RawStreams"]


class RawStreams(wiring.Component):
    """Pass on streams by groups, and see that each has the beats of its groups.

    Takes the place of a `Decompressor`, whose members it has, where no stream is coded: groups
    have a head only. Throughput: a beat per cycle, and two cycles for a group. Latency: none.

    Members
    -------
    groups, stored, beats, is_between, ends, is_bad
        As of the `Decompressor`.
    """

    def __init__(self) -> None:
        super().__init__({
            "groups": In(stream.Signature(DECODED_GROUP)),
            "stored": In(stream.Signature(READ_BEAT)),
            "beats": Out(stream.Signature(8 * BEAT_BYTES)),
            "is_between": Out(1, init=1),
            "ends": Out(1),
            "is_bad": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the walk through a group."""
        m = Module()
        group = self.groups.payload
        left = Signal(BEAT_COUNT_BITS)
        is_last = Signal()
        is_used_up = Signal()
        with m.FSM():
            with m.State("IDLE"):
                m.d.comb += self.groups.ready.eq(1)
                m.d.sync += [left.eq(group.head), is_last.eq(group.is_last)]
                with m.If(self.groups.valid):
                    m.d.sync += self.is_between.eq(0)
                    m.next = "HEAD"
                with m.If(self.groups.valid & group.is_first):
                    m.d.sync += is_used_up.eq(group.is_empty)
            with m.State("HEAD"):
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

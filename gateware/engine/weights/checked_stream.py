"""Beats of a weight stream, counted and added to its check sum."""

from amaranth import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from kiwicha.contract.codec import BEAT_BYTES, CHECK_BITS, CHECK_START, WORD_ROTATION
from kiwicha.gateware.engine.memory.interfaces import READ_BEAT

__all__ = ["CheckedStream"]


class CheckedStream(wiring.Component):
    """Pass on the beats of one stream after the other.

    Throughput: a beat per cycle. Latency: none.

    Members
    -------
    start : ``In(1)``
        A stream begins.
    is_empty : ``In(1)``
        It has no beats.
    stored : ``In(stream.Signature(READ_BEAT))``
        Beats of streams; none is taken behind the last one of a stream before the next begins.
    beats : ``Out(stream.Signature(128))``
        The next beat.
    is_used_up : ``Out(1)``
        All beats of the stream were taken.
    is_correct : ``Out(1)``
        The check sum of the beats that were taken is 0.
    """

    def __init__(self) -> None:
        super().__init__({
            "start": In(1),
            "is_empty": In(1),
            "stored": In(stream.Signature(READ_BEAT)),
            "beats": Out(stream.Signature(8 * BEAT_BYTES)),
            "is_used_up": Out(1, init=1),
            "is_correct": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the check sum, and what holds back the beats of the next stream."""
        m = Module()
        check = Signal(CHECK_BITS)
        data = self.stored.payload.data
        m.d.comb += [
            self.is_correct.eq(check == 0),
            self.beats.valid.eq(self.stored.valid & ~self.is_used_up),
            self.beats.payload.eq(data),
            self.stored.ready.eq(self.beats.ready & ~self.is_used_up),
        ]
        with m.If(self.stored.valid & self.stored.ready):
            folded = check.rotate_left(1)
            for word in range(8 * BEAT_BYTES // CHECK_BITS):
                folded ^= data.word_select(word, CHECK_BITS).rotate_left(WORD_ROTATION * word)
            m.d.sync += [self.is_used_up.eq(self.stored.payload.is_last), check.eq(folded)]
        with m.If(self.start):
            m.d.sync += [self.is_used_up.eq(self.is_empty), check.eq(CHECK_START)]
        return m

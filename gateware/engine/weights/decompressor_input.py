"""Input of the decompressor: beats of a stream, whole or in chunks, and checked."""

from amaranth import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from kiwicha.contract.codec import BEAT_BYTES, CHUNK_BITS
from kiwicha.gateware.engine.memory.interfaces import READ_BEAT
from kiwicha.gateware.engine.weights.checked_stream import CheckedStream

__all__ = ["DecompressorInput"]

_CHUNKS_PER_BEAT = 8 * BEAT_BYTES // CHUNK_BITS


class DecompressorInput(wiring.Component):
    """One beat that is given out in chunks; the following beats, as they are, beside it.

    With ``is_coded`` a beat of chunks is taken as soon as there is none, and only then: plain beats
    may be taken while ``chunks`` is valid and its ``ready`` is 0.

    Throughput: a chunk or a beat per cycle. Latency: 1 cycle to a chunk, none to a plain beat.

    Members
    -------
    start : ``In(1)``
        A stream begins.
    is_empty : ``In(1)``
        It has no beats.
    is_coded : ``In(1)``
        It has chunks. When it falls the beat of chunks is dropped.
    stored : ``In(stream.Signature(READ_BEAT))``
        Beats of streams; none is taken behind the last one of a stream before the next begins.
    chunks : ``Out(stream.Signature(CHUNK_BITS))``
        Chunks, from the least significant of a beat on.
    plain : ``Out(stream.Signature(128))``
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
            "is_coded": In(1),
            "stored": In(stream.Signature(READ_BEAT)),
            "chunks": Out(stream.Signature(CHUNK_BITS)),
            "plain": Out(stream.Signature(8 * BEAT_BYTES)),
            "is_used_up": Out(1),
            "is_correct": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the register of a beat, and the count of its chunks."""
        m = Module()
        m.submodules.checked = checked = CheckedStream()
        wiring.connect(m, wiring.flipped(self.stored), checked.stored)
        beat = Signal(8 * BEAT_BYTES, reset_less=True)
        number = Signal(range(_CHUNKS_PER_BEAT))
        is_full = Signal()
        has_room = Signal()
        takes_chunk = Signal()
        m.d.comb += [
            checked.start.eq(self.start),
            checked.is_empty.eq(self.is_empty),
            checked.beats.ready.eq(has_room | self.plain.ready),
            self.chunks.valid.eq(is_full),
            self.chunks.payload.eq(beat.word_select(number, CHUNK_BITS)),
            takes_chunk.eq(is_full & self.chunks.ready),
            has_room.eq(self.is_coded & (~is_full | (takes_chunk & number.all()))),
            self.plain.valid.eq(checked.beats.valid),
            self.plain.payload.eq(checked.beats.payload),
            self.is_used_up.eq(checked.is_used_up),
            self.is_correct.eq(checked.is_correct),
        ]
        with m.If(takes_chunk):
            m.d.sync += number.eq(number + 1)
        with m.If(has_room):
            m.d.sync += [
                beat.eq(checked.beats.payload),
                is_full.eq(checked.beats.valid),
                number.eq(0),
            ]
        with m.If(~self.is_coded):
            m.d.sync += is_full.eq(0)
        return m

"""Writes of consecutive words to DRAM."""

from amaranth import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out

from kiwicha.contract.latencies import READER_WORDS
from kiwicha.gateware.engine.memory.dma_reader import validated_depth
from kiwicha.gateware.engine.memory.interfaces import (
    GRANT,
    WORD_RANGE,
    WRITE_BEAT,
    StoreSignature,
    WritePortSignature,
)

__all__ = ["DmaWriter"]


class DmaWriter(wiring.Component):
    """Store ranges of words, in order, from a stream.

    A command is given only when its data are in the FIFO. So as not to give single ones, a burst
    starts when the FIFO is half full or the rest of the range is there.

    Latency: 2 cycles from the last beat to its command. Throughput: one word per cycle.

    Parameters
    ----------
    depth : int
        Words of the FIFO, a power of two from 8 to 512.

    Members
    -------
    requests : ``In(stream.Signature(GRANT))``
        Where to store; taken when the last one is complete.
    store : ``In(StoreSignature())``
        What to store.
    port : ``Out(WritePortSignature())``

    Attributes
    ----------
    left : Signal
        The part of the range without commands.
    is_active : Signal
        There is such a part.
    waiting : Signal
        Words in the FIFO without commands.

    Raises
    ------
    ValueError
        If ``depth`` is not such a number.
    """

    ROOM = 8
    """Beats that may come from the last cycle with ``has_room`` on: those that makes them need time
    to stop. The converter finishes the line that it has read, 4 beats, behind up to 3 others."""

    def __init__(self, *, depth: int = READER_WORDS) -> None:
        self.depth = validated_depth(depth)
        super().__init__({
            "requests": In(stream.Signature(GRANT)),
            "store": In(StoreSignature()),
            "port": Out(WritePortSignature()),
        })
        self.left = Signal(WORD_RANGE)
        self.is_active = Signal()
        self.waiting = Signal(range(self.depth + 1))

    def elaborate(self, platform: object) -> Module:
        """Build the count through the range and the FIFO, whose oldest words have commands."""
        m = Module()
        commands = self.port.commands
        m.submodules.fifo = fifo = SyncFIFO(width=WRITE_BEAT.size, depth=self.depth)

        left, is_active, waiting = self.left, self.is_active, self.waiting
        is_bursting = Signal()
        gives = Signal()
        m.d.comb += [
            fifo.w_en.eq(self.store.beats.valid),
            fifo.w_data.eq(self.store.beats.payload),
            self.port.beats.valid.eq(fifo.r_rdy),
            self.port.beats.payload.eq(fifo.r_data),
            fifo.r_en.eq(self.port.beats.ready),
            self.store.has_room.eq(fifo.level <= self.depth - self.ROOM),
            self.store.is_idle.eq(~is_active & (fifo.level == 0)),
            self.requests.ready.eq(self.store.is_idle),
            commands.valid.eq(is_active & is_bursting & (waiting != 0)),
            commands.payload.eq(left.address),
            gives.eq(commands.valid & commands.ready),
        ]
        m.d.sync += waiting.eq(waiting + self.store.beats.valid - gives)
        with m.If((waiting >= self.depth // 2) | (waiting == left.words)):
            m.d.sync += is_bursting.eq(1)
        with m.Elif(waiting == 0):
            m.d.sync += is_bursting.eq(0)
        with m.If(gives):
            m.d.sync += [left.address.eq(left.address + 1), left.words.eq(left.words - 1)]
            m.d.sync += is_active.eq(left.words != 1)
        with m.If(self.requests.valid & self.requests.ready):
            request = self.requests.payload
            m.d.sync += [left.address.eq(request.address), left.words.eq(request.words)]
            m.d.sync += is_active.eq(1)
        return m

"""Reads of consecutive words from DRAM."""

from amaranth import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out

from kiwicha.contract.latencies import READER_WORDS
from kiwicha.gateware.engine.memory.interfaces import (
    GRANT,
    PORT_ADDRESS_BITS,
    READ_BEAT,
    ReadPortSignature,
)

__all__ = ["DmaReader", "validated_depth"]


def validated_depth(depth: int) -> int:
    """Return the depth of a FIFO if it is one that a burst needs.

    Raises
    ------
    ValueError
        If it is not a power of two from 8 to 512.
    """
    is_valid = isinstance(depth, int) and 8 <= depth <= 512
    if not is_valid or depth & (depth - 1):
        raise ValueError(f"depth must be a power of two from 8 to 512, not {depth!r}")
    return depth


class DmaReader(wiring.Component):
    """Fetch ranges of words, in order, as one stream.

    A word is asked for only when the FIFO has a place for it. So as not to ask for single words
    when the FIFO is nearly full, a burst starts when half of it is free.

    Latency: 1 cycle from a request to its first command, 1 from a word to its beat. Throughput:
    one word per cycle; the next request is taken when the last word of a range was asked for.

    Parameters
    ----------
    depth : int
        Words of the FIFO, a power of two from 8 to 512.

    Members
    -------
    requests : ``In(stream.Signature(GRANT))``
        What to fetch.
    beats : ``Out(stream.Signature(READ_BEAT))``
        The words; each range ends with ``is_last``.
    port : ``Out(ReadPortSignature())``

    Attributes
    ----------
    address, end : Signal
        The first word that was not asked for; the one behind the range.
    free : Signal
        Places of the FIFO that no word was asked for.

    Raises
    ------
    ValueError
        If ``depth`` is not such a number.
    """

    def __init__(self, *, depth: int = READER_WORDS) -> None:
        self.depth = validated_depth(depth)
        super().__init__({
            "requests": In(stream.Signature(GRANT)),
            "beats": Out(stream.Signature(READ_BEAT)),
            "port": Out(ReadPortSignature()),
        })
        self.address, self.end = (
            Signal(PORT_ADDRESS_BITS, name=name, reset_less=True) for name in ("address", "end")
        )
        self.free = Signal(range(self.depth + 1), init=self.depth)

    def elaborate(self, platform: object) -> Module:
        """Build the count through the range and the FIFO with its places."""
        m = Module()
        commands, arriving = self.port.commands, self.port.beats
        m.submodules.fifo = fifo = SyncFIFO(width=READ_BEAT.size, depth=self.depth)
        m.d.comb += [
            fifo.w_en.eq(arriving.valid),
            fifo.w_data.eq(arriving.payload),
            self.beats.valid.eq(fifo.r_rdy),
            self.beats.payload.eq(fifo.r_data),
            fifo.r_en.eq(self.beats.ready),
        ]

        # A comparison takes less room than a second count.
        address, end, free = self.address, self.end, self.free
        following = Signal.like(address)
        is_active = Signal()
        is_bursting = Signal()
        asks = Signal()
        takes = Signal()
        m.d.comb += [
            self.requests.ready.eq(~is_active),
            commands.valid.eq(is_active & is_bursting & (free != 0)),
            following.eq(address + 1),
            commands.payload.address.eq(address),
            commands.payload.is_last.eq(following == end),
            asks.eq(commands.valid & commands.ready),
            takes.eq(self.beats.valid & self.beats.ready),
        ]
        m.d.sync += free.eq(free - asks + takes)
        with m.If(free >= self.depth // 2):
            m.d.sync += is_bursting.eq(1)
        with m.Elif(free == 0):
            m.d.sync += is_bursting.eq(0)
        with m.If(asks):
            m.d.sync += [address.eq(following), is_active.eq(~commands.payload.is_last)]
        with m.If(self.requests.valid & self.requests.ready):
            request = self.requests.payload
            m.d.sync += [address.eq(request.address), end.eq(request.end), is_active.eq(1)]
        return m

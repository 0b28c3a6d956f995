"""From the body of an answer to a frame on the line."""

from amaranth import Module, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.crc import catalog
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

__all__ = ["BODY_BYTE", "FrameEncoder"]

_LONGEST_BLOCK = 254
_CRC_BYTES = 4

BODY_BYTE = data.StructLayout({"byte": 8, "is_last": 1})


class FrameEncoder(wiring.Component):
    """Keep a body, and send it as a frame of the serial line (`kiwicha.contract.serial`).

    A block's length stands before it: the body is kept, and searched for its zeros. It can be
    sent again until another comes.

    Parameters
    ----------
    body_bytes : int
        Size of the longest body.

    Members
    -------
    i : ``In(stream.Signature(BODY_BYTE))``
        A body; its frame is sent after the last byte.
    again : ``In(1)``
        Send the last frame once more; only when idle.
    o : ``Out(stream.Signature(8))``
        Bytes of the line.
    is_idle : ``Out(1)``
        Nothing is being sent or kept.
    """

    def __init__(self, *, body_bytes: int) -> None:
        self.body_bytes = body_bytes
        super().__init__({
            "i": In(stream.Signature(BODY_BYTE)),
            "again": In(1),
            "o": Out(stream.Signature(8)),
            "is_idle": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        """Build memory and CRC; keep a body, then send it."""
        m = Module()
        m.submodules.crc = crc = catalog.CRC32_ISO_HDLC(data_width=8).create()
        depth = self.body_bytes + _CRC_BYTES
        m.submodules.memory = memory = Memory(shape=8, depth=depth, init=[])
        write, read = memory.write_port(), memory.read_port()
        end, at, start = (Signal(range(depth + 1), name=name) for name in ("end", "at", "start"))
        crc_byte = Signal(range(_CRC_BYTES))
        m.d.comb += [
            write.addr.eq(end),
            read.addr.eq(at),
            crc.data.eq(self.i.payload.byte),
            crc.valid.eq(self.i.valid & self.i.ready),
        ]
        with m.If(write.en):
            m.d.sync += end.eq(end + 1)
        with m.FSM():
            with m.State("IDLE"):
                m.d.comb += [self.is_idle.eq(1), crc.start.eq(1)]
                m.d.sync += [start.eq(0), at.eq(0), crc_byte.eq(0)]
                with m.If(self.i.valid):
                    m.d.sync += end.eq(0)
                    m.next = "BODY"
                with m.Elif(self.again):
                    m.next = "READ"
            with m.State("BODY"):
                m.d.comb += [
                    self.i.ready.eq(1),
                    write.en.eq(self.i.valid),
                    write.data.eq(self.i.payload.byte),
                ]
                with m.If(self.i.valid & self.i.payload.is_last):
                    m.next = "CRC"
            with m.State("CRC"):
                m.d.comb += [write.en.eq(1), write.data.eq(crc.crc.word_select(crc_byte, 8))]
                m.d.sync += crc_byte.eq(crc_byte + 1)
                with m.If(crc_byte == _CRC_BYTES - 1):
                    m.next = "READ"
            self._send_blocks(m, read.data, at, start, end)
            with m.State("ZERO"):
                m.d.comb += self.o.valid.eq(1)
                with m.If(self.o.ready):
                    m.next = "IDLE"
        return m

    def _send_blocks(self, m: Module, byte: Signal, at: Signal, start: Signal, end: Signal) -> None:
        """Build the states that send blocks: from ``start`` to a zero, to 254 bytes or the end."""
        block_end = Signal.like(at)
        length = at - start
        is_full = Signal()
        with m.State("READ"):
            m.next = "SEARCH"
        with m.State("SEARCH"):
            with m.If((at == end) | (length == _LONGEST_BLOCK) | (byte == 0)):
                m.d.sync += [block_end.eq(at), is_full.eq(length == _LONGEST_BLOCK)]
                m.next = "CODE"
            with m.Else():
                m.d.sync += at.eq(at + 1)
                m.next = "READ"
        with m.State("CODE"):
            m.d.comb += [self.o.valid.eq(1), self.o.payload.eq(length + 1)]
            with m.If(self.o.ready):
                m.d.sync += at.eq(start)
                m.next = "FETCH"
        with m.State("FETCH"):
            with m.If(at != block_end):
                m.next = "SEND"
            with m.Elif(is_full):
                m.d.sync += start.eq(at)
                m.next = "READ"
            with m.Elif(at != end):
                # The zero itself is not sent.
                m.d.sync += [at.eq(at + 1), start.eq(at + 1)]
                m.next = "READ"
            with m.Else():
                m.next = "ZERO"
        with m.State("SEND"):
            m.d.comb += [self.o.valid.eq(1), self.o.payload.eq(byte)]
            with m.If(self.o.ready):
                m.d.sync += at.eq(at + 1)
                m.next = "FETCH"

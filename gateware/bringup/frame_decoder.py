"""From the bytes of the line to the bodies of frames."""

from amaranth import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.crc import catalog
from amaranth.lib.wiring import In, Out

__all__ = ["FrameDecoder"]

_LONGEST_BLOCK = 254


class FrameDecoder(wiring.Component):
    """Decode frames of the serial line (`kiwicha.contract.serial`), and check their CRC-32.

    The bytes of a frame come out as they arrive, the CRC's four included: whether they count is
    known at its end. Whatever came before, the frame after a zero byte is decoded.

    Members
    -------
    i : ``In(stream.Signature(8, always_ready=True))``
        Bytes of the line.
    has_error : ``In(1)``
        A byte was lost: the frame is bad.
    o : ``Out(stream.Signature(8, always_ready=True))``
        Decoded bytes, in the cycle of the byte that they follow from.
    is_end : ``Out(1)``
        High for one cycle after the last byte of a frame, which may be an empty one.
    is_good : ``Out(1)``
        With ``is_end``: the frame is whole and its CRC matches.
    """

    def __init__(self) -> None:
        super().__init__({
            "i": In(stream.Signature(8, always_ready=True)),
            "has_error": In(1),
            "o": Out(stream.Signature(8, always_ready=True)),
            "is_end": Out(1),
            "is_good": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the count of bytes to the next code, and the CRC."""
        m = Module()
        m.submodules.crc = crc = catalog.CRC32_ISO_HDLC(data_width=8).create()
        bytes_left = Signal(8)
        is_first = Signal(init=1)
        owes_zero = Signal()
        is_bad = Signal()
        is_code = bytes_left == 0
        is_end = self.i.valid & (self.i.payload == 0)
        m.d.comb += [
            self.o.valid.eq(self.i.valid & ~is_end & (~is_code | owes_zero)),
            self.is_end.eq(is_end),
            self.is_good.eq(is_end & is_code & ~is_first & ~is_bad & crc.match_detected),
            crc.data.eq(self.o.payload),
            crc.valid.eq(self.o.valid),
            crc.start.eq(is_end),
        ]
        # A block ends in a zero that is not sent; after the last block there is none.
        with m.If(~is_code):
            m.d.comb += self.o.payload.eq(self.i.payload)
        with m.If(is_end):
            m.d.sync += [bytes_left.eq(0), is_first.eq(1), owes_zero.eq(0), is_bad.eq(0)]
        with m.Elif(self.has_error):
            m.d.sync += is_bad.eq(1)
        with m.Elif(self.i.valid & is_code):
            m.d.sync += [
                bytes_left.eq(self.i.payload - 1),
                owes_zero.eq(self.i.payload <= _LONGEST_BLOCK),
                is_first.eq(0),
            ]
        with m.Elif(self.i.valid):
            m.d.sync += bytes_left.eq(bytes_left - 1)
        return m

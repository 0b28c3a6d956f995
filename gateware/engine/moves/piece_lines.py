"""The lines of the scratchpad that a piece touches, one after the other."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from kiwicha.contract.engine import LINE_BYTES
from kiwicha.gateware.engine.descriptors import ADDRESS_BITS, BYTE_BITS, LINE_BITS
from kiwicha.gateware.engine.moves.loops import are_equal

__all__ = ["PieceLines"]

_COUNT_BITS = 16 - BYTE_BITS + 1


class PieceLines(wiring.Component):
    """Where the next line of a piece is, and which of its bytes belong to the piece.

    Everything comes out in the same cycle.

    Members
    -------
    target : ``In(ADDRESS_BITS)``
        First byte of the piece; stable from its first line to the last.
    last_byte : ``In(16)``
        Bytes of the piece less 1; stable from the cycle before the first piece on.
    takes : ``In(1)``
        The line is taken; with ``is_last`` the next piece begins.
    line : ``Out(LINE_BITS)``
        Its number.
    low, high : ``Out(BYTE_BITS)``
        First and last byte of the piece in it.
    is_last : ``Out(1)``
        It is the last one.
    back : ``Out(ADDRESS_BITS)``
        How far the byte that belongs to byte 0 of the line lies before the first byte of the
        source, modulo 2**ADDRESS_BITS.
    """

    def __init__(self) -> None:
        super().__init__({
            "target": In(ADDRESS_BITS),
            "last_byte": In(16),
            "takes": In(1),
            "line": Out(LINE_BITS),
            "low": Out(BYTE_BITS),
            "high": Out(BYTE_BITS),
            "is_last": Out(1),
            "back": Out(ADDRESS_BITS),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the count of lines."""
        m = Module()
        first_byte = self.target[:BYTE_BITS]
        # Lines before this one, less 1: its complement is their number with the other sign.
        before = Signal(_COUNT_BITS, init=(1 << _COUNT_BITS) - 1)
        is_first = Signal(init=1)
        end = Signal(BYTE_BITS + 1)
        # A piece touches one more line if its first and last bytes make up more than a line. That a
        # line is the last one is noted for both numbers of lines, a line ahead.
        last_line = self.last_byte[BYTE_BITS:]
        before_both = Signal(_COUNT_BITS, reset_less=True)
        is_last_of_fewer = Signal()
        is_last_of_more = Signal()
        m.d.sync += before_both.eq(last_line - 2)
        m.d.comb += [
            end.eq(self.last_byte[:BYTE_BITS] + first_byte),
            self.is_last.eq(Mux(end[BYTE_BITS], is_last_of_more, is_last_of_fewer)),
            self.line.eq(self.target[BYTE_BITS:] - ~before.as_signed()),
            self.low.eq(Mux(is_first, first_byte, 0)),
            self.high.eq(Mux(self.is_last, end[:BYTE_BITS], LINE_BYTES - 1)),
            self.back.eq(Cat(first_byte, ~before).as_signed()),
        ]
        with m.If(self.takes & ~self.is_last):
            m.d.sync += [
                before.eq(before + 1),
                is_first.eq(0),
                is_last_of_fewer.eq(are_equal(before, before_both)),
                is_last_of_more.eq(is_last_of_fewer),
            ]
        with m.Elif(self.takes | is_first):
            # Before the first piece too, for the job that comes.
            m.d.sync += [
                before.eq(before.init),
                is_first.eq(1),
                is_last_of_fewer.eq(last_line == 0),
                is_last_of_more.eq(0),
            ]
        return m

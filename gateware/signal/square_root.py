"""Rounded square roots."""

from amaranth import Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

__all__ = ["SquareRoot"]

_ROOT_BITS = 32


class SquareRoot(wiring.Component):
    """Find the rounded root of a number of 64 bits, a bit per cycle.

    Latency: 33 cycles from ``start`` until ``root`` is there. One number at a time.

    Members
    -------
    start : ``In(1)``
        Take ``number``; what was under way is lost.
    number : ``In(64)``
        Taken with ``start``.
    is_busy : ``Out(1)``
        From the cycle after ``start`` on, until ``root`` is there.
    root : ``Out(32)``
        Root of the last number; stays until the next ``start``. It is not rounded up where it then
        had more bits than a number of 32 or 64 bits allows for.

    Notes
    -----
    Ref: `kiwicha.numerics.sound.square_roots`, before the shift.
    """

    def __init__(self) -> None:
        super().__init__({
            "start": In(1),
            "number": In(64),
            "is_busy": Out(1),
            "root": Out(_ROOT_BITS),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the steps: two bits of the number come down, and a bit of the root is known."""
        m = Module()
        digits = Signal(64, reset_less=True)
        rest = Signal(_ROOT_BITS + 2, reset_less=True)
        is_short = Signal(reset_less=True)
        left = Signal(range(_ROOT_BITS + 2))
        root = self.root
        m.d.comb += self.is_busy.eq(left.any())
        trial = Cat(Const(1, 2), root)
        more = Cat(digits[-2:], rest)
        fits = Signal()
        m.d.comb += fits.eq(more >= trial)
        most = Mux(is_short, (1 << (_ROOT_BITS // 2)) - 1, (1 << _ROOT_BITS) - 1)
        with m.If(self.start):
            m.d.sync += [
                digits.eq(self.number),
                is_short.eq(~self.number[32:].any()),
                rest.eq(0),
                root.eq(0),
                left.eq(_ROOT_BITS + 1),
            ]
        with m.Elif(left > 1):
            m.d.sync += [
                digits.eq(digits << 2),
                rest.eq(Mux(fits, more - trial, more)),
                root.eq(Cat(fits, root)),
                left.eq(left - 1),
            ]
        with m.Elif(left == 1):
            m.d.sync += [root.eq(root + ((rest > root) & (root != most))), left.eq(0)]
        return m

"""Samples times their weights."""

from amaranth import Cat, Module, Mux, Signal, Value, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from kiwicha.gateware.signal.interfaces import NUMBER, PRODUCTS

__all__ = ["TaperedPoint"]

_SHORT_BITS = 16


class TaperedPoint(wiring.Component):
    """Shift two products down, saturate them, and tell the bits of their magnitudes.

    Combinational.

    Members
    -------
    products : ``In(PRODUCTS)``
        Of samples and weights: the first two.
    shift : ``In(5)``
        Bits that are dropped.
    number : ``Out(NUMBER)``
        The point.
    magnitude : ``Out(16)``
        Bits of both magnitudes; that of -32768 has the highest one.

    Notes
    -----
    Ref: `kiwicha.numerics.sound.tapered`.
    """

    def __init__(self) -> None:
        super().__init__({
            "products": In(PRODUCTS),
            "shift": In(5),
            "number": Out(NUMBER),
            "magnitude": Out(_SHORT_BITS),
        })

    def elaborate(self, platform: object) -> Module:
        """Build two shifters and what limits them."""
        m = Module()
        magnitude: Value | int = 0
        for k, part in enumerate(("re", "im")):
            shifted = Signal(signed(2 * _SHORT_BITS), name=f"shifted_{part}")
            m.d.comb += shifted.eq(self.products[k] >> self.shift)
            sign = shifted[-1]
            fits = shifted[_SHORT_BITS - 1 :] == sign.replicate(_SHORT_BITS + 1)
            limit = Cat((~sign).replicate(_SHORT_BITS - 1), sign)
            value = Mux(fits, shifted[:_SHORT_BITS], limit).as_signed()
            m.d.comb += self.number[part].eq(value)
            magnitude |= Mux(value < 0, -value, value)[:_SHORT_BITS]
        m.d.comb += self.magnitude.eq(magnitude)
        return m

"""Product of two numbers of 33 bits."""

from amaranth import Cat, Module, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

__all__ = ["FACTOR_BITS", "Product"]

FACTOR_BITS = 33
_LOW_BITS = 16
_HIGH_BITS = FACTOR_BITS - _LOW_BITS
_DROPPED_BITS = 31


class Product(wiring.Component):
    """The upper half of a signed product, from four that fit multipliers of 18 bits.

    Latency: 2 cycles. Throughput: a product per cycle.

    Members
    -------
    a, b : ``In(signed(33))``
        Its factors.
    high : ``Out(signed(35))``
        ``a * b >> 31``.
    """

    def __init__(self) -> None:
        super().__init__({
            "a": In(signed(FACTOR_BITS)),
            "b": In(signed(FACTOR_BITS)),
            "high": Out(signed(2 * FACTOR_BITS - _DROPPED_BITS)),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the partial products, then their sum."""
        m = Module()
        a_low, a_high = self.a[:_LOW_BITS], self.a[_LOW_BITS:].as_signed()
        b_low, b_high = self.b[:_LOW_BITS], self.b[_LOW_BITS:].as_signed()
        low = Signal(2 * _LOW_BITS, reset_less=True)
        crossed = [
            Signal(signed(_LOW_BITS + _HIGH_BITS + 1), name=f"crossed_{k}", reset_less=True)
            for k in range(2)
        ]
        high = Signal(signed(2 * _HIGH_BITS), reset_less=True)
        m.d.sync += [
            low.eq(a_low * b_low),
            crossed[0].eq(a_high * b_low),
            crossed[1].eq(a_low * b_high),
            high.eq(a_high * b_high),
        ]
        # The lowest bits of the product have no part in a carry.
        outer = Cat(low[_LOW_BITS:], high).as_signed()
        total = Signal(signed(2 * FACTOR_BITS - _LOW_BITS))
        m.d.comb += total.eq(outer + (crossed[0] + crossed[1]))
        m.d.sync += self.high.eq(total >> (_DROPPED_BITS - _LOW_BITS))
        return m

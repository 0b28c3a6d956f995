"""Four products at a time, which everything in the unit shares."""

from amaranth import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from kiwicha.gateware.signal.interfaces import FACTORS, PRODUCTS

__all__ = ["Products"]


class Products(wiring.Component):
    """Multiply four pairs of numbers of 16 bits, with a sign or without.

    Latency: 2 cycles. Throughput: four products per cycle.

    Members
    -------
    left, right : ``In(FACTORS)``
        What is multiplied.
    o : ``Out(PRODUCTS)``
        The products of 2 cycles ago.
    """

    def __init__(self) -> None:
        super().__init__({"left": In(FACTORS), "right": In(FACTORS), "o": Out(PRODUCTS)})

    def elaborate(self, platform: object) -> Module:
        """Build registers before and behind the multipliers, which DSP blocks have."""
        m = Module()
        left, right = (Signal(FACTORS, name=f"{side}_s1", reset_less=True) for side in "ab")
        found = Signal(PRODUCTS, reset_less=True)
        m.d.sync += [left.eq(self.left), right.eq(self.right)]
        for k in range(4):
            m.d.sync += found[k].eq(left[k] * right[k])
        m.d.comb += self.o.eq(found)
        return m

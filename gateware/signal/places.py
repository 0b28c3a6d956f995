"""Where numbers of a transform lie."""

from amaranth import Array, Cat, Module, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from kiwicha.contract.signal import LEAST_HALF_BITS, MOST_HALF_BITS
from kiwicha.gateware.signal.interfaces import PLACE_BITS

__all__ = ["HALF_BITS", "FirstPlace", "leg_place"]

HALF_BITS = range(MOST_HALF_BITS + 1)
"""Shape of how many bits the count of points has."""


class FirstPlace(wiring.Component):
    """Tell where a point lies before the first stage.

    Its number is read in digits of base 4 from the other end; where the number of bits is odd, the
    highest one is a digit alone. Combinational.

    Members
    -------
    number : ``In(PLACE_BITS)``
        Of the point.
    half_bits : ``In(HALF_BITS)``
        Bits of such numbers.
    place : ``Out(PLACE_BITS)``
        Where it is.

    Notes
    -----
    Ref: `kiwicha.numerics.fourier.positions`.
    """

    def __init__(self) -> None:
        super().__init__({
            "number": In(PLACE_BITS),
            "half_bits": In(HALF_BITS),
            "place": Out(PLACE_BITS),
        })

    def elaborate(self, platform: object) -> Module:
        """Build a choice for each number of bits: nothing but wires is chosen from."""
        m = Module()
        with m.Switch(self.half_bits):
            for bits in range(LEAST_HALF_BITS, MOST_HALF_BITS + 1):
                digits = [self.number[at : min(at + 2, bits)] for at in range(0, bits, 2)]
                with m.Case(bits):
                    m.d.comb += self.place.eq(Cat(*reversed(digits)))
        return m


def leg_place(butterfly: Value, leg: Value, length_bits: Value) -> Value:
    """Return where a number of a butterfly of four lies.

    Parameters
    ----------
    butterfly : Value
        Number of the butterfly in its stage.
    leg : Value
        Which of its numbers.
    length_bits : Value
        Bits of the length of the transforms that are combined.
    """
    places = [
        Cat(butterfly[:bits], leg, butterfly[bits:])[:PLACE_BITS] for bits in range(PLACE_BITS - 1)
    ]
    return Array(places)[length_bits]

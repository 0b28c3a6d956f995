"""What passes between the array, the parameters and the requantizer."""

from amaranth import Cat, Mux, Value, signed, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from kiwicha.contract.engine import SQUARE_BITS

__all__ = ["PARAMETERS", "RequantizerSignature", "split_shift"]

PARAMETERS = data.StructLayout({
    "bias": signed(32),
    "multiplier": unsigned(31),
    "left": 5,
    "right": 5,
})
"""What one channel adds, and scales by ``multiplier * 2**(left - right - 31)``.

``left`` and ``right`` are the shift, -31 to 30, where it is positive and minus it where it is not;
at least one of them is 0.
"""


def split_shift(shift: Value) -> Value:
    """Return the fields ``left`` and ``right`` of `PARAMETERS`, 10 bits, for a signed shift."""
    return Cat(Mux(shift < 0, 0, shift)[:5], Mux(shift < 0, -shift, 0)[:5])


class RequantizerSignature(wiring.Signature):
    """Interface of a `Requantizer`, as the data path sees it.

    Parameters
    ----------
    lanes : int
        Values per beat.
    tag_bits : int
        Width of ``tag``.
    has_int16 : bool
        Results can have 16 bits.

    Members
    -------
    is_wide : ``Out(1)``
        Two passes per beat.
    is_square : ``Out(1)``
        Sums are squared; ``is_wide`` too. In cycles without a beat sums are 0, and all parameters
        have the same multiplier and shift.
    zero_point : ``Out(signed(8))``
        The output's zero point.
    minimum, maximum : ``Out(signed(8))``
        The clamp; minimum <= maximum. These four are stable from a beat to its result.
    beats : ``Out(stream.Signature(StructLayout(sums, parameters, tag), always_ready=True))``
        ``sums`` are ``lanes`` x signed(32), ``parameters`` ``lanes`` x `PARAMETERS`; ``tag`` comes
        out with the result.
    totals : ``In(ArrayLayout(signed(32), lanes))``
        Sums and biases of the last beat, from one cycle after it on.
    comes : ``In(1)``
        There is a result in the next cycle.
    results : ``In(stream.Signature(StructLayout(values, tag), always_ready=True))``
        ``lanes`` x signed(8).
    is_short : ``Out(1)``
        Only with ``has_int16``: results have 16 bits. ``values`` are their upper bytes; ``is_wide``
        too, not ``is_square``, and the zero point is 0.
    lowers : ``In(ArrayLayout(8, lanes))``
        Only with ``has_int16``: their lower bytes, until there is another result.
    is_operand, is_product : ``Out(1)``
        Only with ``has_int16``: the beat has one pass, in which its sums are scaled as operands, or
        multiplied by others. They are int16. ``is_wide`` too; only with a beat.
    is_difference : ``Out(1)``
        Only with ``has_int16``: what comes out of the first of two operands, one in a cycle and the
        other in the next, is one more. Stable.
    others : ``Out(ArrayLayout(signed(16), lanes))``
        Only with ``has_int16``: second factors of products.
    raised, products : ``In(ArrayLayout(signed(32), lanes))``
        Only with ``has_int16``: scaled operands of 8 cycles ago, and products of 4 cycles ago.
    """

    def __init__(self, *, lanes: int, tag_bits: int, has_int16: bool = False) -> None:
        beat = data.StructLayout({
            "sums": data.ArrayLayout(signed(32), lanes),
            "parameters": data.ArrayLayout(PARAMETERS, lanes),
            "tag": tag_bits,
        })
        result = data.StructLayout({
            "values": data.ArrayLayout(signed(8), lanes),
            "tag": tag_bits,
        })
        short = {
            "is_short": Out(1),
            "lowers": In(data.ArrayLayout(8, lanes)),
            "is_operand": Out(1),
            "is_product": Out(1),
            "is_difference": Out(1),
            "others": Out(data.ArrayLayout(signed(SQUARE_BITS), lanes)),
            "raised": In(data.ArrayLayout(signed(32), lanes)),
            "products": In(data.ArrayLayout(signed(32), lanes)),
        }
        super().__init__({
            **(short if has_int16 else {}),
            "is_wide": Out(1),
            "is_square": Out(1),
            "zero_point": Out(signed(8)),
            "minimum": Out(signed(8)),
            "maximum": Out(signed(8)),
            "beats": Out(stream.Signature(beat, always_ready=True)),
            "totals": In(data.ArrayLayout(signed(32), lanes)),
            "comes": In(1),
            "results": In(stream.Signature(result, always_ready=True)),
        })

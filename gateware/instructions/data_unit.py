"""Bytes of words: unaligned words, extraction, packing, maxima."""

from amaranth import Cat, Module, Mux, signed
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from kiwicha.contract.cfu import DataOp

__all__ = ["DataUnit"]


class DataUnit(wiring.Component):
    """Compute the instructions of `kiwicha.contract.cfu.DataOp`.

    Combinational.

    Members
    -------
    inputs_0, inputs_1 : ``In(32)``
        Operands.
    index : ``In(2)``
        Byte number of ALIGN and EXTRACT; 0 for the others.
    is_extract, is_pack, ... : ``In(1)``
        One for each of `DataOp` but ALIGN. At most one is set; none means ALIGN.
    o : ``Out(32)``
        The result.
    """

    def __init__(self) -> None:
        super().__init__({
            "inputs_0": In(32),
            "inputs_1": In(32),
            "index": In(2),
            **{f"is_{op.name.lower()}": In(1) for op in DataOp if op is not DataOp.ALIGN},
            "o": Out(32),
        })

    def elaborate(self, platform: object) -> Module:
        """Build one byte shifter, which ALIGN, EXTRACT and PACK share, and four comparators."""
        m = Module()
        # PACK is an alignment by one byte: its other three bytes of inputs_1 fall off.
        words = Cat(self.inputs_0, self.inputs_1)
        aligned = words.bit_select((self.index | self.is_pack) << 3, 32)
        bytes_0 = data.View(data.ArrayLayout(signed(8), 4), self.inputs_0)
        bytes_1 = data.View(data.ArrayLayout(signed(8), 4), self.inputs_1)
        maxima = Cat(Mux(x > y, x, y)[:8] for x, y in zip(bytes_0, bytes_1, strict=True))
        with m.If(self.is_max):
            m.d.comb += self.o.eq(maxima)
        with m.Elif(self.is_extract):
            m.d.comb += self.o.eq(aligned[:8].as_signed())
        with m.Else():
            m.d.comb += self.o.eq(aligned)
        return m

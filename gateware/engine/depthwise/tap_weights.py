"""Weights of the depthwise unit: those of each pass, for several groups."""

from amaranth import Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from kiwicha.contract.depthwise import PASS_BEATS, PASS_PLACES, UNIT_TAPS
from kiwicha.gateware.delay import delayed
from kiwicha.gateware.engine.depthwise.interfaces import TAP_WORD

__all__ = ["TapWeights"]

_CELLS = UNIT_TAPS * UNIT_TAPS


class TapWeights(wiring.Component):
    """A word of 8 channels for each cell of a pass, in memories of a few words.

    Latency: 1 cycle from ``place`` to the weights of kernel row 0 of the pass, and `UNIT_TAPS` more
    for each further kernel row, as the chains want them. A write can be read one cycle later.

    Members
    -------
    write : ``In(1)``
        Store ``words`` for cells ``2 * write_pair`` and the one behind it, at ``write_place``.
    write_place, write_pair, words
        What is written; there is no cell 9.
    place : ``In(range(PASS_PLACES))``
        Which pass is read.
    weights : ``Out(ArrayLayout(ArrayLayout(signed(9), 8), 9))``
        ``weights[cell][channel]``.
    """

    def __init__(self) -> None:
        super().__init__({
            "write": In(1),
            "write_place": In(range(PASS_PLACES)),
            "write_pair": In(range(PASS_BEATS)),
            "words": In(data.ArrayLayout(TAP_WORD, 2)),
            "place": In(range(PASS_PLACES)),
            "weights": Out(data.ArrayLayout(TAP_WORD, _CELLS)),
        })

    def elaborate(self, platform: object) -> Module:
        """Build a memory per cell, those of a kernel row with an address of their own time."""
        m = Module()
        for row in range(UNIT_TAPS):
            late = delayed(m, self.place, UNIT_TAPS * row, f"place_{row}")
            for cell in range(UNIT_TAPS * row, UNIT_TAPS * (row + 1)):
                memory = Memory(shape=TAP_WORD.size, depth=PASS_PLACES, init=[])
                m.submodules[f"cell_{cell}"] = memory
                write, read = memory.write_port(), memory.read_port(domain="comb")
                word = Signal(TAP_WORD.size, name=f"word_{cell}", reset_less=True)
                m.d.comb += [
                    write.addr.eq(self.write_place),
                    write.data.eq(self.words[cell % 2]),
                    write.en.eq(self.write & (self.write_pair == cell // 2)),
                    read.addr.eq(late),
                    self.weights[cell].as_value().eq(word),
                ]
                m.d.sync += word.eq(read.data)
        return m

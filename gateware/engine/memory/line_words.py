"""The words of a line, one at a time."""

from amaranth import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from kiwicha.contract.engine import LINE_BYTES

__all__ = ["LineWords"]


class LineWords(wiring.Component):
    """Keep a line and give its words, to whoever needs them: instructions and the converter.

    Latency: a line that is taken is there from the next cycle on.

    Members
    -------
    line : ``In(128)``
        The line.
    takes : ``In(1)``
        It is kept.
    index : ``In(2)``
        Number of a word of the line that is kept.
    word : ``Out(32)``
        That word, in the same cycle.
    """

    def __init__(self) -> None:
        super().__init__({
            "line": In(8 * LINE_BYTES),
            "takes": In(1),
            "index": In(2),
            "word": Out(32),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the register and the choice."""
        m = Module()
        kept = Signal(8 * LINE_BYTES, reset_less=True)
        with m.If(self.takes):
            m.d.sync += kept.eq(self.line)
        m.d.comb += self.word.eq(kept.word_select(self.index, 32))
        return m

"""The nested loops of a MOVE job."""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from kiwicha.contract.moves import MOVE_LOOPS, TILE_LOOPS

__all__ = ["LOOP_BITS", "MoveLoops", "are_equal"]

LOOP_BITS = (MOVE_LOOPS - 1).bit_length()
"""Number of a loop."""


def are_equal(left: Value, right: Value) -> Value:
    """Return whether two numbers are equal, compared three bits at a time: as many as fit a LUT."""
    return Cat(left[k : k + 3] == right[k : k + 3] for k in range(0, len(left), 3)).all()


class MoveLoops(wiring.Component):
    """The indices of the loops; after the last index of all they stand at their first again.

    Members
    -------
    last_indices : ``In(ArrayLayout(16, MOVE_LOOPS))``
        Of each loop; the last loop is the innermost.
    advances_inner : ``In(1)``
        The innermost loop advances, or begins again.
    advances_outer : ``In(1)``
        So do the loops outside of it.
    inner_index : ``Out(16)``
        Index of the innermost loop.
    is_last_inner : ``Out(1)``
        The innermost loop stands at its last index. Combinational.
    outer : ``Out(range(TILE_LOOPS))``
        Of the loops outside of it, which one advances next. Combinational.
    is_last_outer : ``Out(1)``
        They all stand at their last index. Combinational.
    """

    def __init__(self) -> None:
        super().__init__({
            "last_indices": In(data.ArrayLayout(16, MOVE_LOOPS)),
            "advances_inner": In(1),
            "advances_outer": In(1),
            "inner_index": Out(16),
            "is_last_inner": Out(1),
            "outer": Out(range(TILE_LOOPS)),
            "is_last_outer": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        """Build a counter for each loop."""
        m = Module()
        is_last = Signal(MOVE_LOOPS)
        # The advance comes late: what else a loop waits for is computed first, and kept as it is.
        are_last: Value = Const(1)
        for loop in (TILE_LOOPS, *reversed(range(TILE_LOOPS))):
            is_inner = loop == TILE_LOOPS
            index = self.inner_index if is_inner else Signal(16, name=f"index_{loop}")
            advances = (self.advances_inner if is_inner else self.advances_outer) & are_last
            m.d.comb += is_last[loop].eq(are_equal(index, self.last_indices[loop]))
            ends = advances & is_last[loop]
            if not is_inner:
                and_inner = Signal(name=f"are_last_{loop}", attrs={"keep": 1})
                m.d.comb += and_inner.eq(are_last & is_last[loop])
                are_last, ends = and_inner, self.advances_outer & and_inner
            # In this order what comes first becomes the reset of registers.
            with m.If(ends):
                m.d.sync += index.eq(0)
            with m.Elif(advances):
                m.d.sync += index.eq(index + 1)
        m.d.comb += [
            self.is_last_inner.eq(is_last[TILE_LOOPS]),
            self.outer.eq(Mux(~is_last[2], 2, ~is_last[1])),
            self.is_last_outer.eq(are_last),
        ]
        return m

"""Results are not closer than the requantizer takes them."""

from amaranth import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from kiwicha.contract.engine import SQUARE_INTERVAL

__all__ = ["ResultThrottle"]


class ResultThrottle(wiring.Component):
    """Hold back operations with a result until the last one is ``interval`` cycles ago.

    Members
    -------
    interval : ``In(5)``
        1 to 16 cycles.
    is_square : ``In(1)``
        Results are `SQUARE_INTERVAL`, or that twice, apart, or three cycles more or above: between,
        the passes of two results would meet.
    wants : ``In(1)``
        There is an operation to issue.
    ends : ``In(1)``
        It has a result.
    yields, pauses : ``In(1)``
        Hold an operation that has a result; hold any.
    issues : ``Out(1)``
        It is issued in this cycle. Combinational.
    is_held : ``Out(1)``
        It is not.
    """

    def __init__(self) -> None:
        super().__init__({
            "interval": In(5),
            "is_square": In(1),
            "wants": In(1),
            "ends": In(1),
            "yields": In(1),
            "pauses": In(1),
            "issues": Out(1),
            "is_held": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        """Count the cycles that are left."""
        m = Module()
        left = Signal(4)
        waits = Signal()
        m.d.comb += [
            waits.eq(left.any() & ~(self.is_square & (left == SQUARE_INTERVAL))),
            self.issues.eq(self.wants & ~self.pauses & ~(self.ends & (waits | self.yields))),
            self.is_held.eq(self.wants & ~self.issues),
        ]
        with m.If(self.issues & self.ends):
            # Of squares up to the second distance; at the first one there are three more.
            m.d.sync += left.eq(
                self.interval + Mux(self.is_square, SQUARE_INTERVAL - 1, -1).as_signed()
            )
        with m.Elif(left.any()):
            m.d.sync += left.eq(left - 1)
        return m

"""Results are not closer than the requantizer takes them."""

from amaranth import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

__all__ = ["ResultThrottle"]


class ResultThrottle(wiring.Component):
    """Hold back operations with a result until the last one is ``interval`` cycles ago.

    Members
    -------
    interval : ``In(5)``
        1 to 16 cycles.
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
        m.d.comb += [
            self.issues.eq(self.wants & ~self.pauses & ~(self.ends & (left.any() | self.yields))),
            self.is_held.eq(self.wants & ~self.issues),
        ]
        with m.If(self.issues & self.ends):
            m.d.sync += left.eq(self.interval - 1)
        with m.Elif(left.any()):
            m.d.sync += left.eq(left - 1)
        return m

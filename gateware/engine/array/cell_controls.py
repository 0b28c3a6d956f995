"""What the cells of the chains add their products to, operation by operation."""

from amaranth import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from kiwicha.gateware.engine.array.mac_cell import AddTo

__all__ = ["CellControls"]


class CellControls(wiring.Component):
    """Controls of the cells, at the delays that they want.

    Latency: 2 cycles from an operation to ``first_lane``, ``middle_lane`` and ``others``; 3 to
    ``enable``.

    Members
    -------
    is_conv : ``In(1)``
        The mode is CONV or PACKED.
    is_joined : ``In(1)``
        The two chains of a pair are one.
    valid, first, shift : ``In(1)``
        Of the operation.
    first_lane : ``Out(AddTo)``
        For lane 0, where the lower chain starts.
    middle_lane : ``Out(AddTo)``
        For the lane where the upper chain starts, or continues the lower one.
    others : ``Out(AddTo)``
        For all other lanes.
    enable : ``Out(1)``
        The cells' sums change.
    """

    def __init__(self) -> None:
        super().__init__({
            "is_conv": In(1),
            "is_joined": In(1),
            "valid": In(1),
            "first": In(1),
            "shift": In(1),
            "first_lane": Out(AddTo),
            "middle_lane": Out(AddTo),
            "others": Out(AddTo),
            "enable": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the choices of two cycles later."""
        m = Module()
        valid_s1 = Signal()
        valid_s2 = Signal()
        first_s1 = Signal()
        shift_s1 = Signal()
        m.d.sync += [
            valid_s1.eq(self.valid),
            valid_s2.eq(valid_s1),
            self.enable.eq(valid_s2 | self.is_conv),
            first_s1.eq(self.first),
            shift_s1.eq(self.shift),
        ]
        with m.If(self.is_conv):
            m.d.sync += [self.first_lane.eq(AddTo.ZERO), self.others.eq(AddTo.CHAIN)]
        with m.Elif(first_s1):
            m.d.sync += [self.first_lane.eq(AddTo.ZERO), self.others.eq(AddTo.ZERO)]
        with m.Elif(shift_s1):
            m.d.sync += [self.first_lane.eq(AddTo.ZERO), self.others.eq(AddTo.CHAIN)]
        with m.Else():
            m.d.sync += [self.first_lane.eq(AddTo.SELF), self.others.eq(AddTo.SELF)]
        is_start = ~self.is_joined & (first_s1 | shift_s1)
        is_in_chain = self.is_joined & (self.is_conv | (shift_s1 & ~first_s1))
        with m.If(is_in_chain):
            m.d.sync += self.middle_lane.eq(AddTo.CHAIN)
        with m.Elif(is_start | first_s1):
            m.d.sync += self.middle_lane.eq(AddTo.ZERO)
        with m.Else():
            m.d.sync += self.middle_lane.eq(AddTo.SELF)
        return m

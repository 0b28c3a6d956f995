"""Largest bytes of windows, one per lane."""

from amaranth import Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

__all__ = ["Maxima"]


class Maxima(wiring.Component):
    """The largest of what came since the last result, for each lane.

    Latency: 2 cycles from an operation to ``maxima`` that contain it. Throughput: an operation per
    cycle; those of the next result can follow at once.

    Parameters
    ----------
    lanes : int
        Bytes of an operation, 1 or more.

    Members
    -------
    is_active : ``In(1)``
        Else ``maxima`` are 0, one cycle later.
    valid : ``In(1)``
        There is an operation.
    last : ``In(1)``
        It is the last one of a result.
    x : ``In(ArrayLayout(unsigned(8), lanes))``
        Its bytes, 0 to 255.
    maxima : ``Out(ArrayLayout(unsigned(8), lanes))``
        Those of the result under way; 2 cycles after ``last``, the result.

    Raises
    ------
    ValueError
        If ``lanes`` is not such a number.
    """

    def __init__(self, *, lanes: int) -> None:
        if not isinstance(lanes, int) or lanes < 1:
            raise ValueError(f"lanes must be a positive integer, not {lanes!r}")
        self.lanes = lanes
        octets = data.ArrayLayout(8, lanes)
        super().__init__({
            "is_active": In(1),
            "valid": In(1),
            "last": In(1),
            "x": In(octets),
            "maxima": Out(octets),
        })

    def elaborate(self, platform: object) -> Module:
        """Build a comparison per lane, whose outcome is the enable of a register."""
        m = Module()
        starts = Signal(init=1)
        with m.If(self.valid):
            m.d.sync += starts.eq(self.last)
        for lane, octet in enumerate(self.x):
            largest = Signal(8, name=f"largest_{lane}", reset_less=True)
            with m.If(self.valid & (starts | (octet > largest))):
                m.d.sync += largest.eq(octet)
            with m.If(self.is_active):
                m.d.sync += self.maxima[lane].eq(largest)
            with m.Else():
                m.d.sync += self.maxima[lane].eq(0)
        return m

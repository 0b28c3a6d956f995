"""Largest bytes of windows, one per lane, and where they are in the window."""

from amaranth import Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

__all__ = ["Maxima"]


class Maxima(wiring.Component):
    """The largest of what came since the last result, for each lane, and its position.

    The position is the number of its operation, counted from the first one of the result, modulo
    256. Of equal bytes the first one counts.

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
    gives_positions : ``In(1)``
        Else the upper halves of ``maxima`` are 0, one cycle later.
    valid : ``In(1)``
        There is an operation.
    last : ``In(1)``
        It is the last one of a result.
    x : ``In(ArrayLayout(unsigned(8), lanes))``
        Its bytes, 0 to 255.
    maxima : ``Out(ArrayLayout(unsigned(16), lanes))``
        Those of the result under way, with their positions in the upper halves; 2 cycles after
        ``last``, the result.

    Raises
    ------
    ValueError
        If ``lanes`` is not such a number.
    """

    def __init__(self, *, lanes: int) -> None:
        if not isinstance(lanes, int) or lanes < 1:
            raise ValueError(f"lanes must be a positive integer, not {lanes!r}")
        self.lanes = lanes
        super().__init__({
            "is_active": In(1),
            "gives_positions": In(1),
            "valid": In(1),
            "last": In(1),
            "x": In(data.ArrayLayout(8, lanes)),
            "maxima": Out(data.ArrayLayout(16, lanes)),
        })

    def elaborate(self, platform: object) -> Module:
        """Build a comparison per lane, whose outcome is the enable of two registers."""
        m = Module()
        starts = Signal(init=1)
        number = Signal(8)
        with m.If(self.valid):
            m.d.sync += [starts.eq(self.last), number.eq(number + 1)]
            with m.If(self.last):
                m.d.sync += number.eq(0)
        for lane, octet in enumerate(self.x):
            largest = Signal(8, name=f"largest_{lane}", reset_less=True)
            position = Signal(8, name=f"position_{lane}", reset_less=True)
            with m.If(self.valid & (starts | (octet > largest))):
                m.d.sync += [largest.eq(octet), position.eq(number)]
            # Both have a place of their own in the sum, so that nothing chooses between them.
            lower, upper = self.maxima[lane][:8], self.maxima[lane][8:]
            m.d.sync += [lower.eq(0), upper.eq(0)]
            with m.If(self.is_active):
                m.d.sync += lower.eq(largest)
                with m.If(self.gives_positions):
                    m.d.sync += upper.eq(position)
        return m

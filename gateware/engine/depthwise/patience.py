"""How long the depthwise unit waits for the array before it asks for a share."""

from amaranth import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

__all__ = ["Patience"]

_WAITED_CYCLES = 8
_MOST_CYCLES = 2 * _WAITED_CYCLES - 1


class Patience(wiring.Component):
    """Asks for every other cycle, once there were 8 more cycles of waiting than without.

    So where every other cycle is free, nothing is asked for. Latency: 1 cycle.

    Members
    -------
    waits : ``In(1)``
        The array has what is wanted.
    asks : ``Out(1)``
        It is to leave it, in the next cycle that is not decided.
    """

    def __init__(self) -> None:
        super().__init__({"waits": In(1), "asks": Out(1)})

    def elaborate(self, platform: object) -> Module:
        """Build the count, which stays in its range."""
        m = Module()
        waited = Signal(range(_MOST_CYCLES + 1))
        with m.If(self.waits & (waited != _MOST_CYCLES)):
            m.d.sync += waited.eq(waited + 1)
        with m.Elif(~self.waits & waited.any()):
            m.d.sync += waited.eq(waited - 1)
        m.d.sync += self.asks.eq((waited >= _WAITED_CYCLES) & ~self.asks)
        return m

"""Two beats of a result in one write, so that others have the line port meanwhile."""

from amaranth import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from kiwicha.contract.engine import OUTPUT_BYTES
from kiwicha.contract.latencies import PARAMETER_CYCLES, REQUANTIZER_CYCLES
from kiwicha.gateware.delay import delayed

__all__ = ["JoinedBeats"]


class JoinedBeats(wiring.Component):
    """Keep the first beat of a result, until the second one is behind the requantizer.

    Both are of 8 bytes, and the second one comes in the cycle after the first. Latency: none.

    Members
    -------
    enters : ``In(1)``
        The array gives the first of two beats, whose bytes fill a line.
    octets : ``In(64)``
        What leaves the requantizer.
    waits : ``Out(1)``
        It is such a first beat, which is not to be written.
    joins : ``Out(1)``
        It is the second one, to be written behind ``first``.
    first : ``Out(64)``
        What came in the cycle before.
    """

    def __init__(self) -> None:
        super().__init__({
            "enters": In(1),
            "octets": In(8 * OUTPUT_BYTES),
            "waits": Out(1),
            "joins": Out(1),
            "first": Out(8 * OUTPUT_BYTES),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the delay and the register."""
        m = Module()
        first = Signal(8 * OUTPUT_BYTES, reset_less=True)
        latency = PARAMETER_CYCLES + REQUANTIZER_CYCLES
        m.d.comb += [
            self.waits.eq(delayed(m, self.enters, latency, "enters", is_reset=True)),
            self.first.eq(first),
        ]
        m.d.sync += [self.joins.eq(self.waits), first.eq(self.octets)]
        return m

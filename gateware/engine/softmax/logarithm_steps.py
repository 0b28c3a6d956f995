"""Distances from a row's maximum, and the logarithm of its sum, to steps of the output."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from kiwicha.gateware.engine.softmax.interfaces import DISTANCE_BITS

__all__ = ["LogarithmSteps"]

_FRACTION_BITS = 25
"""Of the logarithm, and of what is left of a distance."""
_STEP_BITS = _FRACTION_BITS - 4
"""Of a step of the output, 1/16."""
_LARGEST = 255


class LogarithmSteps(wiring.Component):
    """By how many steps of the output logarithms of probabilities are below 0.

    Latency: 4 cycles. Throughput: a distance per cycle.

    Members
    -------
    distance : ``In(DISTANCE_BITS)``
        In Q5.26, 16 at most.
    logarithm : ``In(32)``
        In Q6.25, stable from 2 cycles after the first distance of a row to 2 after the last one.
    steps : ``Out(8)``
        Of both together; 255 for more.
    """

    def __init__(self) -> None:
        super().__init__({
            "distance": In(DISTANCE_BITS),
            "logarithm": In(32),
            "steps": Out(8),
        })

    def elaborate(self, platform: object) -> Module:
        """Build two sums: for rounding half up, and with the logarithm."""
        m = Module()
        # The last bit decides nothing: in the logarithm it is 0.
        half_s1 = Signal(DISTANCE_BITS - 1, reset_less=True)
        half_s2 = Signal(DISTANCE_BITS, reset_less=True)
        places = _STEP_BITS - 1
        total = Signal(32)
        steps_s3 = Signal(32 - _STEP_BITS, reset_less=True)
        m.d.comb += total.eq(half_s2 + self.logarithm)
        m.d.sync += [
            half_s1.eq(self.distance[1:]),
            half_s2.eq(Cat(half_s1[:places], half_s1[places:] + 1)),
            steps_s3.eq(total[_STEP_BITS:]),
            self.steps.eq(Mux(steps_s3 > _LARGEST, _LARGEST, steps_s3[:8])),
        ]
        return m

"""The next hidden state of an LSTM's unit: a product of 31 bits, scaled to a byte or an int16."""

from amaranth import Module, Mux, Signal, signed
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from kiwicha.contract.engine import JobFlag
from kiwicha.contract.recurrences import FRACTION_BITS, MAX_HIDDEN_SHIFT
from kiwicha.gateware.engine.descriptors import JOB, RECURRENCE
from kiwicha.gateware.engine.recurrent.cell_state import PRODUCT_BITS
from kiwicha.gateware.engine.recurrent.interfaces import (
    PHASE_BITS,
    SHORT_BITS,
    phase_of,
    saturated,
)

__all__ = ["HALF_BITS", "HiddenState"]

HALF_BITS = 16
"""Of the lower half of a factor of 32 bits."""
_LEFT = 30
"""Cycle of a unit in which the product comes that is scaled."""
_LOW = 34
"""That of the first of four parts of it times the multiplier: both lower halves, then each upper
half with the lower one of the other, then the upper ones."""
_BYTE_BITS = 8


class HiddenState(wiring.Component):
    """Scale a product by a multiplier and a shift to the right, in TFLite's two roundings.

    Latency: the product of a unit comes in its cycle 30, its parts in 34 to 37, and its hidden
    state is there from 42 to 49.

    Members
    -------
    job : ``In(JOB)``
        An `EngineRecurrence`, stable.
    phase : ``In(range(PHASES))``
        Of all parts.
    product : ``In(signed(PRODUCT_BITS))``
        What the multiplier gives.
    left : ``Out(signed(31))``
        The product, from cycle 31 to 38.
    state : ``Out(signed(16))``
        The hidden state: an int16 with `JobFlag.SHORT`, else an int8.
    """

    def __init__(self) -> None:
        super().__init__({
            "job": In(JOB),
            "phase": In(PHASE_BITS),
            "product": In(signed(PRODUCT_BITS)),
            "left": Out(signed(2 * FRACTION_BITS + 1)),
            "state": Out(signed(SHORT_BITS)),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the sum of the parts and the roundings."""
        m = Module()
        job = data.View(RECURRENCE, self.job.as_value())
        shift = job.hidden_shift[: MAX_HIDDEN_SHIFT.bit_length()]
        with m.If(self.phase == phase_of(_LEFT)):
            m.d.sync += self.left.eq(self.product)
        # Without the lowest 16 bits, which have no part in a carry; and with the half that rounds.
        total = Signal(signed(PRODUCT_BITS + 1), reset_less=True)
        is_low = self.phase == phase_of(_LOW)
        half = 1 << (31 - HALF_BITS - 1)
        m.d.sync += total.eq(
            Mux(is_low, self.product[HALF_BITS:].as_unsigned(), self.product)
            + Mux(is_low, half, total)
        )
        high, away, shifted, rounded = (
            Signal(signed(32), name=name, reset_less=True)
            for name in ("high", "away", "shifted", "rounded")
        )
        m.d.sync += [
            high.eq((self.product << 1) + (total >> (31 - HALF_BITS))),
            # Halves go away from zero.
            away.eq(high - high[-1]),
            shifted.eq(away >> (shift - 1)[: len(shift)]),
            rounded.eq((shifted + 1) >> 1),
        ]
        placed = Signal(signed(33))
        m.d.comb += placed.eq(rounded + job.hidden_zero_point)
        is_short = (job.flags & JobFlag.SHORT).any()
        of_bytes, of_shorts = (saturated(placed, bits) for bits in (_BYTE_BITS, SHORT_BITS))
        with m.If(self.phase == phase_of(_LOW + 7)):
            m.d.sync += self.state.eq(Mux(is_short, of_shorts, of_bytes))
        return m

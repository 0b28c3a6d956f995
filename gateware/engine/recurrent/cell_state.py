"""The next cell state of an LSTM's unit, and the argument of its tanh."""

from amaranth import Module, Mux, Signal, signed
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from kiwicha.contract.recurrences import FRACTION_BITS, MAX_CELL_SHIFT
from kiwicha.gateware.engine.descriptors import JOB, RECURRENCE
from kiwicha.gateware.engine.recurrent.activation import ARGUMENT_BITS
from kiwicha.gateware.engine.recurrent.interfaces import (
    PHASE_BITS,
    SHORT_BITS,
    phase_of,
    saturated,
)

__all__ = ["PRODUCT_BITS", "CellState"]

PRODUCT_BITS = 34
"""Of what the multiplier gives."""
_KEPT, _ENTERED = 16, 17
"""Cycles of a unit in which the products come: of its cell state, and of what enters."""
_THIRDS_BITS = SHORT_BITS + 2


class CellState(wiring.Component):
    """Round and add what a unit keeps and what enters, and scale the sum for its tanh.

    Latency: the products of a unit come in its cycles 16 and 17. Its cell state is there from cycle
    21 to 28, the argument in cycle 24.

    Members
    -------
    job : ``In(JOB)``
        An `EngineRecurrence`, stable.
    phase : ``In(range(PHASES))``
        Of all parts.
    product : ``In(signed(PRODUCT_BITS))``
        What the multiplier gives.
    cell : ``Out(signed(16))``
        The next cell state.
    argument : ``Out(signed(ARGUMENT_BITS))``
        Of its tanh, in 1/12,288; limited behind the last point of tanh.
    """

    def __init__(self) -> None:
        super().__init__({
            "job": In(JOB),
            "phase": In(PHASE_BITS),
            "product": In(signed(PRODUCT_BITS)),
            "cell": Out(signed(SHORT_BITS)),
            "argument": Out(signed(ARGUMENT_BITS)),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the rounded shifts, the sum, and the scaling."""
        m = Module()
        job = data.View(RECURRENCE, self.job.as_value())
        cell_shift = job.cell_shift[: MAX_CELL_SHIFT.bit_length()]
        bits = SHORT_BITS + FRACTION_BITS
        rounded = Signal(signed(bits + 1), reset_less=True)
        shifted, kept, total = (
            Signal(signed(SHORT_BITS + more), name=name, reset_less=True)
            for name, more in (("shifted", 1), ("kept", 1), ("total", 2))
        )
        # Halves go away from zero, and so does what is next to them.
        shift = Mux(self.phase == phase_of(_KEPT), 0, cell_shift)
        half = Signal(bits)
        m.d.comb += half.eq(1 << (FRACTION_BITS - 1 + shift))
        away = Mux(self.product[-1], -1, 1)
        is_kept = self.phase == phase_of(_KEPT + 1)
        m.d.sync += [
            rounded.eq(self.product[:bits].as_signed() + (half + away)),
            shifted.eq(rounded[FRACTION_BITS:].as_signed() >> Mux(is_kept, 0, cell_shift)),
        ]
        with m.If(self.phase == phase_of(_KEPT + 2)):
            m.d.sync += kept.eq(shifted)
        m.d.sync += total.eq(kept + shifted)
        limited = Mux(total < job.cell_min, job.cell_min, total)
        with m.If(self.phase == phase_of(_ENTERED + 3)):
            m.d.sync += self.cell.eq(Mux(total > job.cell_max, job.cell_max, limited))
        thirds = Signal(signed(_THIRDS_BITS), reset_less=True)
        wide = Signal(signed(_THIRDS_BITS + MAX_CELL_SHIFT - 3), reset_less=True)
        m.d.sync += [
            thirds.eq(self.cell + (self.cell << 1)),
            wide.eq(((thirds << cell_shift) + 4) >> 3),
            self.argument.eq(saturated(wide, ARGUMENT_BITS - 1)),
        ]
        return m

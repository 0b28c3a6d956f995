"""Reads of RECURRENT jobs: sums of gates, one gate per cycle, and the cell state."""

from amaranth import Cat, Module, Mux, Signal, signed
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from kiwicha.contract.engine import LINE_BYTES
from kiwicha.contract.latencies import SCRATCHPAD_READ_CYCLES
from kiwicha.contract.recurrences import GATE_BYTES, GATES
from kiwicha.gateware.engine.descriptors import ADDRESS_BITS, JOB, RECURRENCE
from kiwicha.gateware.engine.recurrent.activation import ARGUMENT_BITS
from kiwicha.gateware.engine.recurrent.interfaces import (
    PHASE_BITS,
    PHASES,
    SHORT_BITS,
    phase_of,
    saturated,
)

__all__ = ["GateReader"]

_INPUT, _INPUT_LOWER, _HIDDEN, _HIDDEN_LOWER, _CELL = range(5)
"""Cycles of the reads of a unit."""
_SUMS = _HIDDEN_LOWER + SCRATCHPAD_READ_CYCLES + 1
"""That in which all bytes of its sums are there."""


class GateReader(wiring.Component):
    """Reads of the sums of a unit's gates and of its cell state, and the arguments of its gates.

    Latency: `RECURRENT_START_CYCLES` from ``start`` to the first read of the first unit, in phase
    0. Throughput: a unit in `PHASES` cycles. The arguments of its gates are there in cycles 9 to
    12, its cell state from 8 to 15, counted from its first read.

    Members
    -------
    job : ``In(JOB)``
        An `EngineRecurrence`, stable from ``start`` until its last read.
    start : ``In(1)``
        Begin; only while not ``is_reading``.
    phase : ``Out(range(PHASES))``
        Of all parts; it goes on behind the last read.
    is_reading : ``Out(1)``
        It is that of a unit that is read.
    is_last : ``Out(1)``
        Of the last one.
    address : ``Out(ADDRESS_BITS)``
        What is read.
    read_data : ``In(128)``
        What was there `SCRATCHPAD_READ_CYCLES` ago.
    argument : ``Out(signed(ARGUMENT_BITS))``
        The sum of a gate, in 1/12,288.
    cell : ``Out(signed(16))``
        The cell state.
    """

    def __init__(self) -> None:
        super().__init__({
            "job": In(JOB),
            "start": In(1),
            "phase": Out(PHASE_BITS),
            "is_reading": Out(1),
            "is_last": Out(1),
            "address": Out(ADDRESS_BITS),
            "read_data": In(8 * LINE_BYTES),
            "argument": Out(signed(ARGUMENT_BITS)),
            "cell": Out(signed(SHORT_BITS)),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the addresses, what keeps the bytes, and the sums."""
        m = Module()
        job = data.View(RECURRENCE, self.job.as_value())
        units = Signal(SHORT_BITS)
        ends = self.phase == PHASES - 1
        m.d.sync += self.phase.eq(self.phase + 1)
        m.d.comb += self.is_last.eq(units == 1)
        with m.If(self.start):
            m.d.sync += [self.phase.eq(0), self.is_reading.eq(1), units.eq(job.units)]
        with m.Elif(ends & self.is_reading):
            m.d.sync += [units.eq(units - 1), self.is_reading.eq(~self.is_last)]
        self._address(m, job)
        self._add(m)
        return m

    def _address(self, m: Module, job: data.View) -> None:
        """Build the addresses of a unit's reads, each in the cycle before its own."""
        places = {
            name: Signal(ADDRESS_BITS, name=name) for name in ("input_sums", "hidden_sums", "cell")
        }
        ends = self.phase == PHASES - 1
        for name, place in places.items():
            step = GATE_BYTES if name == "cell" else GATES
            with m.If(self.start):
                m.d.sync += place.eq(job[name])
            with m.Elif(ends):
                m.d.sync += place.eq(place + step)
        is_hidden = (self.phase == _HIDDEN - 1) | (self.phase == _HIDDEN_LOWER - 1)
        is_lower = (self.phase == _INPUT_LOWER - 1) | (self.phase == _HIDDEN_LOWER - 1)
        place = Mux(is_hidden, places["hidden_sums"], places["input_sums"])
        lower = Mux(is_lower, job.lower_step, 0)
        with m.If(self.start):
            m.d.sync += self.address.eq(job.input_sums)
        with m.Elif(ends):
            m.d.sync += self.address.eq(places["input_sums"] + GATES)
        with m.Elif(self.phase == _CELL - 1):
            m.d.sync += self.address.eq(places["cell"])
        with m.Else():
            m.d.sync += self.address.eq(place + lower)

    def _add(self, m: Module) -> None:
        """Build what keeps the bytes, and the sum of a gate."""
        octets = {}
        for read in (_INPUT, _INPUT_LOWER, _HIDDEN, _HIDDEN_LOWER):
            octets[read] = Signal(8 * GATES, name=f"octets_{read}", reset_less=True)
            with m.If(self.phase == phase_of(read + SCRATCHPAD_READ_CYCLES)):
                m.d.sync += octets[read].eq(self.read_data[: 8 * GATES])
        with m.If(self.phase == phase_of(_CELL + SCRATCHPAD_READ_CYCLES)):
            m.d.sync += self.cell.eq(self.read_data[:SHORT_BITS])
        number = (self.phase - phase_of(_SUMS))[: (GATES - 1).bit_length()]
        of_input, of_hidden = (
            Cat(octets[lower].word_select(number, 8), octets[upper].word_select(number, 8))
            for upper, lower in ((_INPUT, _INPUT_LOWER), (_HIDDEN, _HIDDEN_LOWER))
        )
        total = Signal(signed(SHORT_BITS + 1))
        m.d.comb += total.eq(of_input.as_signed() + of_hidden.as_signed())
        gate = Signal(signed(SHORT_BITS), reset_less=True)
        m.d.sync += [
            gate.eq(saturated(total, SHORT_BITS)),
            self.argument.eq(gate + (gate << 1)),
        ]

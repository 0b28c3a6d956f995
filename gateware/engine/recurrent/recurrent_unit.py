"""RECURRENT jobs: from the descriptor to reads and masked writes of the scratchpad."""

from collections.abc import Callable

from amaranth import Cat, Module, Mux, Signal, Value, signed
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from kiwicha.contract.engine import LINE_BYTES, JobFlag
from kiwicha.contract.latencies import RECURRENT_SHORT_CYCLES, SCRATCHPAD_READ_CYCLES
from kiwicha.contract.moves import TILE_ROWS
from kiwicha.contract.recurrences import GATE_BYTES
from kiwicha.gateware.engine.descriptors import ADDRESS_BITS, BYTE_BITS, JOB, RECURRENCE
from kiwicha.gateware.engine.moves.move_unit import LINE_WRITE
from kiwicha.gateware.engine.recurrent.activation import Activation
from kiwicha.gateware.engine.recurrent.cell_state import PRODUCT_BITS, CellState
from kiwicha.gateware.engine.recurrent.gate_reader import GateReader
from kiwicha.gateware.engine.recurrent.hidden_state import HALF_BITS, HiddenState
from kiwicha.gateware.engine.recurrent.interfaces import PHASES, SHORT_BITS, phase_of

__all__ = ["RecurrentUnit"]

_FACTOR_BITS = 17
# Cycles of a unit, from its first read.
_CELL_GATE, _CELL_ARGUMENT = 11, 24
"""Arguments whose function is tanh."""
_ENTER, _KEEP, _NEW, _LEAVE, _LEFT = 13, 14, 15, 16, 28
"""Values of functions: of the gates, and of the next cell state."""
_PARTS = 32
"""Factors of the first of four parts of the product that is scaled."""
_WRITE_CELL, _WRITE_OUTPUT, _WRITE_HIDDEN = 21, 42, 43
"""What is written in the next cycle is there."""
_WRITE_UPPER = _WRITE_HIDDEN + RECURRENT_SHORT_CYCLES
"""The same of the upper byte of a hidden state of int16."""
_LAST_WRITE = _WRITE_HIDDEN + 1
_STAGES = (_WRITE_UPPER + 1) // PHASES + 1


class RecurrentUnit(wiring.Component):
    """Make a step of an LSTM: functions of the sums of gates, and the next states.

    Throughput: a unit in `RECURRENT_UNIT_CYCLES`; several are under way. Latency:
    `RECURRENT_START_CYCLES` from ``start`` to the first read, and `RECURRENT_DRAIN_CYCLES` from the
    last cycle of the last unit's reads, `RECURRENT_SHORT_CYCLES` more with `JobFlag.SHORT`;
    ``done`` comes `SCRATCHPAD_READ_CYCLES` before the last write.

    Members
    -------
    job : ``In(JOB)``
        An `EngineRecurrence`, stable from ``start`` until the last write.
    start : ``In(1)``
        Begin; only while not ``is_busy``.
    is_busy : ``Out(1)``
        From the cycle after ``start`` to the one before ``done``.
    is_working : ``Out(1)``
        A unit is read.
    done : ``Out(1)``
        The last write comes in `SCRATCHPAD_READ_CYCLES` cycles.
    address : ``Out(ADDRESS_BITS)``
        What is read; unspecified while there is no job.
    read_data : ``In(128)``
        What was there `SCRATCHPAD_READ_CYCLES` ago.
    writes : ``Out(stream.Signature(LINE_WRITE, always_ready=True))``
        States of a unit, as a column.
    """

    def __init__(self) -> None:
        super().__init__({
            "job": In(JOB),
            "start": In(1),
            "is_busy": Out(1),
            "is_working": Out(1),
            "done": Out(1),
            "address": Out(ADDRESS_BITS),
            "read_data": In(8 * LINE_BYTES),
            "writes": Out(stream.Signature(LINE_WRITE, always_ready=True)),
        })

    def elaborate(self, platform: object) -> Module:
        """Connect the parts, which share a multiplier, and build the writes."""
        m = Module()
        m.submodules.reader = reader = GateReader()
        m.submodules.activation = activation = Activation()
        m.submodules.cell_state = cell = CellState()
        m.submodules.hidden_state = hidden = HiddenState()
        phase = reader.phase
        is_cell = phase == phase_of(_CELL_ARGUMENT)
        m.d.comb += [
            reader.job.eq(self.job),
            reader.start.eq(self.start),
            reader.read_data.eq(self.read_data),
            self.address.eq(reader.address),
            self.is_working.eq(reader.is_reading),
            activation.argument.eq(Mux(is_cell, cell.argument, reader.argument)),
            activation.is_tanh.eq(is_cell | (phase == phase_of(_CELL_GATE))),
        ]
        product = self._multiply(m, reader, activation.value, hidden.left)
        for part in (cell, hidden):
            m.d.comb += [
                part.job.eq(self.job),
                part.phase.eq(phase),
                part.product.eq(product),
            ]
        # Which of the units that are under way are those of the job, and which is its last one.
        stages = [Cat(reader.is_reading, reader.is_reading & reader.is_last)]
        for stage in range(1, _STAGES):
            there = Signal(2, name=f"there_{stage}")
            with m.If(self.start):
                m.d.sync += there.eq(0)
            with m.Elif(phase == PHASES - 1):
                m.d.sync += there.eq(stages[-1])
            stages.append(there)

        def comes(cycle: int, bit: int = 0) -> Value:
            return stages[cycle // PHASES][bit] & (phase == phase_of(cycle))

        is_short = Signal()
        m.d.comb += is_short.eq((self.job.flags & JobFlag.SHORT).any())

        def ends(cycles_before: int) -> Value:
            cycle = _LAST_WRITE - SCRATCHPAD_READ_CYCLES - cycles_before
            return Mux(is_short, comes(cycle + RECURRENT_SHORT_CYCLES, 1), comes(cycle, 1))

        with m.If(self.start):
            m.d.sync += self.is_busy.eq(1)
        with m.Elif(ends(1)):
            m.d.sync += self.is_busy.eq(0)
        m.d.comb += self.done.eq(ends(0))
        self._write(m, comes, cell.cell, hidden.state, is_short)
        return m

    def _multiply(self, m: Module, reader: GateReader, value: Value, left: Value) -> Signal:
        """Build the multiplier and its factors, a cycle before; its product comes a cycle later."""
        job = data.View(RECURRENCE, self.job.as_value())
        enter, leave, leave_s1 = (
            Signal(signed(SHORT_BITS), name=name, reset_less=True)
            for name in ("enter", "leave", "leave_s1")
        )
        with m.If(reader.phase == phase_of(_ENTER)):
            m.d.sync += enter.eq(value)
        with m.If(reader.phase == phase_of(_LEAVE)):
            m.d.sync += [leave.eq(value), leave_s1.eq(leave)]
        halves = [
            (number[:HALF_BITS], number[HALF_BITS:].as_signed())
            for number in (left, job.hidden_multiplier)
        ]
        (left_low, left_high), (low, high) = halves
        factors: dict[int, tuple[Value, Value]] = {
            _KEEP: (value, reader.cell),
            _NEW: (value, enter),
            _LEFT: (value, leave_s1),
            _PARTS: (left_low, low),
            _PARTS + 1: (left_high, low),
            _PARTS + 2: (left_low, high),
            _PARTS + 3: (left_high, high),
        }
        pair = [Signal(signed(_FACTOR_BITS), name=f"factor_{k}", reset_less=True) for k in range(2)]
        with m.Switch(reader.phase):
            for cycle, both in factors.items():
                with m.Case(phase_of(cycle)):
                    m.d.sync += [
                        factor.eq(chosen) for factor, chosen in zip(pair, both, strict=True)
                    ]
        product = Signal(signed(PRODUCT_BITS), reset_less=True)
        m.d.sync += product.eq(pair[0] * pair[1])
        return product

    def _write(
        self,
        m: Module,
        comes: Callable[[int], Value],
        cell: Value,
        hidden: Value,
        is_short: Value,
    ) -> None:
        """Build the places of what is written, unit by unit, and the masks and columns.

        Of a hidden state of int16 the output is a pair of bytes; else each write of it is a byte.
        """
        job = data.View(RECURRENCE, self.job.as_value())
        write = self.writes.payload
        now = {
            "cell": comes(_WRITE_CELL),
            "output": comes(_WRITE_OUTPUT),
            "hidden": comes(_WRITE_HIDDEN) | comes(_WRITE_UPPER) & is_short,
        }
        is_upper = comes(_WRITE_UPPER)
        is_pair = now["cell"] | now["output"] & is_short
        places = {name: Signal(ADDRESS_BITS, name=f"{name}_place") for name in now}
        # The place of both bytes of a hidden state moves on behind the upper one.
        steps = {
            "cell": (now["cell"], GATE_BYTES),
            "output": (now["output"], Mux(is_short, GATE_BYTES, 1)),
            "hidden": (is_upper, 1),
        }
        for name, (moves_on, step) in steps.items():
            with m.If(self.start):
                m.d.sync += places[name].eq(job[name])
            with m.Elif(moves_on):
                m.d.sync += places[name].eq(places[name] + step)
        place, mask = Signal(ADDRESS_BITS), Signal(LINE_BYTES)
        with m.If(now["cell"]):
            m.d.comb += place.eq(places["cell"])
        with m.Elif(now["output"]):
            m.d.comb += place.eq(places["output"])
        with m.Else():
            m.d.comb += place.eq(places["hidden"] + Mux(is_upper, job.upper_step, 0))
        octet = Mux(is_upper, hidden[8:], hidden[:8])
        value = Mux(now["cell"], cell, hidden)
        column = Mux(
            is_pair,
            value.as_unsigned().replicate(TILE_ROWS // GATE_BYTES),
            octet.replicate(TILE_ROWS),
        )
        m.d.comb += [
            write.is_column.eq(1),
            mask.eq(Cat(1, is_pair) << place[:BYTE_BITS]),
        ]
        m.d.sync += [
            self.writes.valid.eq(Cat(now.values()).any()),
            write.column.eq(column),
            write.line.eq(place[BYTE_BITS:]),
            write.mask.eq(mask),
        ]

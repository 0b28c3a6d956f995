"""Sums of output rows: one is computed, pass by pass, while the one before it leaves."""

from amaranth import Module, Mux, Signal, Value, signed
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from kiwicha.contract.depthwise import ROW_SUMS, UNIT_CHANNELS
from kiwicha.contract.engine import SUM_BITS
from kiwicha.gateware.delay import delayed
from kiwicha.gateware.engine.depthwise.interfaces import COLUMN, PLACE_BITS

__all__ = ["SUMS", "SumRows"]

SUMS = data.ArrayLayout(signed(SUM_BITS), UNIT_CHANNELS)
"""Sums of a pixel's 8 channels."""
_READ_CYCLES = 2


class SumRows(wiring.Component):
    """Room for `ROW_SUMS` pixels of 8 sums, which rows take in a ring.

    Latency: `READ_CYCLES` + 1 from ``column`` until its sum is held; 3 from the row's last one to
    the first of ``outputs``. Throughput: a sum per cycle; an output in each cycle in which no
    earlier sum is read, as for all passes of a row but its first.

    Two sums of the same output are at least 4 cycles apart.

    Members
    -------
    takes_room : ``In(1)``
        A row begins; only with ``has_room``.
    has_room : ``Out(1)``
        There is room for a row.
    column : ``In(COLUMN)``
        Whose sum comes `READ_CYCLES` later.
    sums : ``In(SUMS)``
        That sum.
    output_columns : ``In(16)``
        Outputs of a row, stable while there is one.
    outputs : ``Out(stream.Signature(StructLayout(sums, ends_row)))``
        Rows in order.

    Attributes
    ----------
    READ_CYCLES : int
        From a column to its sum.
    """

    READ_CYCLES = _READ_CYCLES

    def __init__(self) -> None:
        output = data.StructLayout({"sums": SUMS, "ends_row": 1})
        super().__init__({
            "takes_room": In(1),
            "has_room": Out(1),
            "column": In(COLUMN),
            "sums": In(SUMS),
            "output_columns": In(16),
            "outputs": Out(stream.Signature(output)),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the memory, whose reads are for sums of earlier passes first."""
        m = Module()
        m.submodules.memory = memory = Memory(shape=SUMS, depth=ROW_SUMS, init=[])
        read, write = memory.read_port(), memory.write_port()
        column = self.column
        reads_earlier = Signal()
        m.d.comb += reads_earlier.eq(column.is_result & ~column.is_first)
        leaving = Signal(PLACE_BITS)
        leaves = Signal()
        m.d.comb += read.addr.eq(Mux(reads_earlier, column.place, leaving))

        # What comes of earlier passes, to which the sum is added.
        late = data.View(COLUMN, delayed(m, column.as_value(), _READ_CYCLES, "column"))
        late_result, late_end = (
            delayed(m, flag, _READ_CYCLES, name, is_reset=True)
            for flag, name in ((column.is_result, "result"), (column.ends_row, "end"))
        )
        earlier = Signal(SUMS, reset_less=True)
        total = Signal(SUMS, reset_less=True)
        place = Signal(PLACE_BITS, reset_less=True)
        holds, ends = Signal(), Signal()
        m.d.sync += [
            earlier.eq(read.data),
            place.eq(late.place),
            holds.eq(late_result),
            ends.eq(late_end),
        ]
        for channel in range(UNIT_CHANNELS):
            addend = Mux(late.is_first, 0, earlier[channel])
            m.d.sync += total[channel].eq(self.sums[channel] + addend)
        m.d.comb += [write.addr.eq(place), write.data.eq(total), write.en.eq(holds)]

        # Room: taken by a row, and given back pixel by pixel. Rows leave when they are complete.
        taken = Signal(range(ROW_SUMS + 1))
        room = Signal(range(ROW_SUMS + 1))
        rows = Signal(range(ROW_SUMS + 1))
        ends_row = Signal()
        m.d.comb += room.eq(ROW_SUMS - taken)
        m.d.sync += [
            self.has_room.eq((room >= self.output_columns) & ~self.takes_room),
            taken.eq(taken + Mux(self.takes_room, self.output_columns, 0) - leaves),
            rows.eq(rows + ends - ends_row),
        ]
        m.d.comb += ends_row.eq(
            self._leave(m, read.data, rows.any() & ~reads_earlier, leaving, leaves)
        )
        return m

    def _leave(
        self, m: Module, read_data: data.View, may_leave: Value, leaving: Signal, leaves: Signal
    ) -> Value:
        """Build the reads of complete rows, and the two outputs that wait for their turn.

        Returns whether the last output of a row is read.
        """
        output = Signal(self.outputs.payload.shape(), reset_less=True)
        waiting = Signal(output.shape(), reset_less=True)
        column_number = Signal(PLACE_BITS)
        has_waiting, arrives = Signal(), Signal()
        arrives_last = Signal(reset_less=True)
        pops, is_last = Signal(), Signal()
        level = Signal(2)
        m.d.comb += [
            self.outputs.payload.eq(output),
            pops.eq(self.outputs.valid & self.outputs.ready),
            level.eq(self.outputs.valid + has_waiting + arrives - pops),
            leaves.eq(may_leave & (level < 2)),
            is_last.eq(column_number + 1 == self.output_columns),
        ]
        m.d.sync += [arrives.eq(leaves), arrives_last.eq(is_last)]
        with m.If(leaves):
            m.d.sync += [leaving.eq(leaving + 1), column_number.eq(column_number + 1)]
            with m.If(is_last):
                m.d.sync += column_number.eq(0)
        with m.If(pops | ~self.outputs.valid):
            with m.If(has_waiting):
                m.d.sync += [output.eq(waiting), has_waiting.eq(0)]
                m.d.sync += self.outputs.valid.eq(1)
            with m.Else():
                m.d.sync += [
                    output.sums.eq(read_data),
                    output.ends_row.eq(arrives_last),
                    self.outputs.valid.eq(arrives),
                ]
        with m.If(arrives & ((self.outputs.valid & ~pops) | has_waiting)):
            m.d.sync += [
                waiting.sums.eq(read_data),
                waiting.ends_row.eq(arrives_last),
                has_waiting.eq(1),
            ]
        return leaves & is_last

"""Bytes of a second tensor, added to those that a convolution has written."""

from amaranth import Cat, Module, Mux, Signal, Value, signed
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from kiwicha.contract.engine import (
    FUSED_BITS,
    FUSED_FRACTION_BITS,
    LINE_BYTES,
    OUTPUT_BYTES,
    outputs_of,
)
from kiwicha.contract.latencies import FUSED_BEAT_CYCLES
from kiwicha.contract.moves import TILE_ROWS
from kiwicha.gateware.delay import delayed
from kiwicha.gateware.engine.descriptors import ADDRESS_BITS
from kiwicha.gateware.engine.fused.fused_tables import FusedTables
from kiwicha.gateware.engine.fused.interfaces import SUM_ACCESS, TABLE_WRITE

__all__ = ["FusedAdder"]

_QUEUE_BEATS = 16
_WORD_BYTES = TILE_ROWS
"""Bytes of a write."""


class FusedAdder(wiring.Component):
    """Replace each beat of results in the scratchpad by its sum with a beat of a second tensor.

    For each beat that was written, both lines are read, their bytes looked up and added one by one,
    and the sums written, four at a time. Results of the array have the line port first; what this
    component asks for comes before transfers.

    There is none beside a depthwise unit, which would read rows that have no sums yet.

    Throughput: a beat of up to 8 bytes in `FUSED_BEAT_CYCLES`, one of 16 in twice as many; the
    queue takes up what beats come closer for a while. Latency: `FUSED_SUM_CYCLES` from a beat of 8
    bytes to its last write, 4 less from one of 4 bytes, and one more for each access that waits.

    Parameters
    ----------
    macs : int
        Products per cycle of the array.
    lanes : int
        Bytes of a beat: 4, 8 or 16.
    scratchpad_bytes : int
        Size of the scratchpad.

    Members
    -------
    table_writes : ``In(stream.Signature(TABLE_WRITE, always_ready=True))``
    ends_table, turns_table : ``In(1)``
        As ``writes``, ``ends`` and ``turns`` of `FusedTables`.
    offset : ``In(ADDRESS_BITS)``
        From a result to the byte of the second tensor, a multiple of 8; stable while there are
        beats.
    beats : ``In(stream.Signature(StructLayout(address, is_half), always_ready=True))``
        A beat is written in this cycle; with ``is_half`` only its first 8 bytes.
    taken, comes : ``In(1)``
        A result has the line port in this cycle, or in the next one; at least where there is a
        beat.
    accesses : ``Out(stream.Signature(SUM_ACCESS, always_ready=True))``
        Of the line port; never in a cycle with ``taken``.
    bank_lines : ``In(ArrayLayout(128, 2))``
        As of the `Scratchpad`. What its ``line_read_data`` shows is up to transfers.
    is_busy : ``Out(1)``
        Not all beats that came before this cycle have their sums.
    """

    def __init__(self, *, macs: int, lanes: int, scratchpad_bytes: int) -> None:
        self.lanes = lanes
        self.address_bits = (scratchpad_bytes - 1).bit_length()
        self.octets = min(lanes, OUTPUT_BYTES)
        self.tables = FusedTables(outputs=outputs_of(macs))
        beat = data.StructLayout({"address": ADDRESS_BITS, "is_half": 1})
        super().__init__({
            "table_writes": In(stream.Signature(TABLE_WRITE, always_ready=True)),
            "ends_table": In(1),
            "turns_table": In(1),
            "offset": In(ADDRESS_BITS),
            "beats": In(stream.Signature(beat, always_ready=True)),
            "taken": In(1),
            "comes": In(1),
            "accesses": Out(stream.Signature(SUM_ACCESS, always_ready=True)),
            "bank_lines": In(data.ArrayLayout(8 * LINE_BYTES, 2)),
            "is_busy": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the queue, the reads, the sums and the writes."""
        m = Module()
        m.submodules.tables = self.tables
        wiring.connect(m, wiring.flipped(self.table_writes), self.tables.writes)
        m.d.comb += [
            self.tables.ends.eq(self.ends_table),
            self.tables.turns.eq(self.turns_table),
        ]
        unit_bits = (self.octets - 1).bit_length()
        place_bits = self.address_bits - unit_bits
        # Where a part of a beat is, in such parts; and whether it is the last one of the beat.
        part = data.StructLayout({"place": place_bits, "is_last": 1})
        head = Signal(part)
        begins = Signal()
        ends = Signal()
        is_waiting = self._queue(m, head, unit_bits, begins, ends)

        # The first access of a part is followed by the second one at once.
        left = Signal(range(FUSED_BEAT_CYCLES))
        writes = Signal()
        stages = [begins]
        for stage in range(1, 14):
            stages.append(delayed(m, stages[-1], 1, f"stage_{stage}", is_reset=True))
        # A register, as much follows: whoever wants the line port waits for it.
        wants = Signal()
        has_word = Signal()
        m.d.sync += wants.eq(is_waiting & ~left[1:].any() & ~begins)
        m.d.comb += begins.eq(wants & ~has_word & ~self.taken & ~self.comes)
        with m.If(begins):
            m.d.sync += left.eq(FUSED_BEAT_CYCLES - 1)
        with m.Elif(left.any()):
            m.d.sync += left.eq(left - 1)
        first, summed, written = (
            Signal(part, name=name, reset_less=True) for name in ("first", "summed", "written")
        )
        second = Signal(place_bits, reset_less=True)
        with m.If(begins):
            m.d.sync += [first.eq(head), second.eq(head.place + self.offset[unit_bits:])]
        with m.If(stages[7]):
            m.d.sync += summed.eq(first)
        place = Signal(place_bits)
        word = self._add(m, stages, place)

        # Words wait for the port, but no longer than until the next one comes.
        column = Signal(8 * _WORD_BYTES, reset_less=True)
        is_upper = Signal(reset_less=True)
        words = self.octets // _WORD_BYTES
        m.d.comb += [
            writes.eq(has_word & ~stages[1] & ~self.taken),
            ends.eq(writes & written.is_last & (is_upper if words > 1 else 1)),
        ]
        with m.If(writes):
            m.d.sync += has_word.eq(0)
        with m.If(stages[9]):
            m.d.sync += [written.eq(summed), column.eq(word), is_upper.eq(0), has_word.eq(1)]
        if words > 1:
            with m.If(stages[13]):
                m.d.sync += [column.eq(word), is_upper.eq(1), has_word.eq(1)]
        access = self.accesses.payload
        m.d.comb += place.eq(Mux(writes, written.place, Mux(stages[1], second, head.place)))
        line_units = (LINE_BYTES // self.octets - 1).bit_length()
        number = Cat(is_upper, written.place[:line_units])[1 if words == 1 else 0 :]
        m.d.comb += [
            self.accesses.valid.eq(begins | stages[1] | writes),
            access.is_write.eq(writes),
            access.line.eq(place[line_units:]),
            access.mask.eq(
                Cat((number == k).replicate(_WORD_BYTES) for k in range(LINE_BYTES // _WORD_BYTES))
            ),
            access.column.eq(column),
        ]
        return m

    def _queue(
        self, m: Module, head: data.View, unit_bits: int, begins: Signal, ends: Signal
    ) -> Value:
        """Build the queue of beats, and its first part; return whether there is one."""
        has_halves = self.lanes > self.octets
        place_bits = self.address_bits - unit_bits
        m.submodules.queue = queue = Memory(
            shape=place_bits + has_halves, depth=_QUEUE_BEATS, init=[]
        )
        write, read = queue.write_port(), queue.read_port(domain="comb")
        begun, ended, come = (
            Signal(range(_QUEUE_BEATS), name=name) for name in ("begun", "ended", "come")
        )
        beat = self.beats.payload
        m.d.comb += [
            write.addr.eq(come),
            write.data.eq(
                Cat(beat.address[unit_bits : self.address_bits], beat.is_half)[: len(write.data)]
            ),
            write.en.eq(self.beats.valid),
            read.addr.eq(begun),
            self.is_busy.eq(come != ended),
            head.place.eq(read.data[:place_bits]),
            head.is_last.eq(1),
        ]
        if has_halves:
            is_second = Signal()
            m.d.comb += [
                head.place.eq(read.data[:place_bits] + is_second),
                head.is_last.eq(is_second | read.data[-1]),
            ]
            with m.If(begins):
                m.d.sync += is_second.eq(~head.is_last)
        with m.If(self.beats.valid):
            m.d.sync += come.eq(come + 1)
        with m.If(begins & head.is_last):
            m.d.sync += begun.eq(begun + 1)
        with m.If(ends):
            m.d.sync += ended.eq(ended + 1)
        return come != begun

    def _add(self, m: Module, stages: list[Signal], place: Signal) -> Signal:
        """Build the sums, a byte per cycle; return the last four, from stage 9 and 13 on.

        The second tensor's part comes a cycle later, and so do its bytes and their terms.
        """
        # Parts of the lines of both banks.
        parts = 2 * LINE_BYTES // self.octets
        number = Signal(range(parts), reset_less=True)
        index = Signal(range(self.octets))
        m.d.sync += [number.eq(place), index.eq(index + 1)]
        with m.If(stages[1]):
            m.d.sync += index.eq(0)
        shown = Value.cast(self.bank_lines).word_select(number, 8 * self.octets)
        octets = []
        for name, stage, byte in (
            ("first", stages[1], index),
            ("second", stages[2], delayed(m, index, 1, "index")),
        ):
            kept = Signal(8 * self.octets, name=f"{name}_part", reset_less=True)
            with m.If(stage):
                m.d.sync += kept.eq(shown)
            octets.append(kept.word_select(byte, 8))
        m.d.comb += [self.tables.first.eq(octets[0]), self.tables.second.eq(octets[1])]
        first_term = Signal(signed(FUSED_BITS), reset_less=True)
        total = Signal(signed(FUSED_BITS), reset_less=True)
        word = Signal(8 * _WORD_BYTES, reset_less=True)
        m.d.sync += [
            first_term.eq(self.tables.first_term),
            total.eq(first_term + self.tables.second_term),
            word.eq(Cat(word[8:], _saturated(total))),
        ]
        return word


def _saturated(total: Signal) -> Value:
    """Return the integer part of a sum, or the byte that is next to it."""
    integer, sign = total[FUSED_FRACTION_BITS:], total[-1]
    is_byte = integer[7:] == sign.replicate(len(integer) - 7)
    return Mux(is_byte, integer[:8], Cat((~sign).replicate(7), sign))

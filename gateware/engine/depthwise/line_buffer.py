"""Rows of input of the depthwise unit, of which neighbours are read at once."""

from amaranth import Cat, Module, Mux, Signal, signed
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from kiwicha.contract.depthwise import (
    LINE_COLUMNS,
    LINE_SLOTS,
    PAIR_CHANNELS,
    UNIT_CHANNELS,
    UNIT_TAPS,
)
from kiwicha.gateware.engine.array.interfaces import OPERAND_BITS
from kiwicha.gateware.engine.depthwise.interfaces import SLOT_BITS

__all__ = ["LineBuffer"]

_MEMORIES = 4
"""Neighbouring rows are in different memories: one more than are read, and a power of two."""


class LineBuffer(wiring.Component):
    """`LINE_SLOTS` rows of `LINE_COLUMNS` pixels of 16 channels; row n is in slot n % `LINE_SLOTS`.

    They are those of two groups, of which one is read; or of two pixels, likewise.

    Latency: 3 cycles from ``column`` to ``pixels``; a write is seen by reads of later cycles.
    Throughput: a write and a read of `UNIT_TAPS` neighbouring rows per cycle.

    Members
    -------
    write : ``In(1)``
        Store ``pixel``.
    write_slot, write_column
        Where.
    pixel : ``In(ArrayLayout(signed(9), 16))``
        One number for each channel.
    slot : ``In(range(LINE_SLOTS))``
        Of the first row that is read; the others are in those behind it, and behind the last comes
        the first.
    column : ``In(range(LINE_COLUMNS))``
        What is read of these rows.
    is_second : ``In(1)``
        The upper 8 channels are, not the lower ones.
    rows : ``In(UNIT_TAPS)``
        Rows that count; the others are read as 0. With ``column``.
    pixels : ``Out(ArrayLayout(ArrayLayout(signed(9), 8), UNIT_TAPS))``
        What was read.
    """

    def __init__(self) -> None:
        pixel = data.ArrayLayout(signed(OPERAND_BITS), UNIT_CHANNELS)
        super().__init__({
            "write": In(1),
            "write_slot": In(range(LINE_SLOTS)),
            "write_column": In(range(LINE_COLUMNS)),
            "pixel": In(data.ArrayLayout(signed(OPERAND_BITS), PAIR_CHANNELS)),
            "slot": In(range(LINE_SLOTS)),
            "column": In(range(LINE_COLUMNS)),
            "is_second": In(1),
            "rows": In(UNIT_TAPS),
            "pixels": Out(data.ArrayLayout(pixel, UNIT_TAPS)),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the memories and the choice of rows among them."""
        m = Module()
        bits = UNIT_CHANNELS * OPERAND_BITS
        choice_bits = (_MEMORIES - 1).bit_length()
        read_s2 = []
        is_second_s1 = Signal(reset_less=True)
        m.d.sync += is_second_s1.eq(self.is_second)
        for number in range(_MEMORIES):
            memory = Memory(shape=2 * bits, depth=LINE_SLOTS // _MEMORIES * LINE_COLUMNS, init=[])
            m.submodules[f"rows_{number}"] = memory
            write, read = memory.write_port(), memory.read_port()
            # The first of the rows from ``slot`` on that is in this memory.
            nearest = Signal(SLOT_BITS, name=f"nearest_{number}")
            m.d.comb += [
                nearest.eq(self.slot + ((number - self.slot[:choice_bits]) % _MEMORIES)),
                write.addr.eq(Cat(self.write_column, self.write_slot[choice_bits:])),
                write.data.eq(self.pixel),
                write.en.eq(self.write & (self.write_slot[:choice_bits] == number)),
                read.addr.eq(Cat(self.column, nearest[choice_bits:])),
            ]
            read_register = Signal(bits, name=f"read_{number}_s2", reset_less=True)
            m.d.sync += read_register.eq(read.data.word_select(is_second_s1, bits))
            read_s2.append(read_register)
        first_s1 = Signal(choice_bits, reset_less=True)
        first_s2 = Signal(choice_bits, reset_less=True)
        rows_s1 = Signal(UNIT_TAPS, reset_less=True)
        rows_s2 = Signal(UNIT_TAPS, reset_less=True)
        m.d.sync += [
            first_s1.eq(self.slot),
            first_s2.eq(first_s1),
            rows_s1.eq(self.rows),
            rows_s2.eq(rows_s1),
        ]
        for row in range(UNIT_TAPS):
            chosen = Signal(choice_bits, name=f"chosen_{row}")
            m.d.comb += chosen.eq(first_s2 + row)
            word = Signal(bits, name=f"word_{row}")
            with m.Switch(chosen):
                for number in range(_MEMORIES):
                    with m.Case(number):
                        m.d.comb += word.eq(read_s2[number])
            pixel = Signal(bits, name=f"pixel_{row}_s3", reset_less=True)
            m.d.sync += pixel.eq(Mux(rows_s2[row], word, 0))
            m.d.comb += self.pixels[row].as_value().eq(pixel)
        return m

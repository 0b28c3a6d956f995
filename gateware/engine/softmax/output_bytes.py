"""Quotients to bytes, and bytes to words of the scratchpad."""

from amaranth import Cat, Const, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from kiwicha.contract.engine import LINE_BYTES, JobFlag
from kiwicha.contract.moves import TILE_ROWS
from kiwicha.gateware.engine.descriptors import ADDRESS_BITS, BYTE_BITS, JOB
from kiwicha.gateware.engine.moves.move_unit import LINE_WRITE
from kiwicha.gateware.engine.softmax.interfaces import EXPONENT_BITS

__all__ = ["OutputBytes"]

_WORD_BYTES = TILE_ROWS
"""Bytes of a write: those of a column of a tile."""
_LANE_BITS = (_WORD_BYTES - 1).bit_length()
_WORDS = LINE_BYTES // _WORD_BYTES
_PROBABILITY_BITS = 8


class OutputBytes(wiring.Component):
    """Round quotients to bytes, or take steps, and write each row word by word.

    Latency: 2 cycles from the last quotient of a word, or of a row, to its write. Throughput: a
    quotient per cycle.

    Members
    -------
    job : ``In(JOB)``
        A SOFTMAX, stable from ``start`` to the last quotient.
    start : ``In(1)``
        A job begins.
    valid : ``In(1)``
        There is a quotient, or with LOGARITHMS a number of steps.
    is_last : ``In(1)``
        It is the last one of its row.
    quotient : ``In(32)``
        In Q0.31, below 1.
    exponent : ``In(EXPONENT_BITS)``
        The probability is ``2**-exponent`` of the quotient.
    steps : ``In(8)``
        Of the output, below its largest value.
    writes : ``Out(stream.Signature(LINE_WRITE, always_ready=True))``
        Bytes of a word, as a column.
    """

    def __init__(self) -> None:
        super().__init__({
            "job": In(JOB),
            "start": In(1),
            "valid": In(1),
            "is_last": In(1),
            "quotient": In(32),
            "exponent": In(EXPONENT_BITS),
            "steps": In(8),
            "writes": Out(stream.Signature(LINE_WRITE, always_ready=True)),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the rounding, the addresses and the word."""
        m = Module()
        octet_s1 = Signal(8, reset_less=True)
        valid_s1, is_last_s1 = Signal(), Signal()
        # Twice the probability times 256, then rounded half up; 1 becomes 255. From a sum of 512
        # on nothing is left of any quotient, as TFLite wants it.
        doubled = Signal(_PROBABILITY_BITS + 1)
        probability = Signal(_PROBABILITY_BITS + 1)
        clamped = Mux(probability[_PROBABILITY_BITS], 255, probability[:_PROBABILITY_BITS])
        m.d.comb += [
            doubled.eq(self.quotient[31 - _PROBABILITY_BITS - 1 : 31] >> self.exponent),
            probability.eq((doubled + 1) >> 1),
        ]
        has_logarithms = (self.job.flags & JobFlag.LOGARITHMS).any()
        unsigned = Mux(has_logarithms, ~self.steps, clamped)
        # The largest value of bytes without a sign has the zero point of the smallest of others.
        is_signed = self.job.output_zero_point[7] ^ has_logarithms
        m.d.sync += [
            valid_s1.eq(self.valid),
            is_last_s1.eq(self.is_last),
            octet_s1.eq(unsigned ^ Cat(Const(0, 7), is_signed)),
        ]

        row, place = Signal(ADDRESS_BITS), Signal(ADDRESS_BITS)
        next_row = row + self.job.output_row_step[:ADDRESS_BITS]
        with m.If(self.start):
            first = self.job.output_address[:ADDRESS_BITS]
            m.d.sync += [row.eq(first), place.eq(first)]
        with m.Elif(valid_s1):
            m.d.sync += place.eq(place + 1)
            with m.If(is_last_s1):
                m.d.sync += [row.eq(next_row), place.eq(next_row)]

        write = self.writes.payload
        lane, word = place[:_LANE_BITS], place[_LANE_BITS:BYTE_BITS]
        here = Signal(_WORD_BYTES)
        held = Signal(_WORD_BYTES)
        word_s2 = Signal(word.shape())
        m.d.comb += [
            here.eq(1 << lane),
            write.is_column.eq(1),
            write.mask.eq(Cat(held & (word_s2 == k).replicate(_WORD_BYTES) for k in range(_WORDS))),
        ]
        m.d.sync += self.writes.valid.eq(valid_s1 & (is_last_s1 | here[-1]))
        with m.If(valid_s1):
            m.d.sync += [
                held.eq(Mux(self.writes.valid, 0, held) | here),
                word_s2.eq(word),
                write.line.eq(place[BYTE_BITS:]),
            ]
            for k in range(_WORD_BYTES):
                with m.If(here[k]):
                    m.d.sync += write.column.word_select(k, 8).eq(octet_s1)
        with m.Elif(self.writes.valid):
            m.d.sync += held.eq(0)
        return m

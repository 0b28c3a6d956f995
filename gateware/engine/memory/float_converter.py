"""Float32 to int8 and back, on the way between DRAM and the scratchpad."""

import itertools
from collections.abc import Sequence

from amaranth import Cat, Const, Module, Mux, Signal, Value, signed
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from kiwicha.contract.engine import LINE_BYTES
from kiwicha.contract.floats import (
    FLOAT_GUESS,
    FLOAT_INDEX_BITS,
    FLOAT_STEP_BITS,
    FLOAT_TABLE_WORDS,
    FloatScale,
)
from kiwicha.contract.latencies import LINE_READ_CYCLES
from kiwicha.gateware.engine.descriptors import layout_of
from kiwicha.gateware.engine.memory.interfaces import ConversionSignature, LineSource

__all__ = ["FloatConverter"]

_SCALE = layout_of(FloatScale)
_STEP_BITS = FLOAT_STEP_BITS - 1
_GUESS_BITS = (FLOAT_TABLE_WORDS - 1).bit_length()
_FRACTION_BITS = 23
_WORD_BITS = 32
_WORDS = LINE_BYTES * 8 // _WORD_BITS
_LAST_STAGE = 9
"""Stage in which a byte joins the others of its beat; that of the choice of its number is 0."""
_COMPARE_STAGE = 7
"""Stage in which the word of a guess is there."""
_JOIN_STAGE = 2
"""Stage in which a number joins the others of its beat, if that of the choice of its byte is 0."""


class FloatConverter(wiring.Component):
    """Convert an element per cycle, or take a table, as `TransferFlag` says.

    Numbers come by way of the line that the scratchpad's line port shows. All stages of a load stop
    while the scratchpad does not take what it gets. A store goes on to the end of the line that it
    has read.

    Latency: 14 cycles from a word of DRAM to its four bytes in the scratchpad; 9 from the access
    that reads a line to its first word of DRAM. Throughput: an element per cycle; of a table, a
    word per cycle. An access that has to wait costs a load as many cycles, and a store up to 4.

    Members
    -------
    conversion : ``In(ConversionSignature())``
        The transfer.
    takes_line : ``Out(1)``
        The line that the scratchpad's port shows is to be kept.
    index : ``Out(2)``
        Number of the word of the line that is kept.
    word : ``In(32)``
        That word.
    source : ``Out(LineSource)``
        What the scratchpad's port is to show; MEMORY but for transfers of this component.
    converted : ``Out(128)``
        What CONVERTED stands for.

    Attributes
    ----------
    has_line : Signal
        The line that is kept has elements left.
    """

    def __init__(self) -> None:
        super().__init__({
            "conversion": In(ConversionSignature()),
            "takes_line": Out(1),
            "index": Out(2),
            "word": In(_WORD_BITS),
            "source": Out(LineSource),
            "converted": Out(8 * LINE_BYTES),
        })
        self.has_line = Signal()

    def elaborate(self, platform: object) -> Module:
        """Build the count of elements, the table, the way to bytes and the way to numbers."""
        m = Module()
        step = self.conversion
        moves = Signal()
        writes = Signal()
        m.d.comb += moves.eq(~writes | step.accepts)
        element = Signal(range(LINE_BYTES))
        ends = self._count(m, moves, element)
        number = Signal(_WORD_BITS, reset_less=True)
        place = Signal(range(_WORDS), reset_less=True)
        with m.If(moves):
            m.d.sync += [number.eq(self.word), place.eq(element[:2])]
        scale = Signal(_SCALE, reset_less=True)
        guess = self._guess(m, moves, number, scale)
        address = Mux(step.is_store, number.word_select(place, 8), guess)
        looked_up = self._table(m, moves, address, number, scale)
        self._to_bytes(m, moves, number, guess, looked_up)
        self._access(m, moves, writes, ends, element)
        converted = Signal(8 * LINE_BYTES, reset_less=True)
        with m.If(moves):
            m.d.sync += converted.eq(Cat(converted[_WORD_BITS:], looked_up))
        m.d.comb += self.converted.eq(converted)
        return m

    def _count(self, m: Module, moves: Signal, element: Signal) -> list[Signal]:
        """Build the count of a line's elements, or words; return which stages end a word of DRAM.

        Of a load each word of DRAM is a line.
        """
        step, has_line = self.conversion, self.has_line
        ends = [Signal(name=f"ends_s{stage}") for stage in range(_LAST_STAGE + 1)]
        ends_line = Signal()
        is_load = ~step.is_store & ~step.is_table
        m.d.comb += [
            ends[0].eq(has_line & element[:2].all()),
            ends_line.eq(ends[0] & (~step.is_store | element[2:].all())),
            self.index.eq(Mux(step.is_store, element[2:], element[:2])),
        ]
        with m.If(moves):
            m.d.sync += [later.eq(earlier) for earlier, later in itertools.pairwise(ends)]
            # Of a table or a store nothing must be left when the next transfer begins.
            m.d.sync += ends[_JOIN_STAGE + 1].eq(ends[_JOIN_STAGE] & is_load & step.is_active)
            m.d.sync += element.eq(element + has_line)
            with m.If(ends_line):
                m.d.sync += has_line.eq(0)
        with m.If(self.takes_line):
            m.d.sync += has_line.eq(1)
        with m.If(~step.is_active):
            m.d.sync += [has_line.eq(0), element.eq(0)]
        return ends

    def _access(
        self,
        m: Module,
        moves: Signal,
        writes: Signal,
        ends: Sequence[Signal],
        element: Signal,
    ) -> None:
        """Build what goes to and comes from the scratchpad and DRAM, and when."""
        step = self.conversion
        number_of_word = Signal(range(_WORDS))
        reads = Signal(LINE_READ_CYCLES)
        # A line must not come when another one is shown, nor before this one is done with.
        is_late = element[2:].all() & element[:2].any() & ~step.is_last
        wants_line = Signal()
        gives = Signal(2)
        m.d.comb += [
            wants_line.eq(
                step.is_active
                & step.is_store
                & step.has_room
                & ~reads.any()
                & ~ends[_JOIN_STAGE]
                & (~self.has_line | is_late)
            ),
            step.accesses.eq(writes | wants_line),
            step.mask.eq(writes << number_of_word),
            step.takes_beat.eq(
                step.is_active
                & ~step.is_store
                & step.has_beat
                & moves
                & (~self.has_line | element[:2].all())
            ),
            self.takes_line.eq(step.takes_beat | reads[-1]),
            step.ends_line.eq(step.is_store | number_of_word.all()),
            step.ends_beat.eq(
                Mux(step.is_table, ends[1], Mux(step.is_store, ends[0], writes & step.accepts))
            ),
            step.gives_beat.eq(gives[-1]),
        ]
        m.d.sync += [
            reads.eq(Cat(wants_line & step.accepts, reads)),
            gives.eq(Cat(ends[_JOIN_STAGE] & step.is_store, gives)),
        ]
        with m.If(moves):
            m.d.sync += writes.eq(ends[_LAST_STAGE])
            m.d.sync += number_of_word.eq(number_of_word + writes)
        with m.If(~step.is_active):
            m.d.sync += number_of_word.eq(0)
        with m.If(~step.is_store):
            m.d.comb += self.source.eq(LineSource.LOADED)
        with m.Elif(ends[_JOIN_STAGE]):
            m.d.comb += self.source.eq(LineSource.CONVERTED)

    def _guess(self, m: Module, moves: Signal, number: Signal, scale: data.View) -> Signal:
        """Build the guess of a number, as `FloatScale` says, in five stages."""
        kept = FLOAT_INDEX_BITS - 1
        distance_s2 = Signal(signed(9), reset_less=True)
        leading_s2 = Signal(FLOAT_INDEX_BITS, reset_less=True)
        finely_s3 = Signal(FLOAT_INDEX_BITS, reset_less=True)
        coarse_s3 = Signal(2, reset_less=True)
        index_s4 = Signal(signed(FLOAT_INDEX_BITS + 1), reset_less=True)
        product_s5 = Signal(signed(FLOAT_INDEX_BITS + _STEP_BITS + 1), reset_less=True)
        sum_s6 = Signal(signed(FLOAT_INDEX_BITS + _STEP_BITS + 2), reset_less=True)
        signs = [number[-1]]
        for stage in (2, 3):
            signs.append(Signal(name=f"sign_s{stage}", reset_less=True))
        is_above = distance_s2[-1]
        is_small = ~is_above & (distance_s2[4:-1].any() | distance_s2[2:4].all())
        magnitude = Signal(FLOAT_INDEX_BITS)
        with m.Switch(coarse_s3):
            for shift in range(3):
                with m.Case(shift):
                    m.d.comb += magnitude.eq(finely_s3 >> 4 * shift)
            with m.Default():
                m.d.comb += magnitude.eq(~0)
        start = Const(round(FLOAT_GUESS * 2**FLOAT_STEP_BITS), FLOAT_STEP_BITS)
        with m.If(moves):
            m.d.sync += [
                distance_s2.eq(scale.octave - number[_FRACTION_BITS:-1]),
                leading_s2.eq(Cat(number[_FRACTION_BITS - kept : _FRACTION_BITS], 1)),
                finely_s3.eq(leading_s2 >> distance_s2[:2]),
                coarse_s3.eq(Mux(is_above, 3, distance_s2[2:4])),
                Cat(signs[1:]).eq(Cat(signs[:-1])),
                index_s4.eq(Cat(magnitude ^ signs[-1].replicate(FLOAT_INDEX_BITS), signs[-1])),
                product_s5.eq(index_s4 * scale.step[:_STEP_BITS]),
                sum_s6.eq(product_s5 + Cat(start, scale.zero_point)),
            ]
            with m.If(is_small):
                m.d.sync += [finely_s3.eq(0), coarse_s3.eq(0)]
        guess = Signal(_GUESS_BITS)
        above = sum_s6[FLOAT_STEP_BITS + _GUESS_BITS : -1].any()
        m.d.comb += guess.eq(
            Mux(
                sum_s6[-1], 0, sum_s6[FLOAT_STEP_BITS:][:_GUESS_BITS] | above.replicate(_GUESS_BITS)
            )
        )
        return guess

    def _table(
        self, m: Module, moves: Signal, address: Value, number: Signal, scale: data.View
    ) -> Value:
        """Build the table; return the word that was at the address in the cycle before."""
        step = self.conversion
        m.submodules.memory = memory = Memory(shape=_WORD_BITS, depth=FLOAT_TABLE_WORDS, init=[])
        read, write = memory.read_port(), memory.write_port()
        count = Signal(_GUESS_BITS + 1)
        takes = Signal()
        m.d.sync += takes.eq(self.has_line & step.is_table)
        m.d.comb += [
            read.addr.eq(address),
            read.en.eq(moves),
            write.addr.eq(count),
            write.data.eq(number),
            write.en.eq(takes & ~count[-1]),
        ]
        with m.If(takes):
            m.d.sync += count.eq(count + 1)
            with m.If(count[-1]):
                m.d.sync += scale.eq(number)
        with m.If(~step.is_active):
            m.d.sync += count.eq(0)
        return read.data

    def _to_bytes(
        self, m: Module, moves: Signal, number: Signal, guess: Signal, looked_up: Value
    ) -> None:
        """Build the comparison, the output, and the word of four outputs."""
        for stage in range(2, _COMPARE_STAGE + 1):
            later = Signal(_WORD_BITS, name=f"number_s{stage}", reset_less=True)
            with m.If(moves):
                m.d.sync += later.eq(number)
            number = later
        guess_s7, guess_s8 = (
            Signal(_GUESS_BITS, name=f"guess_s{stage}", reset_less=True) for stage in (7, 8)
        )
        is_more_s8 = Signal(reset_less=True)
        output_s9 = Signal(_GUESS_BITS, reset_less=True)
        outputs = Signal(_WORD_BITS, reset_less=True)
        m.d.comb += self.conversion.data.eq(outputs)
        ordered = Cat(number[:-1] ^ number[-1].replicate(_WORD_BITS - 1), number[-1]).as_signed()
        with m.If(moves):
            m.d.sync += [
                guess_s7.eq(guess),
                guess_s8.eq(guess_s7),
                is_more_s8.eq(ordered > looked_up.as_signed()),
                output_s9.eq(guess_s8 + is_more_s8),
                outputs.eq(Cat(outputs[8:], output_s9[:-1], ~output_s9[-1])),
            ]

"""Order of reads of SHORT_ELEMENTS jobs, and places of their results."""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from kiwicha.contract.latencies import (
    SHORT_FUNCTION_CYCLES,
    SHORT_PAIR_CYCLES,
    SHORT_SINGLE_CYCLES,
)
from kiwicha.contract.short_elements import (
    ELEMENT_LANES,
    PAIRS,
    SHORT_BYTES,
    ShortForm,
    ShortOperator,
)
from kiwicha.gateware.engine.descriptors import ADDRESS_BITS, JOB, SHORT_ELEMENTS
from kiwicha.gateware.engine.short_elements.interfaces import SHORT_READ

__all__ = ["ElementReader"]

_FUNCTIONS = (ShortOperator.LOGISTIC, ShortOperator.TANH)
_PAUSE_BITS = (max(SHORT_FUNCTION_CYCLES, SHORT_PAIR_CYCLES) - 1).bit_length()


class ElementReader(wiring.Component):
    """Reads of the beats of a job: of one tensor, of two by turns, or of windows.

    In planes lower bytes are read, and then upper ones.

    Latency: `SHORT_START_CYCLES` from ``start`` to the first read. Throughput: a read per cycle;
    beats are as far apart as their reads, and `SHORT_PAIR_CYCLES`, `SHORT_SINGLE_CYCLES` or
    `SHORT_FUNCTION_CYCLES`.

    Members
    -------
    job : ``In(JOB)``
        An `EngineShortElements`, stable from ``start`` to the last read.
    start : ``In(1)``
        Begin; only while not ``is_reading``.
    is_reading : ``Out(1)``
        From the cycle after ``start`` on, for the cycles of all beats.
    address : ``Out(ADDRESS_BITS)``
        What is read; unspecified without a read.
    read : ``Out(SHORT_READ)``
        What it is read for; nothing has ``completes`` without a read.
    """

    def __init__(self) -> None:
        super().__init__({
            "job": In(JOB),
            "start": In(1),
            "is_reading": Out(1),
            "address": Out(ADDRESS_BITS),
            "read": Out(SHORT_READ),
        })
        # Of the beat that is read: of its numbers, in windows of the next ones, and of its results.
        self._first = Signal(ADDRESS_BITS, name="first")
        self._second = Signal(ADDRESS_BITS, name="second")
        self._in_window = Signal(ADDRESS_BITS, name="in_window")
        self._place = Signal(ADDRESS_BITS, name="place")
        self._next = Signal(name="next")

    def elaborate(self, platform: object) -> Module:
        """Build the reads of a beat, and the way from beat to beat."""
        m = Module()
        job = data.View(SHORT_ELEMENTS, self.job.as_value())
        is_whole = job.form == ShortForm.WHOLE
        is_pair = Cat(job.operator == item for item in sorted(PAIRS)).any()
        is_window = job.operator == ShortOperator.MAX
        is_function = Cat(job.operator == item for item in _FUNCTIONS).any()
        pause = Signal(_PAUSE_BITS)
        usual = Mux(is_pair, SHORT_PAIR_CYCLES - 1, SHORT_SINGLE_CYCLES - 1)
        pause_of_job = Mux(is_function, SHORT_FUNCTION_CYCLES - 1, usual)
        # Of the beat what is read next, unless all of it was.
        reads = Signal()
        is_upper, is_second, is_later = Signal(), Signal(), Signal()
        is_window_end = self._window(m, job, is_upper | is_whole, reads & is_window)
        completes = is_upper | is_whole
        ends = completes & Mux(is_pair, is_second, Mux(is_window, is_window_end, 1))
        is_last = self._beats(m, job, is_whole)
        m.d.comb += self._next.eq(self.is_reading & (~reads | ends) & (pause == 0))
        with m.If(self.start):
            m.d.sync += self.is_reading.eq(1)
        with m.Elif(self._next):
            m.d.sync += self.is_reading.eq(~is_last)
        with m.If(self.start | self._next):
            m.d.sync += [
                reads.eq(self.start | ~is_last),
                is_upper.eq(0),
                is_second.eq(0),
                is_later.eq(0),
                pause.eq(pause_of_job),
            ]
        with m.Else():
            m.d.sync += pause.eq(Mux(pause == 0, 0, pause - 1))
            with m.If(reads):
                m.d.sync += [reads.eq(~ends), is_upper.eq(~is_upper & ~is_whole)]
                with m.If(completes):
                    m.d.sync += [is_second.eq(is_pair), is_later.eq(1)]
        first = Mux(is_window, self._in_window, self._first)
        address = Mux(is_second, self._second, first)
        m.d.sync += [
            self.address.eq(address + Mux(is_upper, job.upper_step, 0)),
            self.read.completes.eq(reads & completes),
            self.read.begins.eq(~is_later),
            self.read.ends.eq(reads & ends),
            self.read.is_last.eq(reads & ends & is_last),
            self.read.place.eq(self._place),
        ]
        return m

    def _beats(self, m: Module, job: data.View, is_whole: Value) -> Value:
        """Build the counts of beats and the addresses of each; return whether one is the last."""
        columns, rows, blocks = (Signal(16, name=name) for name in ("columns", "rows", "blocks"))
        ends_row, ends_block = columns == 1, (columns == 1) & (rows == 1)
        size = Mux(is_whole, SHORT_BYTES * ELEMENT_LANES, ELEMENT_LANES)
        with m.If(self.start):
            m.d.sync += [columns.eq(job.columns), rows.eq(job.rows), blocks.eq(job.blocks)]
        with m.Elif(self._next):
            m.d.sync += columns.eq(Mux(ends_row, job.columns, columns - 1))
            with m.If(ends_row):
                m.d.sync += rows.eq(Mux(ends_block, job.rows, rows - 1))
            with m.If(ends_block):
                m.d.sync += blocks.eq(blocks - 1)
        ways = (
            (self._first, job.first_address, job.column_step, job.row_step),
            (self._second, job.second_address, job.second_column_step, job.second_row_step),
            (self._place, job.output_address, job.output_column_step, job.output_row_step),
        )
        for place, start, column_step, row_step in ways:
            block = Signal(ADDRESS_BITS, name=f"block_of_{place.name}")
            following = Signal(ADDRESS_BITS, name=f"following_{place.name}")
            m.d.comb += following.eq(
                Mux(ends_block, block, place)
                + Mux(ends_block, size, Mux(ends_row, row_step, column_step))
            )
            with m.If(self.start):
                m.d.sync += [place.eq(start), block.eq(start)]
            with m.Elif(self._next):
                m.d.sync += place.eq(following)
                with m.If(ends_block):
                    m.d.sync += block.eq(following)
            if place is self._first:
                self._begin_window(m, following, start)
        return ends_block & (blocks == 1)

    def _begin_window(self, m: Module, following: Value, start: Value) -> None:
        """Build where a window begins."""
        with m.If(self.start):
            m.d.sync += self._in_window.eq(start)
        with m.Elif(self._next):
            m.d.sync += self._in_window.eq(following)

    def _window(self, m: Module, job: data.View, completes: Value, reads: Value) -> Value:
        """Build the way through a window; return whether numbers are its last ones."""
        rows, columns = Signal(8), Signal(8)
        ends_row = columns == 1
        with m.If(self.start | self._next):
            m.d.sync += [rows.eq(job.kernel_rows), columns.eq(job.kernel_columns)]
        with m.Elif(reads & completes):
            step = Mux(ends_row, job.kernel_row_step, job.kernel_column_step)
            m.d.sync += [
                self._in_window.eq(self._in_window + step),
                columns.eq(Mux(ends_row, job.kernel_columns, columns - 1)),
                rows.eq(rows - ends_row),
            ]
        return ends_row & (rows == 1)

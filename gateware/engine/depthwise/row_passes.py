"""Order of work of the depthwise unit: output rows, passes over their windows, columns."""

from amaranth import Module, Mux, Signal, Value, signed
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from kiwicha.contract.depthwise import PASS_PLACES, UNIT_TAPS
from kiwicha.gateware.engine.depthwise.interfaces import (
    COLUMN,
    COLUMN_BITS,
    LINE_NUMBER_BITS,
    PASS_BITS,
    PLACE_BITS,
    SLOT_BITS,
    is_dense,
)
from kiwicha.gateware.engine.descriptors import JOB

__all__ = ["RowPasses"]

_X = signed(COLUMN_BITS + 4)
"""A column of the input, or beside it."""
_ROWS = data.StructLayout({
    "rows_left": 16,
    "first_line": LINE_NUMBER_BITS,
    "first_row": signed(17),
    "pair_line": LINE_NUMBER_BITS,
    "is_first": 1,
    "is_second": 1,
    "has_second": 1,
})
"""An output row: of its first kernel row the line's number, and the row of the input; the first
line of the next pair of groups. ``is_first`` is of the pair's rows; ``is_second`` is of the groups
of the pair, if it ``has_second``."""
_PASS = data.StructLayout({
    "line": LINE_NUMBER_BITS,
    "row": signed(17),
    "rows_left": 8,
    "columns_left": 8,
    "number": PASS_BITS,
    "x_start": _X,
    "is_first": 1,
})
"""A pass: the same of its own first kernel row; kernel rows and columns from there on."""
_POSITION = data.StructLayout({
    "x": _X,
    "position": 10,
    "is_last": 1,
    "skips": 2,
    "place": PLACE_BITS,
    "phase": 8,
})
"""A column of a pass, and whether it is the last one: it is never the first one. Columns until the
first one that ends a window, and since the last."""
_ENDS = data.StructLayout({"a_pass": 1, "columns": 1, "row": 1, "both": 1, "rows": 1})
"""What ends with this column: a pass, the last one of kernel columns, of a row, of a row of both
groups, of a group."""


class RowPasses(wiring.Component):
    """A stream of columns for each pass of each output row, of a pair of groups after the other.

    Each row is that of the pair's first group, then that of the second one. A row begins when its
    input rows and, for the first time, the group's weights are there, and there is room for its
    sums. Then it goes on without a gap: for each three kernel rows, for each three kernel
    columns, ``segment_words`` columns.

    Latency: 1 cycle from a column that is due to ``columns``. Throughput: a column per cycle, and 2
    cycles more from row to row.

    Members
    -------
    job : ``In(JOB)``
        Stable from ``start`` until the last column.
    start : ``In(1)``
        Begin a job; only while not ``is_busy``.
    is_busy : ``Out(1)``
        Columns are still to come.
    fetched : ``In(LINE_NUMBER_BITS)``
        Input rows that are complete.
    oldest : ``Out(LINE_NUMBER_BITS)``
        The first one that is still needed.
    has_weights : ``In(1)``
        Those of the next group are there.
    takes_weights : ``Out(1)``
        Its first row begins.
    has_room : ``In(1)``
        There is room for the sums of a row.
    takes_room : ``Out(1)``
        A row begins.
    columns : ``Out(stream.Signature(COLUMN, always_ready=True))``
        What goes through the chains.
    ends_group : ``Out(1)``
        With the last column of a group.
    group_passes : ``Out(range(PASS_PLACES + 1))``
        How many passes its weights are; with ``ends_group``.
    """

    def __init__(self) -> None:
        super().__init__({
            "job": In(JOB),
            "start": In(1),
            "is_busy": Out(1),
            "fetched": In(LINE_NUMBER_BITS),
            "oldest": Out(LINE_NUMBER_BITS),
            "has_weights": In(1),
            "takes_weights": Out(1),
            "has_room": In(1),
            "takes_room": Out(1),
            "columns": Out(stream.Signature(COLUMN, always_ready=True)),
            "ends_group": Out(1),
            "group_passes": Out(range(PASS_PLACES + 1)),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the loops, from the outermost in."""
        m = Module()
        # What the start of a job, row or pass sets needs no reset; the two rings go on.
        rows = Signal(_ROWS, reset_less=True)
        now = Signal(_PASS, reset_less=True)
        at = Signal(_POSITION, reset_less=True)
        pair_weights, group_weights = Signal(PASS_BITS), Signal(PASS_BITS)
        row_place = Signal(PLACE_BITS)
        weights = Signal(PASS_BITS)
        ends = Signal(_ENDS)
        begins, is_streaming = Signal(), Signal()
        m.d.comb += [
            ends.a_pass.eq(at.is_last),
            ends.columns.eq(now.columns_left <= UNIT_TAPS),
            ends.row.eq(ends.a_pass & ends.columns & (now.rows_left <= UNIT_TAPS)),
            ends.both.eq(ends.row & (rows.is_second | ~rows.has_second)),
            ends.rows.eq(ends.row & (rows.rows_left == 1)),
            weights.eq(group_weights + now.number),
            self.oldest.eq(rows.first_line),
            self.takes_room.eq(begins),
            self.takes_weights.eq(begins & rows.is_first),
            self.ends_group.eq(is_streaming & ends.rows),
            self.group_passes.eq(now.number + 1),
        ]
        self._order(m, rows, ends, begins, is_streaming)
        with m.If(begins):
            self._begin_row(m, rows, now, at, row_place)
        with m.If(is_streaming):
            self._advance_column(m, at)
            with m.If(ends.a_pass):
                self._advance_pass(m, ends, now, at, row_place)
            with m.If(ends.row):
                m.d.sync += [
                    row_place.eq(row_place + self.job.output_columns),
                    group_weights.eq(weights + 1),
                ]
            with m.If(ends.both):
                m.d.sync += group_weights.eq(pair_weights)
                with m.If(ends.rows):
                    m.d.sync += [group_weights.eq(weights + 1), pair_weights.eq(weights + 1)]
        self._offer(m, now, at, ends, is_streaming, weights, rows.is_second)
        return m

    def _order(
        self, m: Module, rows: data.View, ends: data.View, begins: Signal, is_streaming: Signal
    ) -> None:
        """Build the loops over pairs of groups, output rows and the groups of a pair."""
        job = self.job
        groups_left = Signal(16, reset_less=True)
        missing = (self.fetched - (rows.first_line + job.kernel_rows))[:LINE_NUMBER_BITS]
        m.d.comb += self.is_busy.eq(1)
        with m.FSM():
            with m.State("IDLE"):
                m.d.comb += self.is_busy.eq(0)
                m.d.sync += [
                    groups_left.eq(job.groups),
                    rows.rows_left.eq(job.output_rows),
                    rows.first_line.eq(0),
                    rows.pair_line.eq(job.first_index),
                    rows.first_row.eq(job.first_row),
                    rows.is_first.eq(1),
                    rows.is_second.eq(0),
                    rows.has_second.eq(job.groups != 1),
                ]
                with m.If(self.start):
                    m.next = "ROW"
            with m.State("ROW"):
                with m.If(~missing[-1] & self.has_room & (~rows.is_first | self.has_weights)):
                    m.d.comb += begins.eq(1)
                    m.next = "COLUMNS"
            with m.State("COLUMNS"):
                m.d.comb += is_streaming.eq(1)
                with m.If(ends.row):
                    m.d.sync += rows.is_second.eq(~ends.both)
                    m.next = "ROW"
                with m.If(ends.both):
                    m.d.sync += [
                        rows.rows_left.eq(rows.rows_left - 1),
                        rows.first_line.eq(rows.first_line + job.stride_rows),
                        rows.first_row.eq(rows.first_row + job.stride_rows),
                        rows.is_first.eq(0),
                    ]
                    with m.If(ends.rows):
                        m.d.sync += [
                            groups_left.eq(groups_left - 2),
                            rows.has_second.eq(groups_left != 3),
                            rows.rows_left.eq(job.output_rows),
                            rows.first_line.eq(rows.pair_line),
                            rows.pair_line.eq(rows.pair_line + job.first_index),
                            rows.first_row.eq(job.first_row),
                            rows.is_first.eq(1),
                        ]
                        with m.If(groups_left <= 2):
                            m.next = "IDLE"

    def _begin_row(
        self, m: Module, rows: data.View, now: data.View, at: data.View, row_place: Signal
    ) -> None:
        """Go to the first pass of a row."""
        job = self.job
        m.d.sync += [
            now.line.eq(rows.first_line),
            now.row.eq(rows.first_row),
            now.rows_left.eq(job.kernel_rows),
            now.columns_left.eq(job.segments),
            now.number.eq(0),
            now.is_first.eq(1),
            now.x_start.eq(-job.skip_results),
        ]
        self._begin_pass(m, at, -job.skip_results, row_place)

    def _advance_pass(
        self, m: Module, ends: data.View, now: data.View, at: data.View, row_place: Signal
    ) -> None:
        """Go to the next three kernel columns; behind the last ones, to the next three rows."""
        job = self.job
        following = Signal(_X)
        m.d.comb += following.eq(Mux(ends.columns, -job.skip_results, now.x_start + UNIT_TAPS))
        m.d.sync += [
            now.number.eq(now.number + 1),
            now.is_first.eq(0),
            now.x_start.eq(following),
            now.columns_left.eq(now.columns_left - UNIT_TAPS),
        ]
        self._begin_pass(m, at, following, row_place)
        with m.If(ends.columns):
            m.d.sync += [
                now.columns_left.eq(job.segments),
                now.rows_left.eq(now.rows_left - UNIT_TAPS),
                now.line.eq(now.line + UNIT_TAPS),
                now.row.eq(now.row + UNIT_TAPS),
            ]

    def _begin_pass(self, m: Module, at: data.View, x: Value, row_place: Signal) -> None:
        """Go to the first column of a pass."""
        m.d.sync += [
            at.x.eq(x),
            at.position.eq(0),
            at.is_last.eq(0),
            at.skips.eq(UNIT_TAPS - 1),
            at.place.eq(row_place),
            at.phase.eq(0),
        ]

    def _advance_column(self, m: Module, at: data.View) -> None:
        """Go to the next column, of which every ``stride_columns``-th ends a window."""
        m.d.sync += [
            at.x.eq(at.x + 1),
            at.position.eq(at.position + 1),
            at.is_last.eq(at.position + 2 == self.job.segment_words),
        ]
        with m.If(at.skips.any()):
            m.d.sync += at.skips.eq(at.skips - 1)
        with m.Else():
            m.d.sync += at.phase.eq(at.phase + 1)
            with m.If(at.phase == 0):
                m.d.sync += at.place.eq(at.place + 1)
            with m.If(at.phase + 1 == self.job.stride_columns):
                m.d.sync += at.phase.eq(0)

    def _offer(
        self,
        m: Module,
        now: data.View,
        at: data.View,
        ends: data.View,
        is_streaming: Signal,
        weights: Signal,
        is_second: Value,
    ) -> None:
        """Build the register in front of the chains; only what counts sums has a reset."""
        job = self.job
        column = Signal(COLUMN, reset_less=True)
        is_result, ends_row = Signal(), Signal()
        has_two_pixels = Signal(reset_less=True)
        m.d.sync += has_two_pixels.eq(is_dense(job))
        is_inside = (at.x >= 0) & (at.x < job.row_words)
        m.d.sync += [
            self.columns.valid.eq(is_streaming),
            column.slot.eq(now.line[:SLOT_BITS]),
            column.is_second.eq(Mux(has_two_pixels, at.x[0], is_second)),
            column.column.eq(Mux(has_two_pixels, at.x >> 1, at.x)[:COLUMN_BITS]),
            column.weights.eq(weights),
            column.place.eq(at.place),
            column.is_first.eq(now.is_first),
            is_result.eq(is_streaming & ~at.skips.any() & (at.phase == 0)),
            ends_row.eq(is_streaming & ends.row),
        ]
        for tap in range(UNIT_TAPS):
            its_row = now.row + tap
            m.d.sync += column.rows[tap].eq(
                is_inside & (its_row >= 0) & (its_row < job.input_rows) & (now.rows_left > tap)
            )
        m.d.comb += [
            self.columns.payload.eq(column),
            self.columns.payload.is_result.eq(is_result),
            self.columns.payload.ends_row.eq(ends_row),
        ]

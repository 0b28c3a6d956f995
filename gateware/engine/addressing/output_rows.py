"""Output rows of a job, each with the kernel rows that lie inside the input."""

from amaranth import Module, Signal, signed
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from kiwicha.gateware.engine.control.job import INDEX_BITS, JOB, POSITION

__all__ = ["ROW_BITS", "WINDOW_ROW", "WindowRows"]

ROW_BITS = 18
WINDOW_ROW = data.StructLayout({
    "address": POSITION,
    "row": signed(ROW_BITS),
    "kernel_row": 8,
    "index": INDEX_BITS,
    "is_last": 1,
})
"""An output row's first kernel row inside the input: scratchpad address of its column 0, input row,
kernel row, the words that the kernel rows above it have; ``is_last`` on the last output row."""


class WindowRows(wiring.Component):
    """One `WINDOW_ROW` for each output row of a group, computed ahead.

    If no kernel row is inside the input, the last one, or the first below it, is given: its ``row``
    tells that it is outside. With ``visits_all`` it is always kernel row 0.

    Latency: 3 cycles from ``start``, or from the cycle in which the row before is taken, and one
    more for each kernel row above the input.

    Members
    -------
    job : ``In(JOB)``
        Stable from ``start`` until the last row is taken.
    row_words : ``In(16)``
        Weight words of a kernel row.
    group_offset : ``In(16)``
        Added to addresses; taken with ``start``.
    visits_all : ``In(1)``
        Do not skip kernel rows; stable like ``job``.
    start : ``In(1)``
        Begin with a group; only with ``is_free``.
    is_free : ``Out(1)``
        The last row of a group was taken.
    rows : ``Out(stream.Signature(WINDOW_ROW))``
        The rows in order.
    """

    def __init__(self) -> None:
        super().__init__({
            "job": In(JOB),
            "row_words": In(16),
            "group_offset": In(16),
            "visits_all": In(1),
            "start": In(1),
            "is_free": Out(1),
            "rows": Out(stream.Signature(WINDOW_ROW)),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the steps from output row to output row, and from kernel row to kernel row."""
        m = Module()
        job, found = self.job, self.rows.payload
        window_address = Signal(POSITION)
        window_row = Signal(signed(ROW_BITS))
        rows_left = Signal(16)

        with m.FSM():
            with m.State("IDLE"):
                m.d.comb += self.is_free.eq(1)
                m.d.sync += [
                    window_address.eq(job.first_address + self.group_offset),
                    window_row.eq(job.first_row),
                    rows_left.eq(job.output_rows),
                ]
                with m.If(self.start):
                    m.next = "WINDOW"
            with m.State("WINDOW"):
                m.d.sync += [
                    found.address.eq(window_address),
                    found.row.eq(window_row),
                    found.kernel_row.eq(0),
                    found.index.eq(0),
                    found.is_last.eq(rows_left == 1),
                    window_address.eq(window_address + job.row_step),
                    window_row.eq(window_row + job.stride_rows),
                    rows_left.eq(rows_left - 1),
                ]
                m.next = "SEEK"
            with m.State("SEEK"):
                is_last_row = found.kernel_row + 1 == job.kernel_rows
                with m.If((found.row < 0) & ~is_last_row & ~self.visits_all):
                    m.d.sync += [
                        found.address.eq(found.address + job.kernel_row_step),
                        found.row.eq(found.row + job.dilation_rows),
                        found.kernel_row.eq(found.kernel_row + 1),
                        found.index.eq(found.index + self.row_words),
                    ]
                with m.Else():
                    m.d.sync += self.rows.valid.eq(1)
                    m.next = "FOUND"
            with m.State("FOUND"):
                with m.If(self.rows.ready):
                    m.d.sync += self.rows.valid.eq(0)
                    m.next = "WINDOW"
                    with m.If(found.is_last):
                        m.next = "IDLE"
        return m

"""Order of work in a convolution: which bytes meet which weights, cycle by cycle."""

from amaranth import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from kiwicha.contract.engine import INPUT_LANES
from kiwicha.gateware.engine.addressing.kernel_rows import KernelRows
from kiwicha.gateware.engine.addressing.output_rows import WindowRows
from kiwicha.gateware.engine.addressing.pace import Pace
from kiwicha.gateware.engine.control.job import INDEX_BITS, JOB, OPERATION, POSITION

__all__ = ["ConvWalker"]


class ConvWalker(wiring.Component):
    """The operations of the groups of a CONV or MAX job.

    Output rows, then columns, then the kernel rows inside the input, segments and words. With
    ``visits_all`` also the kernel rows outside.

    Latency: 5 cycles from ``start`` to the first operation, and one more for each kernel row above
    the input. Throughput: one operation per cycle without a gap, so that a pixel takes (kernel rows
    inside) x ``row_words`` cycles, or ``interval`` if that is more. Only an output row of fewer
    cycles than 3 + (kernel rows above the input), 4 at the end of a group, delays the next one. The
    next group can be begun before the end of the last.

    Members
    -------
    job : ``In(JOB)``
        Stable from ``start`` to ``done`` of the last group.
    visits_all : ``In(1)``
        No kernel row is skipped; stable like ``job``.
    group_offset : ``In(16)``
        First channel of the group, 0 for CONV; with ``start``.
    start : ``In(1)``
        Begin with a group; only with ``is_free``.
    is_free : ``Out(1)``
        The last output row of a group is under way, or none.
    operations : ``Out(stream.Signature(OPERATION, always_ready=True))``
        Operations in order.
    is_held : ``Out(1)``
        An operation is held back so that results are ``interval`` cycles apart.
    done : ``Out(1)``
        High in the cycle of a group's last operation.
    """

    def __init__(self) -> None:
        super().__init__({
            "job": In(JOB),
            "visits_all": In(1),
            "group_offset": In(16),
            "start": In(1),
            "is_free": Out(1),
            "operations": Out(stream.Signature(OPERATION, always_ready=True)),
            "is_held": Out(1),
            "done": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the loops."""
        m = Module()
        job = self.job
        m.submodules.windows = windows = WindowRows()
        m.submodules.kernel_rows = kernel_rows = KernelRows()
        m.submodules.pace = pace = Pace()

        is_walking = Signal()
        is_last_window = Signal()
        columns_left = Signal(16)
        segments_left = Signal(8)
        words_left = Signal(16)
        pixel_offset, segment_offset, offset = (
            Signal(POSITION, name=n) for n in ("pixel", "segment", "word")
        )
        first_index = Signal(INDEX_BITS)
        index = Signal(INDEX_BITS)
        ends_segment = Signal()
        ends_row = Signal()
        ends_pixel = Signal()
        ends_window = Signal()
        issues = Signal()
        takes_window = Signal()
        m.d.comb += [
            ends_segment.eq(words_left == 1),
            ends_row.eq(ends_segment & (segments_left == 1)),
            ends_pixel.eq(ends_row & kernel_rows.is_last),
            ends_window.eq(ends_pixel & (columns_left == 1)),
            pace.interval.eq(job.interval),
            pace.wants.eq(is_walking),
            pace.ends.eq(ends_pixel),
            issues.eq(pace.issues),
            self.is_held.eq(pace.is_held),
            takes_window.eq(~is_walking | (issues & ends_window)),
            windows.job.eq(job),
            windows.row_words.eq(job.row_words),
            windows.visits_all.eq(self.visits_all),
            kernel_rows.visits_all.eq(self.visits_all),
            windows.group_offset.eq(self.group_offset),
            windows.start.eq(self.start),
            self.is_free.eq(windows.is_free),
            windows.rows.ready.eq(takes_window),
            kernel_rows.job.eq(job),
            kernel_rows.window.eq(windows.rows.payload),
            kernel_rows.load.eq(takes_window & windows.rows.valid),
            kernel_rows.restart.eq(issues & ends_pixel),
            kernel_rows.next.eq(issues & ends_row),
        ]

        with m.If(issues):
            m.d.sync += [
                index.eq(index + 1),
                words_left.eq(words_left - 1),
                offset.eq(offset + INPUT_LANES),
            ]
            with m.If(ends_segment):
                following = Signal(POSITION)
                with m.If(ends_pixel):
                    m.d.comb += following.eq(pixel_offset + job.column_step)
                    m.d.sync += [
                        pixel_offset.eq(following),
                        columns_left.eq(columns_left - 1),
                        index.eq(first_index),
                    ]
                with m.Elif(ends_row):
                    m.d.comb += following.eq(pixel_offset)
                with m.Else():
                    m.d.comb += following.eq(segment_offset + job.segment_step)
                m.d.sync += [
                    segment_offset.eq(following),
                    offset.eq(following),
                    words_left.eq(job.segment_words),
                    segments_left.eq(Mux(ends_row, job.segments, segments_left - 1)),
                ]
        with m.If(takes_window):
            m.d.sync += is_walking.eq(windows.rows.valid)
            with m.If(windows.rows.valid):
                m.d.sync += [
                    is_last_window.eq(windows.rows.payload.is_last),
                    first_index.eq(windows.rows.payload.index),
                    index.eq(windows.rows.payload.index),
                    columns_left.eq(job.output_columns),
                    pixel_offset.eq(job.first_offset),
                    segment_offset.eq(job.first_offset),
                    offset.eq(job.first_offset),
                    segments_left.eq(job.segments),
                    words_left.eq(job.segment_words),
                ]

        # A register apart from the loops; the bytes of the word that lie in the row.
        operation = self.operations.payload
        beyond = Signal(POSITION)
        m.d.comb += beyond.eq(job.row_span - offset)
        m.d.sync += [
            self.operations.valid.eq(issues),
            self.done.eq(issues & ends_window & is_last_window),
            operation.address.eq(kernel_rows.address + offset),
            operation.index.eq(index),
            operation.last.eq(ends_pixel),
            operation.low.eq(Mux(offset >= 0, 0, Mux(offset > -INPUT_LANES, -offset, INPUT_LANES))),
            operation.high.eq(Mux(beyond > INPUT_LANES, INPUT_LANES, Mux(beyond > 0, beyond, 0))),
        ]
        with m.If(~kernel_rows.is_inside):
            m.d.sync += operation.high.eq(0)
        return m

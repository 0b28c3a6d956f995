"""Order of work in a depthwise convolution: down each input column, then on to the next."""

from amaranth import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from kiwicha.contract.engine import READ_BYTES
from kiwicha.gateware.engine.addressing.kernel_rows import KernelRows
from kiwicha.gateware.engine.addressing.output_rows import WindowRows
from kiwicha.gateware.engine.addressing.pace import Pace
from kiwicha.gateware.engine.control.job import INDEX_BITS, JOB, OPERATION, POSITION

__all__ = ["DepthwiseWalker"]


class DepthwiseWalker(wiring.Component):
    """The operations of the groups of a DEPTHWISE job.

    Output rows, then input columns from 0 on, then the kernel rows inside the input. A column right
    of the input takes one operation, without data. The row ends with its last result.

    Weight words are ordered by phase, then kernel row: ``phase * kernel_rows + kernel row``.

    Latency: 5 cycles from ``start`` to the first operation, and one more for each kernel row above
    the input. Throughput: one operation per cycle without a gap, save that results are at least
    ``interval`` cycles apart, and as in `ConvWalker` for very short rows.

    Members
    -------
    job, start, is_free, operations, is_held, done
        As those of `ConvWalker`.
    group_offset : ``In(16)``
        First channel of the group; with ``start``.
    """

    def __init__(self) -> None:
        super().__init__({
            "job": In(JOB),
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
        results_left = Signal(16)
        skips_left = Signal(8)
        phases_left = Signal(8)
        offset = Signal(POSITION)
        # Index of the first kernel row inside, in phase 0 and in the current phase.
        window_index, phase_index, index = (
            Signal(INDEX_BITS, name=name) for name in ("window_index", "phase_index", "index")
        )
        is_first = Signal()
        is_column_start = Signal()
        is_row_start = Signal()
        is_beyond = Signal()
        ends_column = Signal()
        ends_phases = Signal()
        ends_window = Signal()
        issues = Signal()
        takes_window = Signal()
        m.d.comb += [
            is_beyond.eq(offset >= job.row_span),
            ends_column.eq(kernel_rows.is_last | is_beyond),
            ends_phases.eq(ends_column & (phases_left == 1)),
            ends_window.eq(ends_phases & ~skips_left.any() & (results_left == 1)),
            pace.interval.eq(job.interval),
            pace.wants.eq(is_walking),
            pace.ends.eq(ends_phases),
            issues.eq(pace.issues),
            self.is_held.eq(pace.is_held),
            takes_window.eq(~is_walking | (issues & ends_window)),
            windows.job.eq(job),
            windows.row_words.eq(1),
            windows.group_offset.eq(self.group_offset),
            windows.start.eq(self.start),
            self.is_free.eq(windows.is_free),
            windows.rows.ready.eq(takes_window),
            kernel_rows.job.eq(job),
            kernel_rows.window.eq(windows.rows.payload),
            kernel_rows.load.eq(takes_window & windows.rows.valid),
            kernel_rows.restart.eq(issues & ends_column),
            kernel_rows.next.eq(issues),
        ]

        with m.If(issues):
            m.d.sync += [index.eq(index + 1), is_column_start.eq(0), is_row_start.eq(0)]
            with m.If(ends_column):
                following = Signal(INDEX_BITS)
                m.d.comb += following.eq(phase_index + job.kernel_rows)
                with m.If(ends_phases):
                    m.d.comb += following.eq(window_index)
                    m.d.sync += [is_column_start.eq(1), phases_left.eq(job.stride_columns)]
                    with m.If(skips_left.any()):
                        m.d.sync += skips_left.eq(skips_left - 1)
                    with m.Else():
                        m.d.sync += results_left.eq(results_left - 1)
                with m.Else():
                    m.d.sync += phases_left.eq(phases_left - 1)
                m.d.sync += [
                    phase_index.eq(following),
                    index.eq(following),
                    offset.eq(offset + job.column_step),
                ]
        with m.If(takes_window):
            m.d.sync += is_walking.eq(windows.rows.valid)
            with m.If(windows.rows.valid):
                first = Signal(INDEX_BITS)
                m.d.comb += first.eq(windows.rows.payload.index + job.first_index)
                m.d.sync += [
                    is_last_window.eq(windows.rows.payload.is_last),
                    window_index.eq(windows.rows.payload.index),
                    phase_index.eq(first),
                    index.eq(first),
                    offset.eq(0),
                    is_row_start.eq(1),
                    is_column_start.eq(0),
                    phases_left.eq(job.stride_columns - job.first_phase),
                    results_left.eq(job.output_columns),
                    skips_left.eq(job.skip_results),
                ]

        # A register apart from the loops.
        operation = self.operations.payload
        m.d.comb += is_first.eq(is_row_start)
        m.d.sync += [
            self.operations.valid.eq(issues),
            self.done.eq(issues & ends_window & is_last_window),
            operation.address.eq(kernel_rows.address + offset),
            operation.index.eq(index),
            operation.first.eq(is_first),
            operation.shift.eq(is_column_start),
            operation.last.eq(ends_phases),
            operation.is_dropped.eq(skips_left.any()),
            operation.low.eq(0),
            operation.high.eq(Mux(is_beyond | ~kernel_rows.is_inside, 0, READ_BYTES)),
        ]
        return m

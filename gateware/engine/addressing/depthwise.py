"""Order of work in a depthwise convolution: down each input column, then on to the next."""

from amaranth import Module, Mux, Signal, signed
from amaranth.lib import wiring

from kiwicha.contract.engine import READ_BYTES
from kiwicha.gateware.engine.addressing.interfaces import (
    INDEX_BITS,
    POSITION,
    AddressGeneratorSignature,
)
from kiwicha.gateware.engine.addressing.kernel_rows import KernelRows
from kiwicha.gateware.engine.addressing.output_rows import OutputRows
from kiwicha.gateware.engine.addressing.result_throttle import ResultThrottle

__all__ = ["DepthwiseAddressGenerator"]


class DepthwiseAddressGenerator(wiring.Component):
    """The operations of the groups of a DEPTHWISE job.

    Output rows, then input columns from 0 on, then the kernel rows inside the input. A column right
    of the input takes one operation, without data. The row ends with its last result.

    Weight words are ordered by phase, then kernel row: ``phase * kernel_rows + kernel row``.

    Latency: 5 cycles from ``start`` to the first operation, and one more for each kernel row above
    the input. Throughput: one operation per cycle without a gap, save that results are at least
    ``interval`` cycles apart, and as in `ConvAddressGenerator` for very short rows.

    Members
    -------
    See `AddressGeneratorSignature`.
    """

    def __init__(self) -> None:
        super().__init__(AddressGeneratorSignature().flip())

    def elaborate(self, platform: object) -> Module:
        """Build the loops."""
        m = Module()
        job = self.job
        m.submodules.output_rows = output_rows = OutputRows()
        m.submodules.kernel_rows = kernel_rows = KernelRows()
        m.submodules.throttle = throttle = ResultThrottle()

        is_active = Signal()
        is_last_row = Signal()
        # All that an output row sets need no reset.
        results_left, skips_left, phases_left = (
            Signal(bits, name=name, reset_less=True)
            for name, bits in (("results_left", 16), ("skips_left", 8), ("phases_left", 8))
        )
        offset = Signal(POSITION, reset_less=True)
        # Index of the first kernel row inside, in phase 0 and in the current phase.
        row_index, phase_index, index = (
            Signal(INDEX_BITS, name=name, reset_less=True)
            for name in ("row_index", "phase_index", "index")
        )
        is_first = Signal()
        is_column_start = Signal()
        is_row_start = Signal()
        # The column is right of the input; so is the one that follows a column from here on.
        is_beyond = Signal(reset_less=True)
        last_offset = Signal(signed(len(job.row_span) + 1), reset_less=True)
        ends_column = Signal()
        ends_phases = Signal()
        ends_output_row = Signal()
        issues = Signal()
        takes_row = Signal()
        m.d.sync += last_offset.eq(job.row_span - job.column_step)
        m.d.comb += [
            ends_column.eq(kernel_rows.is_last | is_beyond),
            ends_phases.eq(ends_column & (phases_left == 1)),
            ends_output_row.eq(ends_phases & ~skips_left.any() & (results_left == 1)),
            throttle.interval.eq(job.interval),
            throttle.yields.eq(self.yields),
            throttle.pauses.eq(self.pauses),
            throttle.wants.eq(is_active),
            throttle.ends.eq(ends_phases),
            issues.eq(throttle.issues),
            self.is_held.eq(throttle.is_held),
            takes_row.eq(~is_active | (issues & ends_output_row)),
            output_rows.job.eq(job),
            output_rows.row_words.eq(1),
            output_rows.group_offset.eq(self.group_offset),
            output_rows.start.eq(self.start),
            self.is_free.eq(output_rows.is_free),
            output_rows.rows.ready.eq(takes_row),
            kernel_rows.job.eq(job),
            kernel_rows.output_row.eq(output_rows.rows.payload),
            # What comes while nothing is active is of no account.
            kernel_rows.moves.eq(~is_active | issues),
            kernel_rows.load.eq(~is_active | ends_output_row),
            kernel_rows.restart.eq(ends_column),
        ]

        with m.If(issues):
            m.d.sync += [index.eq(index + 1), is_column_start.eq(0), is_row_start.eq(0)]
            with m.If(ends_column):
                following = Signal(INDEX_BITS)
                m.d.comb += following.eq(phase_index + job.kernel_rows)
                with m.If(ends_phases):
                    m.d.comb += following.eq(row_index)
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
                    is_beyond.eq(offset >= last_offset),
                ]
        with m.If(takes_row):
            first = Signal(INDEX_BITS)
            m.d.comb += first.eq(output_rows.rows.payload.index + job.first_index)
            m.d.sync += [
                is_active.eq(output_rows.rows.valid),
                is_last_row.eq(output_rows.rows.payload.is_last),
                row_index.eq(output_rows.rows.payload.index),
                phase_index.eq(first),
                index.eq(first),
                offset.eq(0),
                is_beyond.eq(job.row_span == 0),
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
            self.done.eq(issues & ends_output_row & is_last_row),
            operation.address.eq(kernel_rows.address + offset),
            operation.index.eq(index),
            operation.first.eq(is_first),
            operation.shift.eq(is_column_start),
            operation.last.eq(ends_phases),
            operation.is_dropped.eq(skips_left.any()),
            operation.ends_row.eq(ends_output_row),
            operation.low.eq(0),
            operation.high.eq(Mux(is_beyond | ~kernel_rows.is_inside, 0, READ_BYTES)),
        ]
        return m

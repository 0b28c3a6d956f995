"""Order of work in a convolution: which bytes meet which weights, cycle by cycle."""

from amaranth import Const, Module, Mux, Signal, Value
from amaranth.lib import wiring

from kiwicha.contract.engine import INPUT_LANES, READ_BYTES
from kiwicha.gateware.engine.addressing.gathering import Gathering
from kiwicha.gateware.engine.addressing.interfaces import (
    INDEX_BITS,
    POSITION,
    AddressGeneratorSignature,
)
from kiwicha.gateware.engine.addressing.kernel_rows import KernelRows
from kiwicha.gateware.engine.addressing.output_rows import OutputRows
from kiwicha.gateware.engine.addressing.result_throttle import ResultThrottle

__all__ = ["ConvAddressGenerator"]


class ConvAddressGenerator(wiring.Component):
    """The operations of the groups of a CONV or MAX job.

    Output rows, then columns, then the kernel rows inside the input, segments and words. With
    ``all_kernel_rows`` also the kernel rows outside.

    A GATHERED job begins words where segments end, as its `Gathering` tells.

    Latency: 5 cycles from ``start`` to the first operation, and one more for each kernel row above
    the input. Throughput: one operation per cycle without a gap, so that a pixel takes (kernel rows
    inside) x ``row_words`` cycles, or ``interval`` if that is more. Only an output row of fewer
    cycles than 3 + (kernel rows above the input), 4 at the end of a group, delays the next one. The
    next group can be begun before the end of the last.

    Parameters
    ----------
    has_depthwise : bool
        There is a depthwise unit. It reads when operations with ``is_upper`` do not, unless words
        are `READ_BYTES` long: then it has reads of its own.
    deep_lanes : int
        Bytes of an operation with ``all_kernel_rows``, without which it has `INPUT_LANES`.
    has_gathered : bool
        There are GATHERED jobs.

    Members
    -------
    See `AddressGeneratorSignature`.
    """

    def __init__(
        self,
        *,
        has_depthwise: bool = False,
        deep_lanes: int = INPUT_LANES,
        has_gathered: bool = False,
    ) -> None:
        self.has_depthwise = has_depthwise
        self.deep_lanes = deep_lanes
        self.has_gathered = has_gathered
        super().__init__(AddressGeneratorSignature().flip())

    def elaborate(self, platform: object) -> Module:
        """Build the loops."""
        m = Module()
        job = self.job
        m.submodules.output_rows = output_rows = OutputRows(has_depthwise=self.has_depthwise)
        m.submodules.kernel_rows = kernel_rows = KernelRows()
        m.submodules.throttle = throttle = ResultThrottle()
        m.submodules.gathering = gathering = Gathering(has_gathered=self.has_gathered)

        is_active = Signal()
        is_last_row = Signal()
        # All that an output row sets need no reset.
        columns_left, segments_left, words_left = (
            Signal(bits, name=name, reset_less=True)
            for name, bits in (("columns_left", 16), ("segments_left", 8), ("words_left", 16))
        )
        pixel_offset, segment_offset, offset = (
            Signal(POSITION, name=n, reset_less=True) for n in ("pixel", "segment", "word")
        )
        # Their being 1, and that of what they begin with: all that follows waits for it.
        is_last_column, is_last_segment, is_last_word = (
            Signal(name=name, reset_less=True)
            for name in ("is_last_column", "is_last_segment", "is_last_word")
        )
        has_one_column, has_one_segment, has_one_word = (
            Signal(name=name, reset_less=True)
            for name in ("has_one_column", "has_one_segment", "has_one_word")
        )
        m.d.sync += [
            has_one_column.eq(job.output_columns == 1),
            has_one_segment.eq(job.segments == 1),
            has_one_word.eq(job.segment_words == 1),
        ]
        first_index, index = (
            Signal(INDEX_BITS, name=name, reset_less=True) for name in ("first_index", "index")
        )
        lanes: Value = Const(INPUT_LANES)
        if self.deep_lanes != INPUT_LANES:
            lanes = Mux(self.all_kernel_rows, self.deep_lanes, INPUT_LANES)
        ends_segment = Signal()
        ends_row = Signal()
        ends_pixel = Signal()
        ends_output_row = Signal()
        issues = Signal()
        takes_row = Signal()
        m.d.comb += [
            gathering.job.eq(job),
            gathering.issues.eq(issues),
            gathering.is_last_word.eq(is_last_word),
            gathering.is_last_row.eq(kernel_rows.is_last),
            gathering.restart.eq(takes_row),
            ends_segment.eq(gathering.ends_segment),
            ends_row.eq(ends_segment & is_last_segment),
            ends_pixel.eq(ends_row & kernel_rows.is_last),
            ends_output_row.eq(ends_pixel & is_last_column),
            throttle.interval.eq(job.interval),
            throttle.yields.eq(self.yields),
            throttle.pauses.eq(self.pauses),
            throttle.wants.eq(is_active),
            throttle.ends.eq(ends_pixel),
            issues.eq(throttle.issues),
            self.is_held.eq(throttle.is_held),
            takes_row.eq(~is_active | (issues & ends_output_row)),
            output_rows.job.eq(job),
            output_rows.row_words.eq(job.row_words),
            output_rows.all_kernel_rows.eq(self.all_kernel_rows),
            kernel_rows.all_kernel_rows.eq(self.all_kernel_rows),
            output_rows.group_offset.eq(self.group_offset),
            output_rows.start.eq(self.start),
            self.is_free.eq(output_rows.is_free),
            output_rows.rows.ready.eq(takes_row),
            kernel_rows.job.eq(job),
            kernel_rows.output_row.eq(output_rows.rows.payload),
            # What comes while nothing is active is of no account.
            kernel_rows.moves.eq(~is_active | (issues & ends_row)),
            kernel_rows.load.eq(~is_active | ends_output_row),
            kernel_rows.restart.eq(ends_pixel),
        ]

        with m.If(issues):
            m.d.sync += [
                index.eq(index + 1),
                words_left.eq(words_left - 1),
                is_last_word.eq((words_left == 2) | is_last_word),
                offset.eq(offset + lanes),
            ]
            with m.If(ends_segment):
                following = Signal(POSITION)
                with m.If(ends_pixel):
                    m.d.comb += following.eq(pixel_offset + job.column_step)
                    m.d.sync += [
                        pixel_offset.eq(following),
                        columns_left.eq(columns_left - 1),
                        is_last_column.eq(columns_left == 2),
                        index.eq(first_index),
                    ]
                with m.Elif(ends_row & ~gathering.is_gathered):
                    m.d.comb += following.eq(pixel_offset)
                with m.Else():
                    m.d.comb += following.eq(segment_offset + gathering.segment_step)
                m.d.sync += [
                    segment_offset.eq(following),
                    offset.eq(following),
                    words_left.eq(job.segment_words),
                    is_last_word.eq(has_one_word),
                    segments_left.eq(Mux(ends_row, job.segments, segments_left - 1)),
                    is_last_segment.eq(Mux(ends_row, has_one_segment, segments_left == 2)),
                ]
        with m.If(takes_row):
            m.d.sync += [
                is_active.eq(output_rows.rows.valid),
                is_last_row.eq(output_rows.rows.payload.is_last),
                first_index.eq(output_rows.rows.payload.index),
                index.eq(output_rows.rows.payload.index),
                columns_left.eq(job.output_columns),
                is_last_column.eq(has_one_column),
                is_last_segment.eq(has_one_segment),
                is_last_word.eq(has_one_word),
                pixel_offset.eq(job.first_offset),
                segment_offset.eq(job.first_offset),
                offset.eq(job.first_offset),
                segments_left.eq(job.segments),
                words_left.eq(job.segment_words),
            ]

        if self.has_depthwise:
            m.d.comb += [
                output_rows.is_first_group.eq(self.is_first_group),
                output_rows.unit_rows_done.eq(self.unit_rows_done),
            ]
            self._note_upper(m, gathering, issues, ends_pixel & ~ends_output_row)
        # A register apart from the loops; the bytes of the read that lie in the row.
        operation = self.operations.payload
        beyond = Signal(POSITION)
        m.d.comb += beyond.eq(job.row_span - offset)
        m.d.sync += [
            self.operations.valid.eq(issues),
            self.done.eq(issues & ends_output_row & is_last_row),
            operation.address.eq(kernel_rows.address + offset),
            operation.index.eq(index),
            operation.carried.eq(gathering.carried),
            operation.last.eq(ends_pixel),
            operation.ends_row.eq(ends_output_row),
            operation.low.eq(Mux(offset >= 0, 0, Mux(offset > -READ_BYTES, -offset, READ_BYTES))),
            operation.high.eq(Mux(beyond > READ_BYTES, READ_BYTES, Mux(beyond > 0, beyond, 0))),
        ]
        with m.If(~kernel_rows.is_inside):
            m.d.sync += operation.high.eq(0)
        return m

    def _note_upper(
        self, m: Module, gathering: Gathering, issues: Signal, goes_to_pixel: Value
    ) -> None:
        """Build ``is_upper``: every other operation, where addresses go on by a word.

        Words as long as a read leave nothing; a gathered one needs the bytes behind those of the
        word before it.
        """
        if self.deep_lanes != INPUT_LANES:
            return
        ends_segment = gathering.ends_segment | gathering.is_gathered
        goes_to_pixel &= ~gathering.is_gathered
        job = self.job
        is_dense = Signal()
        is_upper = Signal()
        m.d.sync += is_dense.eq(
            (job.kernel_rows == 1)
            & (job.segments == 1)
            & (job.column_step == job.row_words * INPUT_LANES)
        )
        with m.If(issues):
            m.d.sync += is_upper.eq(~is_upper & (~ends_segment | (goes_to_pixel & is_dense)))
        m.d.sync += self.operations.payload.is_upper.eq(is_upper)

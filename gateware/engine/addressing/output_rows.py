"""Output rows of a job, each with the kernel rows that lie inside the input."""

from amaranth import Const, Module, Signal, Value, signed
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from kiwicha.gateware.engine.addressing.interfaces import OUTPUT_ROW, POSITION, ROW_BITS
from kiwicha.gateware.engine.descriptors import JOB

__all__ = ["OutputRows"]


class OutputRows(wiring.Component):
    """One `OUTPUT_ROW` for each output row of a group, computed ahead.

    If no kernel row is inside the input, the last one, or the first below it, is given: its ``row``
    tells that it is outside. With ``all_kernel_rows`` it is always kernel row 0.

    Latency: 3 cycles from ``start``, or from the cycle in which the row before is taken, and one
    more for each kernel row above the input.

    Parameters
    ----------
    has_depthwise : bool
        Rows of the first group can wait for those of the depthwise unit.

    Members
    -------
    job : ``In(JOB)``
        Stable from ``start`` until the last row is taken.
    row_words : ``In(16)``
        Weight words of a kernel row.
    group_offset : ``In(16)``
        Added to addresses; taken with ``start``.
    all_kernel_rows : ``In(1)``
        Do not skip kernel rows; stable like ``job``.
    is_first_group, unit_rows_done
        Only with ``has_depthwise``: as in `AddressGeneratorSignature`.
    start : ``In(1)``
        Begin with a group; only with ``is_free``.
    is_free : ``Out(1)``
        The last row of a group was taken.
    rows : ``Out(stream.Signature(OUTPUT_ROW))``
        The rows in order.
    """

    def __init__(self, *, has_depthwise: bool = False) -> None:
        self.has_depthwise = has_depthwise
        unit = {"is_first_group": In(1), "unit_rows_done": In(16)}
        super().__init__({
            **(unit if has_depthwise else {}),
            "job": In(JOB),
            "row_words": In(16),
            "group_offset": In(16),
            "all_kernel_rows": In(1),
            "start": In(1),
            "is_free": Out(1),
            "rows": Out(stream.Signature(OUTPUT_ROW)),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the steps from output row to output row, and from kernel row to kernel row."""
        m = Module()
        job = self.job
        # What the start sets, or is looked at only when it is valid, needs no reset.
        found = Signal(OUTPUT_ROW, reset_less=True)
        row_address = Signal(POSITION, reset_less=True)
        input_row = Signal(signed(ROW_BITS), reset_less=True)
        rows_left = Signal(16, reset_less=True)
        m.d.comb += self.rows.payload.eq(found)
        is_written = self._is_written(m) if self.has_depthwise else Const(1)

        with m.FSM():
            with m.State("IDLE"):
                m.d.comb += self.is_free.eq(1)
                m.d.sync += [
                    row_address.eq(job.first_address + self.group_offset),
                    input_row.eq(job.first_row),
                    rows_left.eq(job.output_rows),
                ]
                with m.If(self.start):
                    m.next = "NEXT"
            with m.State("NEXT"):
                m.d.sync += [
                    found.address.eq(row_address),
                    found.row.eq(input_row),
                    found.kernel_row.eq(0),
                    found.index.eq(0),
                    found.is_last.eq(rows_left == 1),
                    row_address.eq(row_address + job.row_step),
                    input_row.eq(input_row + job.stride_rows),
                    rows_left.eq(rows_left - 1),
                ]
                m.next = "SEEK"
            with m.State("SEEK"):
                is_last_row = found.kernel_row + 1 == job.kernel_rows
                with m.If((found.row < 0) & ~is_last_row & ~self.all_kernel_rows):
                    m.d.sync += [
                        found.address.eq(found.address + job.kernel_row_step),
                        found.row.eq(found.row + job.dilation_rows),
                        found.kernel_row.eq(found.kernel_row + 1),
                        found.index.eq(found.index + self.row_words),
                    ]
                with m.Else():
                    m.next = "FOUND"
            with m.State("FOUND"):
                m.d.comb += self.rows.valid.eq(is_written)
                with m.If(self.rows.ready & is_written):
                    m.next = "NEXT"
                    with m.If(found.is_last):
                        m.next = "IDLE"
        return m

    def _is_written(self, m: Module) -> Value:
        """Return whether the unit has written what the row waits for; one cycle late."""
        waited = Signal(16, reset_less=True)
        waits = Signal(reset_less=True)
        is_written = Signal(reset_less=True)
        missing = (self.unit_rows_done - waited)[:16]
        m.d.sync += is_written.eq(~missing[-1])
        with m.If(self.is_free):
            m.d.sync += [
                waited.eq(self.job.wait_rows),
                waits.eq(self.is_first_group & self.job.wait_row_step[0]),
            ]
        with m.Elif(self.rows.ready & self.rows.valid):
            m.d.sync += waited.eq(waited + 1)
        return ~waits | is_written

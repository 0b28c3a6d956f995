"""Kernel rows inside the input, one after the other, again and again along an output row."""

from amaranth import Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from kiwicha.gateware.engine.addressing.interfaces import OUTPUT_ROW, POSITION, ROW_BITS
from kiwicha.gateware.engine.descriptors import JOB

__all__ = ["KernelRows"]


class KernelRows(wiring.Component):
    """Current kernel row of an output row.

    Members
    -------
    job : ``In(JOB)``
        Stable while it is used.
    all_kernel_rows : ``In(1)``
        All kernel rows count, those outside the input too; stable like ``job``.
    load : ``In(1)``
        Go to the first kernel row of ``output_row``, a new one.
    output_row : ``In(OUTPUT_ROW)``
        Taken with ``load``.
    restart : ``In(1)``
        Go to the first kernel row of the output row loaded last.
    next : ``In(1)``
        Go to the next kernel row. ``load`` wins over ``restart``, ``restart`` over ``next``.
    address : ``Out(POSITION)``
        Scratchpad address of the kernel row's column 0.
    is_inside : ``Out(1)``
        The row is inside the input.
    is_last : ``Out(1)``
        No further kernel row is inside the input, or counts.
    """

    def __init__(self) -> None:
        super().__init__({
            "job": In(JOB),
            "all_kernel_rows": In(1),
            "load": In(1),
            "output_row": In(OUTPUT_ROW),
            "restart": In(1),
            "next": In(1),
            "address": Out(POSITION),
            "is_inside": Out(1),
            "is_last": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the registers, each with its value for the next kernel row."""
        m = Module()
        job = self.job
        first = Signal(OUTPUT_ROW)
        start = Signal(OUTPUT_ROW)
        m.d.comb += start.eq(Mux(self.load, self.output_row, first))
        row = Signal(signed(ROW_BITS))
        kernel_row = Signal(8)
        next_row = Signal(signed(ROW_BITS))
        next_kernel_row = Signal(8)

        with m.If(self.load):
            m.d.sync += first.eq(self.output_row)
        with m.If(self.load | self.restart):
            m.d.comb += [next_row.eq(start.row), next_kernel_row.eq(start.kernel_row)]
            m.d.sync += self.address.eq(start.address)
        with m.Elif(self.next):
            m.d.comb += [
                next_row.eq(row + job.dilation_rows),
                next_kernel_row.eq(kernel_row + 1),
            ]
            m.d.sync += self.address.eq(self.address + job.kernel_row_step)
        with m.If(self.load | self.restart | self.next):
            m.d.sync += [
                row.eq(next_row),
                kernel_row.eq(next_kernel_row),
                self.is_inside.eq((next_row >= 0) & (next_row < job.input_rows)),
                self.is_last.eq(
                    (next_kernel_row + 1 == job.kernel_rows)
                    | (~self.all_kernel_rows & (next_row + job.dilation_rows >= job.input_rows))
                ),
            ]
        return m

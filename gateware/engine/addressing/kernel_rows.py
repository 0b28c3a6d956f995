"""The walk down the kernel rows inside the input, again and again along an output row."""

from amaranth import Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from kiwicha.gateware.engine.addressing.output_rows import ROW_BITS, WINDOW_ROW
from kiwicha.gateware.engine.control.job import JOB, POSITION

__all__ = ["KernelRows"]


class KernelRows(wiring.Component):
    """Current kernel row of a window.

    Members
    -------
    job : ``In(JOB)``
        Stable while it walks.
    visits_all : ``In(1)``
        All kernel rows are walked, those outside the input too; stable like ``job``.
    load : ``In(1)``
        Go to the first kernel row of ``window``: a new output row.
    window : ``In(WINDOW_ROW)``
        Taken with ``load``.
    restart : ``In(1)``
        Go to the first kernel row of the window loaded last.
    next : ``In(1)``
        Go to the next kernel row. ``load`` wins over ``restart``, ``restart`` over ``next``.
    address : ``Out(POSITION)``
        Scratchpad address of the kernel row's column 0.
    is_inside : ``Out(1)``
        The row is inside the input.
    is_last : ``Out(1)``
        No further kernel row is inside the input, or is to be walked.
    """

    def __init__(self) -> None:
        super().__init__({
            "job": In(JOB),
            "visits_all": In(1),
            "load": In(1),
            "window": In(WINDOW_ROW),
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
        first = Signal(WINDOW_ROW)
        start = Signal(WINDOW_ROW)
        m.d.comb += start.eq(Mux(self.load, self.window, first))
        row = Signal(signed(ROW_BITS))
        kernel_row = Signal(8)
        next_row = Signal(signed(ROW_BITS))
        next_kernel_row = Signal(8)

        with m.If(self.load):
            m.d.sync += first.eq(self.window)
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
                    | (~self.visits_all & (next_row + job.dilation_rows >= job.input_rows))
                ),
            ]
        return m

"""Kernel rows inside the input, one after the other, again and again along an output row."""

from amaranth import Cat, Module, Mux, Signal, Value, signed
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
        Stable from two cycles before the first ``load`` on.
    all_kernel_rows : ``In(1)``
        All kernel rows count, those outside the input too; stable like ``job``.
    moves : ``In(1)``
        Go to the next kernel row, or where the following tell.
    load : ``In(1)``
        To the first kernel row of ``output_row``, a new one. Wins over ``restart``.
    output_row : ``In(OUTPUT_ROW)``
        Taken with ``moves`` and ``load``; stable from the cycle before it on.
    restart : ``In(1)``
        To the first kernel row of the output row loaded last.
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
            "moves": In(1),
            "load": In(1),
            "output_row": In(OUTPUT_ROW),
            "restart": In(1),
            "address": Out(POSITION),
            "is_inside": Out(1),
            "is_last": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the registers, and what each of the three moves makes of them.

        Which of them is made is known late, so that all are computed first.
        """
        m = Module()
        job, given = self.job, self.output_row
        first = Signal(OUTPUT_ROW, reset_less=True)
        # The row after the current one, and the number of its kernel row.
        following = Signal(signed(ROW_BITS), reset_less=True)
        following_kernel_row = Signal(8, reset_less=True)
        # The input ends less than a kernel row behind this one.
        last_row = Signal(signed(ROW_BITS), reset_less=True)
        last_kernel_row = Signal(8, reset_less=True)
        m.d.sync += [
            last_row.eq(job.input_rows - job.dilation_rows),
            last_kernel_row.eq(job.kernel_rows - 1),
        ]

        def flags_of(row: Value, kernel_row: Value) -> Value:
            """Return ``is_inside`` and ``is_last`` of a kernel row."""
            is_inside = (row >= 0) & (row < job.input_rows)
            is_last_inside = ~self.all_kernel_rows & (row >= last_row)
            return Cat(is_inside, (kernel_row == last_kernel_row) | is_last_inside)

        given_flags = Signal(2, reset_less=True)
        first_flags = Signal(2, reset_less=True)
        following_flags = flags_of(following, following_kernel_row)
        m.d.sync += given_flags.eq(flags_of(given.row, given.kernel_row))
        with m.If(self.moves & self.load):
            m.d.sync += [first.eq(given), first_flags.eq(given_flags)]

        def chosen(load: Value, restart: Value, following: Value) -> Value:
            """Return what the move that is made gives."""
            return Mux(self.load, load, Mux(self.restart, restart, following))

        row = chosen(given.row, first.row, following)
        kernel_row = chosen(given.kernel_row, first.kernel_row, following_kernel_row)
        address = chosen(given.address, first.address, self.address + job.kernel_row_step)
        with m.If(self.moves):
            m.d.sync += [
                self.address.eq(address),
                following.eq(row + job.dilation_rows),
                following_kernel_row.eq(kernel_row + 1),
                Cat(self.is_inside, self.is_last).eq(
                    chosen(given_flags, first_flags, following_flags)
                ),
            ]
        return m

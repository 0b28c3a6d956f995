"""Order of work in SOFTMAX jobs: three passes over each row."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from kiwicha.contract.engine import MAX_SOFTMAX_DEPTH, JobFlag
from kiwicha.contract.latencies import (
    SOFTMAX_LOGARITHM_CYCLES,
    SOFTMAX_MAXIMUM_CYCLES,
    SOFTMAX_RECIPROCAL_CYCLES,
    SOFTMAX_SCAN_BYTES,
)
from kiwicha.gateware.engine.descriptors import ADDRESS_BITS, JOB
from kiwicha.gateware.engine.softmax.interfaces import SOFTMAX_READ

__all__ = ["RowReader"]


class RowReader(wiring.Component):
    """Reads of a row for its largest byte, then for the sum, then for the outputs; then the next.

    A read per cycle: of `SOFTMAX_SCAN_BYTES`, or less, in the first pass, and of an element in the
    others. The first read of the second pass comes `SOFTMAX_MAXIMUM_CYCLES` behind the last one of
    the first, that of the third `SOFTMAX_RECIPROCAL_CYCLES` behind the second, or with LOGARITHMS
    `SOFTMAX_LOGARITHM_CYCLES`, and rows follow each other without a pause. Latency:
    `SOFTMAX_START_CYCLES` from ``start`` to the first read.

    Members
    -------
    job : ``In(JOB)``
        A SOFTMAX, stable from ``start`` to the last read.
    start : ``In(1)``
        Begin; only while not ``is_reading``.
    is_reading : ``Out(1)``
        From the cycle after ``start`` to that of the last read.
    address : ``Out(ADDRESS_BITS)``
        What is read; unspecified without a read.
    read : ``Out(SOFTMAX_READ)``
        What it is read for.
    """

    def __init__(self) -> None:
        super().__init__({
            "job": In(JOB),
            "start": In(1),
            "is_reading": Out(1),
            "address": Out(ADDRESS_BITS),
            "read": Out(SOFTMAX_READ),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the passes, and the counts of elements and rows."""
        m = Module()
        job, read = self.job, self.read
        depth = job.segment_words[: MAX_SOFTMAX_DEPTH.bit_length()]
        left = Signal(depth.shape())
        rows = Signal(16)
        row = Signal(ADDRESS_BITS)
        pause = Signal(range(SOFTMAX_LOGARITHM_CYCLES))
        is_last_row = Signal()
        ends_row = Signal()
        next_row = Signal(ADDRESS_BITS)
        m.d.comb += [
            read.is_last.eq(left <= Mux(read.scans, SOFTMAX_SCAN_BYTES, 1)),
            read.is_first.eq(left == depth),
            read.counts.eq(Cat(left > k for k in range(SOFTMAX_SCAN_BYTES))),
            is_last_row.eq(rows == 1),
            read.is_end.eq(ends_row & is_last_row),
            ends_row.eq(read.outputs & read.is_last),
            next_row.eq(row + job.row_step[:ADDRESS_BITS]),
        ]
        with m.If((read.scans | read.sums | read.outputs) & ~read.is_last):
            m.d.sync += [
                left.eq(left - Mux(read.scans, SOFTMAX_SCAN_BYTES, 1)),
                self.address.eq(self.address + Mux(read.scans, SOFTMAX_SCAN_BYTES, 1)),
            ]
        with m.Else():
            # Also in pauses, until the next pass begins.
            m.d.sync += [left.eq(depth), self.address.eq(row)]
        with m.If(ends_row):
            m.d.sync += [row.eq(next_row), self.address.eq(next_row), rows.eq(rows - 1)]
        m.d.sync += pause.eq(pause - 1)
        m.d.comb += self.is_reading.eq(1)
        with m.FSM():
            with m.State("IDLE"):
                m.d.comb += self.is_reading.eq(0)
                with m.If(self.start):
                    first = job.first_address[:ADDRESS_BITS]
                    m.d.sync += [row.eq(first), self.address.eq(first), rows.eq(job.output_rows)]
                    m.next = "SCAN"
            with m.State("SCAN"):
                m.d.comb += read.scans.eq(1)
                m.d.sync += pause.eq(SOFTMAX_MAXIMUM_CYCLES - 2)
                with m.If(read.is_last):
                    m.next = "WAIT_MAXIMUM"
            with m.State("WAIT_MAXIMUM"):
                with m.If(pause == 0):
                    m.next = "SUM"
            with m.State("SUM"):
                m.d.comb += read.sums.eq(1)
                has_logarithms = (job.flags & JobFlag.LOGARITHMS).any()
                m.d.sync += pause.eq(
                    Mux(has_logarithms, SOFTMAX_LOGARITHM_CYCLES, SOFTMAX_RECIPROCAL_CYCLES) - 2
                )
                with m.If(read.is_last):
                    m.next = "WAIT_FACTOR"
            with m.State("WAIT_FACTOR"):
                with m.If(pause == 0):
                    m.next = "OUTPUT"
            with m.State("OUTPUT"):
                m.d.comb += read.outputs.eq(1)
                with m.If(read.is_last):
                    m.next = "SCAN"
                    with m.If(is_last_row):
                        m.next = "IDLE"
        return m

"""SOFTMAX jobs: from the descriptor to reads and masked writes of the scratchpad."""

from amaranth import Cat, Const, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from kiwicha.contract.engine import LINE_BYTES, JobFlag
from kiwicha.contract.latencies import (
    SCRATCHPAD_READ_CYCLES,
    SOFTMAX_SCAN_BYTES,
    WEIGHT_READ_CYCLES,
)
from kiwicha.gateware.delay import delayed
from kiwicha.gateware.engine.descriptors import ADDRESS_BITS, JOB
from kiwicha.gateware.engine.moves.move_unit import LINE_WRITE
from kiwicha.gateware.engine.softmax.interfaces import (
    DIFFERENCE_BITS,
    DISTANCE_BITS,
    EXPONENTIAL_BITS,
    FRACTION_BITS,
    SUM_BITS,
)
from kiwicha.gateware.engine.softmax.logarithm_steps import LogarithmSteps
from kiwicha.gateware.engine.softmax.output_bytes import OutputBytes
from kiwicha.gateware.engine.softmax.quotients import Quotients
from kiwicha.gateware.engine.softmax.row_maximum import RowMaximum
from kiwicha.gateware.engine.softmax.row_reader import RowReader

__all__ = ["SoftmaxUnit"]

_LOOKUP_CYCLES = SCRATCHPAD_READ_CYCLES + 1 + WEIGHT_READ_CYCLES
"""From the read of a byte to its exponential."""
_QUOTIENT_CYCLES = 4
"""From there to its quotient."""
_WRITE_CYCLES = 2
"""From there to its write."""


class SoftmaxUnit(wiring.Component):
    """Compute the probabilities of rows of bytes in the scratchpad, or their logarithms.

    Throughput: a row of n bytes takes ``2 * n``, a cycle for each `SOFTMAX_SCAN_BYTES`, or less,
    and what the latencies of `kiwicha.contract.latencies` say. Latency: `SOFTMAX_START_CYCLES` from
    ``start`` to the first read, 12 cycles from the last read to the last write; ``done`` comes
    `SCRATCHPAD_READ_CYCLES` before it.

    Members
    -------
    job : ``In(JOB)``
        A SOFTMAX, stable from ``start`` until the last write.
    start : ``In(1)``
        Begin; only while not ``is_busy``.
    is_busy : ``Out(1)``
        From the cycle after ``start`` to the one before ``done``.
    is_working : ``Out(1)``
        From the first read to the last.
    done : ``Out(1)``
        The last write comes in `SCRATCHPAD_READ_CYCLES` cycles.
    address : ``Out(ADDRESS_BITS)``
        What is read; unspecified while there is no job.
    read_data : ``In(128)``
        What was there `SCRATCHPAD_READ_CYCLES` ago.
    difference : ``Out(DIFFERENCE_BITS)``
        Entry of the table that is read.
    exponential : ``In(EXPONENTIAL_BITS)``
        That of `WEIGHT_READ_CYCLES` ago, ...
    distance : ``In(DISTANCE_BITS)``
        ... and that of the other table.
    writes : ``Out(stream.Signature(LINE_WRITE, always_ready=True))``
        Bytes of a word, as a column.
    """

    def __init__(self) -> None:
        super().__init__({
            "job": In(JOB),
            "start": In(1),
            "is_busy": Out(1),
            "is_working": Out(1),
            "done": Out(1),
            "address": Out(ADDRESS_BITS),
            "read_data": In(8 * LINE_BYTES),
            "difference": Out(DIFFERENCE_BITS),
            "exponential": In(EXPONENTIAL_BITS),
            "distance": In(DISTANCE_BITS),
            "writes": Out(stream.Signature(LINE_WRITE, always_ready=True)),
        })

    def elaborate(self, platform: object) -> Module:
        """Build what follows the reads: the largest byte, the sum, quotients and bytes."""
        m = Module()
        m.submodules.reader = reader = RowReader()
        m.submodules.maximum = maximum = RowMaximum()
        m.submodules.quotients = quotients = Quotients()
        m.submodules.steps = steps = LogarithmSteps()
        m.submodules.bytes = octets = OutputBytes()
        read = reader.read
        flags = Cat(read.sums, read.outputs, read.is_first, read.is_last, read.is_end)
        there = delayed(m, flags, _LOOKUP_CYCLES, "there", is_reset=True)
        sums, outputs, is_first, is_last, is_end = there
        scan = Cat(read.scans, read.is_first, read.counts)
        octet = self.read_data[:DIFFERENCE_BITS]
        m.d.comb += [
            reader.job.eq(self.job),
            reader.start.eq(self.start),
            self.address.eq(reader.address),
            self.is_working.eq(reader.is_reading),
            Cat(maximum.valid, maximum.is_first, maximum.counts).eq(
                delayed(m, scan, SCRATCHPAD_READ_CYCLES, "scan", is_reset=True)
            ),
            maximum.octets.eq(self.read_data[: 8 * SOFTMAX_SCAN_BYTES]),
        ]
        # The largest is 128 more than its byte.
        m.d.sync += self.difference.eq(maximum.maximum - Cat(octet[:-1], ~octet[-1]))

        total = Signal(SUM_BITS)
        term, half = self.exponential[31 - FRACTION_BITS : -1], self.exponential[30 - FRACTION_BITS]
        with m.If(sums):
            # In the lowest bits what is rounded meets 1: a carry into the sum.
            carry, summand = Const(1, 1), Cat(half, term)
            m.d.sync += total.eq((Cat(carry, Mux(is_first, 0, total)) + summand) >> 1)
        quotient = Cat(outputs, outputs & is_last)
        late = _QUOTIENT_CYCLES + _WRITE_CYCLES - SCRATCHPAD_READ_CYCLES
        ends = delayed(m, is_end, late - 1, "ends", is_reset=True)
        m.d.comb += [
            quotients.has_logarithm.eq((self.job.flags & JobFlag.LOGARITHMS).any()),
            quotients.begins.eq(delayed(m, sums & is_last, 1, "begins", is_reset=True)),
            quotients.sum.eq(total),
            quotients.takes.eq(outputs),
            quotients.exponential.eq(self.exponential),
            steps.distance.eq(self.distance),
            steps.logarithm.eq(quotients.quotient),
            octets.steps.eq(steps.steps),
            octets.job.eq(self.job),
            octets.start.eq(self.start),
            Cat(octets.valid, octets.is_last).eq(
                delayed(m, quotient, _QUOTIENT_CYCLES, "quotient", is_reset=True)
            ),
            octets.quotient.eq(quotients.quotient),
            octets.exponent.eq(quotients.exponent),
            self.writes.valid.eq(octets.writes.valid),
            self.writes.payload.eq(octets.writes.payload),
            self.done.eq(delayed(m, ends, 1, "done", is_reset=True)),
        ]
        with m.If(self.start):
            m.d.sync += self.is_busy.eq(1)
        with m.Elif(ends):
            m.d.sync += self.is_busy.eq(0)
        return m

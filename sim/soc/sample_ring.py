"""A ring of samples in DRAM, which a stream of sound is written to."""

from typing import Any

from litex.soc.interconnect.csr import CSRField, CSRStatus, CSRStorage
from migen import If, Signal, log2_int

from kiwicha.contract.cfu import DRAM_BASE
from kiwicha.contract.engine import LINE_BYTES
from kiwicha.sim.soc.line_writer import COUNT_BITS, LineWriter

__all__ = ["LINE_SAMPLES", "SampleRing"]

SAMPLE_BITS = 16
LINE_SAMPLES = 8 * LINE_BYTES // SAMPLE_BITS
_FIFO_LINES = 2
"""Between samples and memory: lines come thousands of cycles apart."""
_ADDRESS_BITS = 32
_LINE_SHIFT = log2_int(LINE_BYTES)


class SampleRing(LineWriter):
    """Samples, written to a ring of lines in DRAM, one behind the other.

    Sample n lies at n modulo the size of the ring, from the first one after it was enabled on.
    Writing never stops: when software has not read a sample that the next line takes the place of,
    ``overrun`` says so, before the line is written.

    Parameters
    ----------
    port : LiteDRAMNativePort
        Of 16 bytes, to write.

    Members
    -------
    sample : Signal(16)
        In.
    is_sample : Signal
        In. High for a cycle in which `sample` is one; at most every 8th cycle.
    is_taking : Signal
        Out. Sound is enabled. When it goes low, samples that do not fill a line are dropped.
    """

    def __init__(self, *, port: Any) -> None:
        self.sample, self.is_sample = Signal(SAMPLE_BITS), Signal()
        self._add_dma(port, _FIFO_LINES)
        self._control = CSRStorage(fields=[CSRField("enable", description="Sound is written.")])
        self._place = CSRStorage(_ADDRESS_BITS, description="The ring; a multiple of 16, in DRAM.")
        self._size = CSRStorage(COUNT_BITS, description="Its samples; a power of two, 16 or more.")
        self._written = CSRStatus(32, description="Samples in DRAM since sound is enabled.")
        self._read = CSRStorage(32, description="Samples that software has read, of all of them.")
        self._overrun = CSRStatus(
            fields=[
                CSRField("overwritten", description="A sample was overwritten before it was read."),
                CSRField("lost", description="DRAM was too slow for a sample."),
            ]
        )
        self._clear = CSRStorage(1, description="Writing clears overrun.")
        self.comb += self.lines.source.connect(self.dma.sink)
        is_idle = Signal()
        self._collect(self.sample, self.is_sample, is_idle)
        self.comb += is_idle.eq(~self.is_taking)
        self._advance(port)

    def _advance(self, port: Any) -> None:
        """Say where lines go, how many are there, and whether they were read in time."""
        under_way, is_out = self._count_lines(port)
        ring_lines, line = Signal(COUNT_BITS), Signal(COUNT_BITS)
        # Samples up to the end of the line that is taken next.
        end, unread = Signal(32, reset=LINE_SAMPLES), Signal(32)
        is_taken, is_ending, is_overwriting = Signal(), Signal(), Signal()
        enable, first = self._control.fields.enable, Signal(COUNT_BITS)
        overrun = self._overrun.fields
        self.comb += [
            ring_lines.eq(self._size.storage[log2_int(LINE_SAMPLES) :]),
            first.eq((self._place.storage - DRAM_BASE) >> _LINE_SHIFT),
            is_taken.eq(self.line_is_full & self.lines.sink.ready),
            unread.eq(end - self._read.storage),
            is_overwriting.eq(is_taken & (unread > self._size.storage)),
        ]
        self.sync += [
            If(
                is_taken,
                end.eq(end + LINE_SAMPLES),
                line.eq(line + 1),
                If(line == ring_lines - 1, line.eq(0), self.at.eq(first)),
            ),
            If(is_out, self._written.status.eq(self._written.status + LINE_SAMPLES)),
            If(self._clear.re, overrun.overwritten.eq(0), overrun.lost.eq(0)),
            If(is_overwriting, overrun.overwritten.eq(1)),
            If(self.is_lost, overrun.lost.eq(1)),
            # What is under way when it ends counts for nothing that begins.
            If(self.is_taking, self.is_taking.eq(enable), is_ending.eq(~enable))
            .Elif(
                is_ending,
                is_ending.eq(self.line_is_full | (under_way != 0)),
            )
            .Else(
                self.is_taking.eq(enable),
                end.eq(LINE_SAMPLES),
                line.eq(0),
                self.at.eq(first),
                self._written.status.eq(0),
            ),
        ]

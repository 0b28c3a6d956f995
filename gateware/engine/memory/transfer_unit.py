"""Bytes between DRAM and the scratchpad."""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from kiwicha.contract.engine import LINE_BYTES
from kiwicha.contract.latencies import LINE_READ_CYCLES
from kiwicha.gateware.engine.descriptors import LINE_BITS
from kiwicha.gateware.engine.memory.interfaces import (
    RANGE_REQUEST,
    READ_BEAT,
    TRANSFER_STEP,
    ConversionSignature,
    LinePortSignature,
    StoreSignature,
)

__all__ = ["TransferUnit"]


class TransferUnit(wiring.Component):
    """Execute transfers, one after the other, each when enough jobs are complete.

    A load is complete when its last line is in the scratchpad, a store when the port of DRAM has
    accepted its last word. What lies in the first line and the last one beside the transfer stays
    as it is, on either side.

    Throughput: a line per cycle. What has to be converted goes at the converter's pace.

    Members
    -------
    transfers : ``In(stream.Signature(TRANSFER_STEP))``
        Transfers in order; taken when complete.
    jobs_done : ``In(16)``
        Jobs that are complete.
    requests : ``Out(stream.Signature(RANGE_REQUEST))``
        Range of DRAM, which goes to the reader, or for a write to the writer.
    loaded : ``In(stream.Signature(READ_BEAT))``
        From the reader.
    store : ``Out(StoreSignature())``
        To the writer.
    lines : ``Out(LinePortSignature())``
        To the scratchpad.
    conversion : ``Out(ConversionSignature())``
        To the converter.
    done : ``Out(1)``
        A transfer is complete.

    Attributes
    ----------
    line, lines_left : Signal
        The next line, and the lines from there on.
    is_first : Signal
        The next line is the first one.
    fsm : FSM
        What is being done.
    """

    def __init__(self) -> None:
        super().__init__({
            "transfers": In(stream.Signature(TRANSFER_STEP)),
            "jobs_done": In(16),
            "requests": Out(stream.Signature(RANGE_REQUEST)),
            "loaded": In(stream.Signature(READ_BEAT)),
            "store": Out(StoreSignature()),
            "lines": Out(LinePortSignature()),
            "conversion": Out(ConversionSignature()),
            "done": Out(1),
        })
        self.line = Signal(LINE_BITS)
        self.lines_left = Signal(TRANSFER_STEP.members["lines"])
        self.is_first = Signal()

    def elaborate(self, platform: object) -> Module:
        """Build the count of lines."""
        m = Module()
        step = self.transfers.payload
        access = self.lines.accesses.payload
        line, lines_left = self.line, self.lines_left
        conversion = self.conversion
        takes = Signal()
        is_last = Signal()
        converts = Signal()
        mask = Signal(LINE_BYTES)
        is_behind = Cat((step.last_bytes <= k) & (step.last_bytes != 0) for k in range(LINE_BYTES))
        is_before = Cat(step.first_byte > k for k in range(LINE_BYTES))
        m.d.comb += [
            takes.eq(self.lines.accesses.valid & self.lines.accesses.ready),
            is_last.eq(lines_left == 1),
            mask.eq(~(Mux(is_last, is_behind, 0) | Mux(self.is_first, is_before, 0))),
            access.line.eq(line),
            access.mask.eq(Mux(converts, _bytes_of(conversion.mask), mask)),
            access.data.eq(self.loaded.payload.data),
            access.is_write.eq(~step.is_store),
            self.requests.payload.offset.eq(step.offset),
            self.requests.payload.words.eq(step.lines),
            self.requests.payload.is_program.eq(step.is_program),
            self.requests.payload.is_write.eq(step.is_store),
            self.transfers.ready.eq(self.done),
            converts.eq(step.is_float | step.is_table),
        ]
        with m.If(takes & (~converts | conversion.ends_line)):
            m.d.sync += [line.eq(line + 1), self.is_first.eq(0)]
        with m.If(Mux(converts, conversion.is_active & conversion.ends_beat, takes)):
            m.d.sync += lines_left.eq(lines_left - 1)
        self._convert(m, is_last)
        self._store(m, takes & step.is_store & ~converts, mask)
        with m.FSM() as self.fsm:
            with m.State("WAIT"):
                m.d.sync += [
                    line.eq(step.line),
                    lines_left.eq(step.lines),
                    self.is_first.eq(1),
                ]
                with m.If(self.transfers.valid & (self.jobs_done >= step.wait_jobs)):
                    m.next = "REQUEST"
            with m.State("REQUEST"):
                m.d.comb += self.requests.valid.eq(1)
                with m.If(self.requests.ready):
                    self._begin(m, converts)
            with m.State("LOAD"):
                m.d.comb += [
                    self.lines.accesses.valid.eq(self.loaded.valid),
                    self.loaded.ready.eq(self.lines.accesses.ready),
                ]
                with m.If(takes & is_last):
                    m.next = "DONE"
            with m.State("STORE"):
                m.d.comb += self.lines.accesses.valid.eq(self.store.has_room)
                with m.If(takes & is_last):
                    m.next = "WRITE"
            with m.State("CONVERT"):
                m.d.comb += [
                    conversion.is_active.eq(1),
                    self.lines.accesses.valid.eq(conversion.accesses),
                    self.loaded.ready.eq(conversion.takes_beat),
                ]
                with m.If(conversion.ends_beat & is_last):
                    m.next = "DONE"
                    with m.If(step.is_store):
                        m.next = "WRITE"
            with m.State("WRITE"):
                with m.If(self.store.is_idle):
                    m.next = "DONE"
            with m.State("DONE"):
                m.d.comb += self.done.eq(1)
                m.next = "WAIT"
        return m

    def _begin(self, m: Module, converts: Signal) -> None:
        """Go on to the state in which a transfer moves."""
        m.next = "LOAD"
        with m.If(self.transfers.payload.is_store):
            m.next = "STORE"
        with m.If(converts):
            m.next = "CONVERT"

    def _convert(self, m: Module, is_last: Signal) -> None:
        """Tell the converter what it has to know."""
        conversion, step = self.conversion, self.transfers.payload
        had_beat = Signal()
        m.d.sync += had_beat.eq(self.loaded.valid & ~self.loaded.ready)
        m.d.comb += [
            conversion.is_store.eq(step.is_store),
            conversion.is_table.eq(step.is_table),
            conversion.has_beat.eq(had_beat & self.loaded.valid),
            conversion.has_room.eq(self.store.has_room),
            conversion.is_last.eq(is_last),
            conversion.accepts.eq(self.lines.accesses.ready),
        ]

    def _store(self, m: Module, reads: Signal, mask: Signal) -> None:
        """Pass on what comes from the scratchpad, with the mask that was right when it was read."""
        for stage in range(1, LINE_READ_CYCLES + 1):
            reads_next = Signal(name=f"reads_s{stage}")
            mask_next = Signal(LINE_BYTES, name=f"mask_s{stage}", reset_less=True)
            m.d.sync += [reads_next.eq(reads), mask_next.eq(mask)]
            reads, mask = reads_next, mask_next
        m.d.comb += [
            self.store.beats.valid.eq(reads | self.conversion.gives_beat),
            self.store.beats.payload.data.eq(self.lines.read_data),
            self.store.beats.payload.mask.eq(mask),
        ]


def _bytes_of(words: Value) -> Value:
    """Return the mask of bytes from one of words."""
    return Cat(word.replicate(LINE_BYTES // len(words)) for word in words)

"""Reads of a depthwise job's input rows, each once for each group."""

from amaranth import Cat, Module, Mux, Signal, Value, signed
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from kiwicha.contract.depthwise import LINE_COLUMNS, LINE_SLOTS, PAIR_CHANNELS
from kiwicha.contract.latencies import SCRATCHPAD_READ_CYCLES
from kiwicha.gateware.delay import delayed
from kiwicha.gateware.engine.array.interfaces import OPERAND_BITS
from kiwicha.gateware.engine.depthwise.interfaces import (
    COLUMN_BITS,
    LINE_NUMBER_BITS,
    is_dense,
)
from kiwicha.gateware.engine.descriptors import ADDRESS_BITS, JOB

__all__ = ["LineFetcher"]

_LINE = data.StructLayout({
    "number": LINE_NUMBER_BITS,
    "row": signed(17),
    "rows_left": 16,
    "groups_left": 16,
    "is_last": 1,
    "reads": COLUMN_BITS + 1,
    "step": ADDRESS_BITS,
    "column": COLUMN_BITS,
    "address": ADDRESS_BITS,
    "row_address": ADDRESS_BITS,
    "pair_address": ADDRESS_BITS,
    "row_wait": 16,
    "group_wait": 16,
})
"""A row that is read: its number and that of the input's row, what is left, whether its pair of
groups is the last one, how many reads a row takes and what is between them, addresses of a pixel,
the row and the next pair; what the array must have written, for it and for the next group."""


class LineFetcher(wiring.Component):
    """Bring the rows that windows read into the line buffer, a pair of groups after the other.

    Rows are numbered from 0 through all pairs of a job: each has ``first_index`` of them, from
    ``first_row`` on. Those outside the input are not read, but have a number, too. A row waits
    until its slot is free, which is when row number ``number - LINE_SLOTS`` is older than
    ``oldest``, and until the array has written what the job says for the pair's last group.

    Where pixels of a single group lie behind each other, a read brings two of them: they come where
    otherwise both groups of a pixel do.

    Latency: 3 cycles from ``start`` to the first read; `SCRATCHPAD_READ_CYCLES` + 1 from a read to
    its write. Throughput: a pixel for each read that is granted, and 2 cycles from row to row.

    Members
    -------
    job : ``In(JOB)``
        Stable from ``start`` until the job's last row is read.
    start : ``In(1)``
        Begin a job; only while not ``is_busy``.
    is_busy : ``Out(1)``
        Rows are still to be read.
    rows_done : ``In(16)``
        Rows that the array has written.
    oldest : ``In(LINE_NUMBER_BITS)``
        Number of the oldest row that is still needed.
    reads : ``Out(stream.Signature(ADDRESS_BITS))``
        Address of a pixel's channels: those of a pair.
    read_data : ``In(128)``
        What is there, `SCRATCHPAD_READ_CYCLES` after a read was taken.
    write, slot, column, pixel
        To the line buffer: less the input's zero point.
    fetched : ``Out(LINE_NUMBER_BITS)``
        Rows that are complete.
    """

    def __init__(self) -> None:
        super().__init__({
            "job": In(JOB),
            "start": In(1),
            "is_busy": Out(1),
            "rows_done": In(16),
            "oldest": In(LINE_NUMBER_BITS),
            "reads": Out(stream.Signature(ADDRESS_BITS)),
            "read_data": In(8 * PAIR_CHANNELS),
            "write": Out(1),
            "slot": Out(range(LINE_SLOTS)),
            "column": Out(range(LINE_COLUMNS)),
            "pixel": Out(data.ArrayLayout(signed(OPERAND_BITS), PAIR_CHANNELS)),
            "fetched": Out(LINE_NUMBER_BITS),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the loops over pairs, rows and columns, and the way of what is read."""
        m = Module()
        job = self.job
        # What the start sets, or the state says when it counts, needs no reset.
        now = Signal(_LINE, reset_less=True)
        is_outside, is_written, has_room = (
            Signal(name=name, reset_less=True) for name in ("is_outside", "is_written", "has_room")
        )
        takes = Signal()
        completes = Signal()
        # Negative while there is room. Strides can leave rows out: `oldest` may be ahead.
        room = (now.number - self.oldest - LINE_SLOTS)[:LINE_NUMBER_BITS]
        written = (self.rows_done - now.row_wait)[:16]
        m.d.comb += [
            self.is_busy.eq(1),
            takes.eq(self.reads.valid & self.reads.ready),
            self.reads.payload.eq(now.address),
        ]
        with m.FSM():
            with m.State("IDLE"):
                m.d.comb += self.is_busy.eq(0)
                m.d.sync += [
                    now.groups_left.eq(job.groups),
                    now.pair_address.eq(job.first_address),
                    now.group_wait.eq(job.wait_rows),
                ]
                with m.If(self.start):
                    m.d.sync += now.number.eq(0)
                    m.next = "PAIR"
            with m.State("PAIR"):
                m.d.sync += [
                    now.row.eq(job.first_row),
                    now.rows_left.eq(job.first_index),
                    now.row_address.eq(now.pair_address),
                    now.pair_address.eq(now.pair_address + PAIR_CHANNELS),
                    now.groups_left.eq(now.groups_left - 2),
                    now.is_last.eq(now.groups_left <= 2),
                    now.reads.eq(Mux(is_dense(job), (job.row_words + 1) >> 1, job.row_words)),
                    now.step.eq(Mux(is_dense(job), PAIR_CHANNELS, job.column_step)),
                ]
                # What waits by groups waits for the second one, if there is one.
                with m.If((now.groups_left != 1) & ~job.waits_in_pairs[0]):
                    m.d.sync += now.group_wait.eq(now.group_wait + job.wait_group_step)
                m.next = "WAIT"
            with m.State("WAIT"):
                m.d.sync += [
                    now.row_wait.eq(now.group_wait),
                    now.group_wait.eq(now.group_wait + job.wait_group_step),
                ]
                m.next = "LOOK"
            with m.State("LOOK"):
                m.d.sync += [
                    is_outside.eq((now.row < 0) | (now.row >= job.input_rows)),
                    has_room.eq(room[-1]),
                    is_written.eq(~written[-1]),
                    now.address.eq(now.row_address),
                    now.column.eq(0),
                ]
                m.next = "BEGIN"
            with m.State("BEGIN"):
                # Rows that are still needed only become fewer: what was free stays free.
                m.d.sync += [has_room.eq(room[-1]), is_written.eq(~written[-1])]
                with m.If(has_room & is_outside):
                    m.next = "NEXT"
                with m.Elif(has_room & is_written):
                    m.d.sync += [
                        self.reads.valid.eq(1),
                        now.row_wait.eq(now.row_wait + job.wait_row_step[0]),
                    ]
                    m.next = "READ"
            with m.State("READ"):
                with m.If(takes):
                    m.d.sync += [
                        now.address.eq(now.address + now.step),
                        now.column.eq(now.column + 1),
                    ]
                    with m.If(now.column + 1 == now.reads):
                        m.d.sync += self.reads.valid.eq(0)
                        m.next = "NEXT"
            with m.State("NEXT"):
                m.d.comb += completes.eq(1)
                m.d.sync += [
                    now.number.eq(now.number + 1),
                    now.row.eq(now.row + 1),
                    now.row_address.eq(now.row_address + job.kernel_row_step),
                    now.rows_left.eq(now.rows_left - 1),
                ]
                m.next = "LOOK"
                with m.If(now.rows_left == 1):
                    m.next = "PAIR"
                    with m.If(now.is_last):
                        m.next = "IDLE"

        self._bring(m, Cat(now.number[: len(self.slot)], now.column), takes, completes)
        return m

    def _bring(self, m: Module, place: Value, takes: Signal, completes: Signal) -> None:
        """Build the way of what is read; a row counts when its last pixel can be read."""
        late_takes = delayed(m, takes, SCRATCHPAD_READ_CYCLES, "takes", is_reset=True)
        written = Signal(len(place), reset_less=True)
        m.d.sync += [
            self.write.eq(late_takes),
            written.eq(delayed(m, place, SCRATCHPAD_READ_CYCLES, "place")),
        ]
        m.d.comb += Cat(self.slot, self.column).eq(written)
        for channel in range(PAIR_CHANNELS):
            octet = self.read_data.word_select(channel, 8).as_signed()
            reduced = Signal(signed(OPERAND_BITS), name=f"pixel_{channel}", reset_less=True)
            m.d.sync += reduced.eq(octet - self.job.input_zero_point)
            m.d.comb += self.pixel[channel].eq(reduced)
        late_completes = delayed(m, completes, SCRATCHPAD_READ_CYCLES, "completes", is_reset=True)
        fetched = Signal(LINE_NUMBER_BITS, reset_less=True)
        m.d.comb += self.fetched.eq(fetched)
        with m.If(self.start):
            m.d.sync += fetched.eq(0)
        with m.Elif(late_completes):
            m.d.sync += fetched.eq(fetched + 1)

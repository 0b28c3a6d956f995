"""Order of work in element-wise jobs: the bytes of one tensor, or of two by turns."""

from amaranth import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from kiwicha.gateware.engine.job import JOB, OPERATION, POSITION
from kiwicha.gateware.engine.pace import Pace
from kiwicha.isa_engine import READ_BYTES, JobKind

__all__ = ["TableWalker"]


class TableWalker(wiring.Component):
    """The operations of an ADD or TABLE job.

    For each result the bytes of the first tensor, and for ADD those of the second, with ``shift``.

    Latency: 2 cycles from ``start`` to the first operation. Throughput: one operation per cycle
    without a gap, save that results are at least ``interval`` cycles apart.

    Members
    -------
    job, start, is_free, operations, is_held, done
        As those of `ConvWalker`.
    """

    def __init__(self) -> None:
        super().__init__({
            "job": In(JOB),
            "start": In(1),
            "is_free": Out(1),
            "operations": Out(stream.Signature(OPERATION, always_ready=True)),
            "is_held": Out(1),
            "done": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the loop."""
        m = Module()
        job, operation = self.job, self.operations.payload
        m.submodules.pace = pace = Pace()
        is_walking, is_second, ends = Signal(), Signal(), Signal()
        results_left = Signal(16)
        offset = Signal(POSITION)
        m.d.comb += [
            self.is_free.eq(~is_walking),
            ends.eq(is_second | (job.kind == JobKind.TABLE)),
            pace.interval.eq(job.interval),
            pace.wants.eq(is_walking),
            pace.ends.eq(ends),
            self.is_held.eq(pace.is_held),
        ]
        with m.If(self.start):
            m.d.sync += [
                is_walking.eq(1),
                is_second.eq(0),
                results_left.eq(job.run_words),
                offset.eq(0),
            ]
        with m.Elif(pace.issues):
            m.d.sync += is_second.eq(~ends)
            with m.If(ends):
                m.d.sync += [
                    offset.eq(offset + job.column_step),
                    results_left.eq(results_left - 1),
                    is_walking.eq(results_left != 1),
                ]
        m.d.sync += [
            self.operations.valid.eq(pace.issues),
            self.done.eq(pace.issues & ends & (results_left == 1)),
            operation.address.eq(Mux(is_second, job.input_2_address, job.first_address) + offset),
            operation.shift.eq(is_second),
            operation.last.eq(ends),
            operation.high.eq(READ_BYTES),
        ]
        return m

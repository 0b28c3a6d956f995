"""Order of work in element-wise jobs: the bytes of one tensor, or of two by turns."""

from amaranth import Module, Mux, Signal
from amaranth.lib import wiring

from kiwicha.contract.engine import READ_BYTES, JobFlag, JobKind
from kiwicha.gateware.engine.addressing.interfaces import POSITION, AddressGeneratorSignature
from kiwicha.gateware.engine.addressing.result_throttle import ResultThrottle

__all__ = ["ElementwiseAddressGenerator"]


class ElementwiseAddressGenerator(wiring.Component):
    """The operations of the groups of an ADD, TABLE or MUL job.

    For each result the bytes of the first tensor, and but for TABLE those of the second, with
    ``shift``. All have ``first``: products stand alone.

    Latency: 2 cycles from ``start`` to the first operation. Throughput: one operation per cycle
    without a gap, save that results are at least ``interval`` cycles apart, of squares as a
    `ResultThrottle` says. The next group can be begun one cycle after the last operation.

    Members
    -------
    See `AddressGeneratorSignature`.
    """

    def __init__(self) -> None:
        super().__init__(AddressGeneratorSignature().flip())

    def elaborate(self, platform: object) -> Module:
        """Build the loop."""
        m = Module()
        job, operation = self.job, self.operations.payload
        m.submodules.throttle = throttle = ResultThrottle()
        is_active = Signal()
        is_second = Signal()
        ends = Signal()
        # All that the start sets need no reset.
        results_left = Signal(16, reset_less=True)
        # Of the group, and of the bytes that the first tensor gives; where the second one's are.
        first_offset = Signal(16, reset_less=True)
        offset = Signal(POSITION, reset_less=True)
        offset_2 = Signal(POSITION)
        has_one_pixel = (job.flags & JobFlag.CHANNELS).any()
        m.d.comb += [
            offset_2.eq(Mux(has_one_pixel, first_offset, offset)),
            self.is_free.eq(~is_active),
            ends.eq(is_second | (job.kind == JobKind.TABLE)),
            throttle.interval.eq(job.interval),
            throttle.yields.eq(self.yields),
            throttle.pauses.eq(self.pauses),
            throttle.is_square.eq((job.flags & JobFlag.SQUARE).any()),
            throttle.wants.eq(is_active),
            throttle.ends.eq(ends),
            self.is_held.eq(throttle.is_held),
        ]
        with m.If(self.start):
            m.d.sync += [
                is_active.eq(1),
                is_second.eq(0),
                results_left.eq(job.segment_words),
                first_offset.eq(self.group_offset),
                offset.eq(self.group_offset),
            ]
        with m.Elif(throttle.issues):
            m.d.sync += is_second.eq(~ends)
            with m.If(ends):
                m.d.sync += [
                    offset.eq(offset + job.column_step),
                    results_left.eq(results_left - 1),
                    is_active.eq(results_left != 1),
                ]
        m.d.sync += [
            self.operations.valid.eq(throttle.issues),
            self.done.eq(throttle.issues & ends & (results_left == 1)),
            operation.address.eq(
                Mux(is_second, job.input_2_address, job.first_address)
                + Mux(is_second, offset_2, offset)
            ),
            operation.first.eq(1),
            operation.shift.eq(is_second),
            operation.last.eq(ends),
            operation.high.eq(READ_BYTES),
        ]
        return m

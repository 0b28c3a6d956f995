"""Units that bring bytes of the scratchpad to bytes there without the array."""

from amaranth import Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from kiwicha.contract.engine import LINE_BYTES, JobKind
from kiwicha.gateware.engine.descriptors import ADDRESS_BITS, JOB
from kiwicha.gateware.engine.moves.move_unit import LINE_WRITE, MoveUnit
from kiwicha.gateware.engine.softmax.interfaces import (
    DIFFERENCE_BITS,
    DISTANCE_BITS,
    EXPONENTIAL_BITS,
)
from kiwicha.gateware.engine.softmax.softmax_unit import SoftmaxUnit

__all__ = ["ByteUnits"]


class ByteUnits(wiring.Component):
    """The `MoveUnit`, and where there is one the `SoftmaxUnit`; each job has that of its kind.

    Parameters
    ----------
    has_softmax : bool
        There are SOFTMAX jobs.

    Members
    -------
    job : ``In(JOB)``
        Stable from one cycle before ``start`` until the last write.
    start : ``In(1)``
        Begin, if the job is for a unit; only with ``is_free``.
    is_free : ``Out(1)``
        The job is for a unit that can begin.
    is_working, done, address, read_data, writes
        As those of the units.
    ends_table : ``Out(1)``
        Only with ``has_softmax``: the table is no longer read.
    reads_table : ``Out(1)``
        Only with ``has_softmax``: the job is one that reads it.
    difference : ``Out(DIFFERENCE_BITS)``
    exponential : ``In(EXPONENTIAL_BITS)``
    distance : ``In(DISTANCE_BITS)``
        Only with ``has_softmax``: as those of the `SoftmaxUnit`.
    """

    def __init__(self, *, has_softmax: bool) -> None:
        self.has_softmax = has_softmax
        table = {
            "ends_table": Out(1),
            "reads_table": Out(1),
            "difference": Out(DIFFERENCE_BITS),
            "exponential": In(EXPONENTIAL_BITS),
            "distance": In(DISTANCE_BITS),
        }
        super().__init__({
            "job": In(JOB),
            "start": In(1),
            "is_free": Out(1),
            "is_working": Out(1),
            "done": Out(1),
            "address": Out(ADDRESS_BITS),
            "read_data": In(8 * LINE_BYTES),
            "writes": Out(stream.Signature(LINE_WRITE, always_ready=True)),
            **(table if has_softmax else {}),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the units, and the choice of what they give."""
        m = Module()
        m.submodules.moves = moves = MoveUnit()
        m.d.comb += [
            moves.job.eq(self.job),
            moves.start.eq(self.start & self._is_move),
            moves.read_data.eq(self.read_data),
        ]
        if not self.has_softmax:
            m.d.comb += [
                self.is_free.eq(self._is_move & ~moves.is_busy),
                self.is_working.eq(moves.is_working),
                self.done.eq(moves.done),
                self.address.eq(moves.address),
                self.writes.valid.eq(moves.writes.valid),
                self.writes.payload.eq(moves.writes.payload),
            ]
            return m
        m.submodules.softmax = softmax = SoftmaxUnit()
        is_softmax = self.job.kind == JobKind.SOFTMAX
        is_softmax_s1 = Signal()
        m.d.sync += is_softmax_s1.eq(is_softmax)
        m.d.comb += [
            softmax.job.eq(self.job),
            softmax.start.eq(self.start & is_softmax),
            softmax.read_data.eq(self.read_data),
            softmax.exponential.eq(self.exponential),
            softmax.distance.eq(self.distance),
            self.is_free.eq((self._is_move & ~moves.is_busy) | (is_softmax & ~softmax.is_busy)),
            self.is_working.eq(moves.is_working | softmax.is_working),
            self.done.eq(moves.done | softmax.done),
            self.ends_table.eq(softmax.done),
            self.reads_table.eq(is_softmax_s1),
            self.difference.eq(softmax.difference),
            self.address.eq(Mux(is_softmax_s1, softmax.address, moves.address)),
            self.writes.valid.eq(moves.writes.valid | softmax.writes.valid),
            self.writes.payload.eq(
                Mux(is_softmax_s1, softmax.writes.payload.as_value(), moves.writes.payload)
            ),
        ]
        return m

    @property
    def _is_move(self) -> Value:
        """Whether the job is one that moves bytes."""
        return self.job.kind == JobKind.MOVE

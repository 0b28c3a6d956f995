"""Units that bring bytes of the scratchpad to bytes there without the array."""

from collections.abc import Iterator

from amaranth import Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from kiwicha.contract.engine import LINE_BYTES, JobKind
from kiwicha.gateware.engine.descriptors import ADDRESS_BITS, JOB
from kiwicha.gateware.engine.moves.move_unit import LINE_WRITE, MoveUnit
from kiwicha.gateware.engine.recurrent.recurrent_unit import RecurrentUnit
from kiwicha.gateware.engine.softmax.interfaces import (
    DIFFERENCE_BITS,
    DISTANCE_BITS,
    EXPONENTIAL_BITS,
)
from kiwicha.gateware.engine.softmax.softmax_unit import SoftmaxUnit

__all__ = ["ByteUnits"]


class ByteUnits(wiring.Component):
    """The `MoveUnit`, and where there are such the `SoftmaxUnit` and the `RecurrentUnit`.

    Each job has that of its kind.

    Parameters
    ----------
    has_softmax : bool
        There are SOFTMAX jobs.
    has_recurrent : bool
        There are RECURRENT jobs.

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

    def __init__(self, *, has_softmax: bool, has_recurrent: bool = False) -> None:
        self.has_softmax = has_softmax
        self.has_recurrent = has_recurrent
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
        is_free: Value = self._is_move & ~moves.is_busy
        is_working: Value = moves.is_working
        done: Value = moves.done
        address: Value = moves.address
        valid: Value = moves.writes.valid
        payload: Value = moves.writes.payload.as_value()
        for kind, unit in self._others(m):
            is_chosen = self.job.kind == kind
            is_chosen_s1 = Signal(name=f"is_{kind.name.lower()}_s1")
            m.d.sync += is_chosen_s1.eq(is_chosen)
            m.d.comb += [
                unit.job.eq(self.job),
                unit.start.eq(self.start & is_chosen),
                unit.read_data.eq(self.read_data),
            ]
            is_free |= is_chosen & ~unit.is_busy
            is_working |= unit.is_working
            done |= unit.done
            address = Mux(is_chosen_s1, unit.address, address)
            valid |= unit.writes.valid
            payload = Mux(is_chosen_s1, unit.writes.payload.as_value(), payload)
            if isinstance(unit, SoftmaxUnit):
                self._connect_table(m, unit, is_chosen_s1)
        m.d.comb += [
            self.is_free.eq(is_free),
            self.is_working.eq(is_working),
            self.done.eq(done),
            self.address.eq(address),
            self.writes.valid.eq(valid),
            self.writes.payload.eq(payload),
        ]
        return m

    def _others(self, m: Module) -> Iterator[tuple[JobKind, SoftmaxUnit | RecurrentUnit]]:
        """Build the units of other jobs than moves; yield their kinds and the units."""
        if self.has_softmax:
            m.submodules.softmax = softmax = SoftmaxUnit()
            yield JobKind.SOFTMAX, softmax
        if self.has_recurrent:
            m.submodules.recurrent = recurrent = RecurrentUnit()
            yield JobKind.RECURRENT, recurrent

    def _connect_table(self, m: Module, softmax: SoftmaxUnit, is_softmax: Signal) -> None:
        """Connect what reads tables, while there is a job that does."""
        m.d.comb += [
            softmax.exponential.eq(self.exponential),
            softmax.distance.eq(self.distance),
            self.ends_table.eq(softmax.done),
            self.reads_table.eq(is_softmax),
            self.difference.eq(softmax.difference),
        ]

    @property
    def _is_move(self) -> Value:
        """Whether the job is one that moves bytes."""
        return self.job.kind == JobKind.MOVE

"""A job's groups, one after the other, each when its weights are there."""

from amaranth import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from kiwicha.contract.engine import JobKind
from kiwicha.contract.latencies import MOVE_DRAIN_CYCLES
from kiwicha.gateware.engine.descriptors import JOB

__all__ = ["GroupController"]


class GroupController(wiring.Component):
    """Begin each group of a job, ahead of the end of the last, then wait for the last results.

    The first group begins in the cycle after ``start``, if its weights are there.

    Parameters
    ----------
    drain_cycles : int
        From the last operation to ``done``: see `drain_cycles`. MOVE, SOFTMAX,
        RECURRENT and SHORT_ELEMENTS: `MOVE_DRAIN_CYCLES`.
    has_softmax : bool
        There are SOFTMAX jobs.
    has_recurrent : bool
        There are RECURRENT jobs.
    has_elements : bool
        There are SHORT_ELEMENTS jobs.

    Members
    -------
    job : ``In(JOB)``
        Stable from ``start`` to ``done``.
    start, is_busy, done
        As in `DatapathSignature`.
    has_weights : ``In(1)``
        The weights of the next group are there.
    waits_weights : ``Out(1)``
        They are not, and nothing else is left to do.
    is_free : ``In(1)``
        The address generator can begin a group.
    begins_group : ``Out(1)``
        It does, in this cycle. Combinational.
    is_first : ``Out(1)``
        It is the job's first one.
    input_offset : ``Out(16)``
        Of the first byte of that group.
    group_ends : ``In(1)``
        The last operation of a group is issued.
    is_last : ``Out(1)``
        The operations are those of the last group.
    holds : ``In(1)``
        The job cannot be done yet.
    """

    def __init__(
        self,
        *,
        drain_cycles: int,
        has_softmax: bool = False,
        has_recurrent: bool = False,
        has_elements: bool = False,
    ) -> None:
        self.drain_cycles = drain_cycles
        self.has_softmax = has_softmax
        self.has_recurrent = has_recurrent
        self.has_elements = has_elements
        super().__init__({
            "job": In(JOB),
            "start": In(1),
            "is_busy": Out(1),
            "done": Out(1),
            "has_weights": In(1),
            "waits_weights": Out(1),
            "is_free": In(1),
            "begins_group": Out(1),
            "is_first": Out(1),
            "input_offset": Out(16),
            "group_ends": In(1),
            "is_last": Out(1),
            "holds": In(1),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the counts of groups to begin and to end."""
        m = Module()
        job = self.job
        to_begin = Signal(16)
        to_end = Signal(16)
        wants = Signal()
        cycles = Signal(range(self.drain_cycles + 1))
        has_unit = job.kind == JobKind.MOVE
        if self.has_softmax:
            has_unit |= job.kind == JobKind.SOFTMAX
        if self.has_recurrent:
            has_unit |= job.kind == JobKind.RECURRENT
        if self.has_elements:
            has_unit |= job.kind == JobKind.SHORT_ELEMENTS
        drain = Mux(has_unit, MOVE_DRAIN_CYCLES, self.drain_cycles)
        m.d.comb += [
            wants.eq(to_begin.any() & self.is_free),
            self.begins_group.eq(wants & self.has_weights),
            self.waits_weights.eq(wants & ~self.has_weights & (to_begin == to_end)),
            self.is_last.eq(to_end == 1),
        ]
        with m.If(self.begins_group):
            m.d.sync += [
                self.is_first.eq(0),
                to_begin.eq(to_begin - 1),
                self.input_offset.eq(self.input_offset + job.group_input_step),
            ]
        with m.FSM():
            with m.State("IDLE"):
                with m.If(self.start):
                    m.d.sync += [
                        self.is_busy.eq(1),
                        self.is_first.eq(1),
                        to_begin.eq(job.groups),
                        to_end.eq(job.groups),
                        self.input_offset.eq(0),
                    ]
                    m.next = "GROUPS"
            with m.State("GROUPS"):
                m.d.sync += cycles.eq(1)
                with m.If(self.group_ends):
                    m.d.sync += to_end.eq(to_end - 1)
                    with m.If(self.is_last):
                        m.next = "DRAIN"
            with m.State("DRAIN"):
                with m.If(cycles != drain):
                    m.d.sync += cycles.eq(cycles + 1)
                with m.Elif(~self.holds):
                    m.d.comb += self.done.eq(1)
                    m.d.sync += self.is_busy.eq(0)
                    m.next = "IDLE"
        return m

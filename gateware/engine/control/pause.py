"""Where a list can stop and go on later."""

from amaranth import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from kiwicha.contract.engine import JobFlag, JobKind, SumFlag
from kiwicha.gateware.engine.descriptors import JOB

__all__ = ["Pause"]


class Pause(wiring.Component):
    """Hold jobs back when a list is to stop, but for those that need what earlier ones have left.

    What a job leaves in the scratchpad can be saved. Sums that it keeps, and tables of sums behind
    convolutions, cannot: the list goes on until no later job needs them. Of tables nobody knows
    that, so it goes on to its end.

    Latency: combinational from ``request``; the cycle after ``job_starts`` or ``job_done``.

    Members
    -------
    begins : ``In(1)``
        A list starts.
    request : ``In(1)``
        It is to stop.
    job : ``In(JOB)``
        The next one, or the one under way.
    job_starts, job_done : ``In(1)``
        It begins; it is complete.
    holds : ``Out(1)``
        No job may begin.
    is_between : ``Out(1)``
        Besides, none is under way.
    """

    def __init__(self) -> None:
        super().__init__({
            "begins": In(1),
            "request": In(1),
            "job": In(JOB),
            "job_starts": In(1),
            "job_done": In(1),
            "holds": Out(1),
            "is_between": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        """Build what is kept, and whether a job is under way."""
        m = Module()
        is_computing = Signal()
        keeps_sums = Signal()
        keeps_tables = Signal()
        keeps, goes_on = (
            self.job.sums[flag.value.bit_length() - 1] for flag in (SumFlag.KEEP, SumFlag.CONTINUE)
        )
        is_fused = (self.job.flags & JobFlag.FUSED).any()
        m.d.comb += [
            self.holds.eq(self.request & ~keeps_sums & ~keeps_tables),
            self.is_between.eq(self.holds & ~is_computing),
        ]
        with m.If(self.job_starts):
            m.d.sync += is_computing.eq(1)
            # A MOVE has other fields there.
            with m.If((self.job.kind != JobKind.MOVE) & (keeps | goes_on)):
                m.d.sync += keeps_sums.eq(keeps)
            with m.If((self.job.kind == JobKind.ADD) & is_fused):
                m.d.sync += keeps_tables.eq(1)
        with m.Elif(self.job_done):
            m.d.sync += is_computing.eq(0)
        with m.If(self.begins):
            m.d.sync += [is_computing.eq(0), keeps_sums.eq(0), keeps_tables.eq(0)]
        return m

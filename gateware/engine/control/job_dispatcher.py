"""Jobs of a list on their way to the array or to the depthwise unit."""

from amaranth import Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from kiwicha.contract.engine import JobKind
from kiwicha.gateware.engine.descriptors import JOB

__all__ = ["JobDispatcher"]

_NUMBERED_JOB = data.StructLayout({"job": JOB, "number": 16})


class JobDispatcher(wiring.Component):
    """Hand jobs to the array and to the depthwise unit, each of which takes its own in order.

    The unit has a queue of one more job, so that those of the array behind it come through.

    Throughput: a job per cycle. Latency: 1 cycle to the array, 2 to the unit, if they are free.

    Members
    -------
    jobs : ``In(stream.Signature(JOB))``
        Jobs in the order of the list.
    array, unit : ``Out(stream.Signature(JOB))``
        Taken when complete.
    ends : ``Out(1)``
        A job ends: one of the array when it is taken, one of the unit when none of the array does,
        from the next cycle on. Jobs of the unit end at least 3 cycles apart.
    ended_number : ``Out(16)``
        Its number in the list.
    complete : ``Out(16)``
        Jobs that are complete, and all before them; one cycle late.
    """

    def __init__(self) -> None:
        super().__init__({
            "jobs": In(stream.Signature(JOB)),
            "array": Out(stream.Signature(JOB)),
            "unit": Out(stream.Signature(JOB)),
            "ends": Out(1),
            "ended_number": Out(16),
            "complete": Out(16),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the registers of jobs, and the smallest number of one that is not complete."""
        m = Module()
        number = Signal(16)
        following = Signal(_NUMBERED_JOB, reset_less=True)
        has_following = Signal()
        moves, is_for_unit = Signal(), Signal()
        oldest_of_array, oldest_of_unit = Signal(16), Signal(16)
        array = Signal(_NUMBERED_JOB, reset_less=True)
        unit = Signal(_NUMBERED_JOB, reset_less=True)
        m.d.comb += [
            self.array.payload.eq(array.job),
            self.unit.payload.eq(unit.job),
            is_for_unit.eq(self.jobs.payload.kind == JobKind.DEPTHWISE_UNIT),
            moves.eq(has_following & (~self.unit.valid | self.unit.ready)),
            self.jobs.ready.eq(
                Mux(is_for_unit, ~has_following | moves, ~self.array.valid | self.array.ready)
            ),
            oldest_of_array.eq(Mux(self.array.valid, array.number, number)),
            oldest_of_unit.eq(
                Mux(
                    self.unit.valid,
                    unit.number,
                    Mux(has_following, following.number, number),
                )
            ),
        ]
        with m.If(self.array.ready):
            m.d.sync += self.array.valid.eq(0)
        with m.If(self.unit.ready):
            m.d.sync += self.unit.valid.eq(0)
        with m.If(moves):
            m.d.sync += [self.unit.valid.eq(1), unit.eq(following), has_following.eq(0)]
        with m.If(self.jobs.valid & self.jobs.ready):
            m.d.sync += number.eq(number + 1)
            with m.If(is_for_unit):
                m.d.sync += [
                    has_following.eq(1),
                    following.job.eq(self.jobs.payload),
                    following.number.eq(number),
                ]
            with m.Else():
                m.d.sync += [
                    self.array.valid.eq(1),
                    array.job.eq(self.jobs.payload),
                    array.number.eq(number),
                ]
        # Ends are noted one at a time.
        unit_ended = Signal()
        unit_ended_number = Signal(16, reset_less=True)
        m.d.comb += [
            self.ends.eq(self.array.ready | unit_ended),
            self.ended_number.eq(Mux(self.array.ready, array.number, unit_ended_number)),
        ]
        with m.If(self.unit.ready):
            m.d.sync += [unit_ended.eq(1), unit_ended_number.eq(unit.number)]
        with m.Elif(~self.array.ready):
            m.d.sync += unit_ended.eq(0)
        m.d.sync += self.complete.eq(
            Mux(oldest_of_unit < oldest_of_array, oldest_of_unit, oldest_of_array)
        )
        return m

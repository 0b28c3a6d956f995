"""A job's groups, one after the other, each when its weights are there."""

from amaranth import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from kiwicha.gateware.engine.job import JOB

__all__ = ["GroupControl"]


class GroupControl(wiring.Component):
    """Start the walker for each group of a job, then wait until the data path is empty.

    From the last operation of a group to the start of the next 4 cycles; ``done`` comes
    `DRAIN_CYCLES` after the last operation of the job.

    Members
    -------
    job : ``In(JOB)``
        Stable from ``start`` to ``done``.
    start, is_busy, done
        As in `Core`.
    has_weights : ``In(1)``
        The weights of the next group are there.
    waits_weights : ``Out(1)``
        They are not, and nothing else is left to do.
    starts_group : ``Out(1)``
        High for one cycle.
    group_ends : ``In(1)``
        Its last operation is issued.
    input_offset, output_offset : ``Out(16)``
        The group's share of addresses.
    is_last : ``Out(1)``
        It is the last group.
    """

    DRAIN_CYCLES = 36
    """More than 4 cycles to the array, 12 + 2 through it, 1 to the requantizer, 10 through it, 1 to
    the scratchpad and 2 until a read sees the byte."""
    _RELEASE_CYCLES = 4
    """From a group's last operation until the weight buffer shows the next bank."""

    def __init__(self) -> None:
        super().__init__({
            "job": In(JOB),
            "start": In(1),
            "is_busy": Out(1),
            "done": Out(1),
            "has_weights": In(1),
            "waits_weights": Out(1),
            "starts_group": Out(1),
            "group_ends": In(1),
            "input_offset": Out(16),
            "output_offset": Out(16),
            "is_last": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the sequence."""
        m = Module()
        job = self.job
        groups_left = Signal(16)
        cycles = Signal(range(self.DRAIN_CYCLES + 1))
        m.d.comb += self.is_last.eq(groups_left == 1)
        with m.FSM():
            with m.State("IDLE"):
                m.d.sync += [
                    groups_left.eq(job.groups),
                    self.input_offset.eq(0),
                    self.output_offset.eq(0),
                ]
                with m.If(self.start):
                    m.d.sync += self.is_busy.eq(1)
                    m.next = "WEIGHTS"
            with m.State("WEIGHTS"):
                m.d.comb += [
                    self.starts_group.eq(self.has_weights),
                    self.waits_weights.eq(~self.has_weights),
                ]
                with m.If(self.has_weights):
                    m.next = "GROUP"
            with m.State("GROUP"):
                m.d.sync += cycles.eq(0)
                with m.If(self.group_ends):
                    m.next = "RELEASE"
            with m.State("RELEASE"):
                m.d.sync += cycles.eq(cycles + 1)
                with m.If(self.is_last):
                    with m.If(cycles == self.DRAIN_CYCLES):
                        m.d.comb += self.done.eq(1)
                        m.d.sync += self.is_busy.eq(0)
                        m.next = "IDLE"
                with m.Elif(cycles == self._RELEASE_CYCLES - 2):
                    m.d.sync += [
                        groups_left.eq(groups_left - 1),
                        self.input_offset.eq(self.input_offset + job.group_input_step),
                        self.output_offset.eq(self.output_offset + job.group_output_step),
                    ]
                    m.next = "WEIGHTS"
        return m

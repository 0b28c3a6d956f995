"""What joins the engine to the CPU's custom instructions."""

from amaranth import Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from kiwicha.gateware.engine.interfaces import ENGINE_COMMAND

__all__ = ["EngineLink"]


class EngineLink(wiring.Component):
    """Hold an instruction until the engine takes it, then wait for its answer.

    Members
    -------
    start : ``In(1)``
        Take ``command``; only while not ``is_waiting``.
    command : ``In(ENGINE_COMMAND)``
        Taken with ``start``.
    is_waiting : ``Out(1)``
        From the cycle after ``start`` to that of ``has_answer``.
    has_answer : ``Out(1)``
        ``answer`` is the instruction's; high for one cycle.
    answer : ``Out(32)``
        See ``has_answer``.
    commands, responses
        To and from the engine.
    """

    def __init__(self) -> None:
        super().__init__({
            "start": In(1),
            "command": In(ENGINE_COMMAND),
            "is_waiting": Out(1),
            "has_answer": Out(1),
            "answer": Out(32),
            "commands": Out(stream.Signature(ENGINE_COMMAND)),
            "responses": In(stream.Signature(32)),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the registers."""
        m = Module()
        m.d.comb += [
            self.responses.ready.eq(self.is_waiting),
            self.has_answer.eq(self.is_waiting & self.responses.valid),
            self.answer.eq(self.responses.payload),
        ]
        with m.If(self.start):
            m.d.sync += [
                self.is_waiting.eq(1),
                self.commands.valid.eq(1),
                self.commands.payload.eq(self.command),
            ]
        with m.Else():
            with m.If(self.commands.ready):
                m.d.sync += self.commands.valid.eq(0)
            with m.If(self.has_answer):
                m.d.sync += self.is_waiting.eq(0)
        return m

"""Instructions that a custom function unit executes without a pause, and their answers."""

from amaranth import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from kiwicha.gateware.cfu import CFU_COMMAND, CFU_RESPONSE

__all__ = ["RESPONSE_CYCLES", "Burst"]

RESPONSE_CYCLES = 1024
"""An instruction has no answer if none comes in so many cycles."""


class Burst(wiring.Component):
    """Keep instructions, offer one in every cycle, and keep what is answered.

    Responses are always taken. With one instruction per cycle accepted, a burst takes as many
    cycles as it has instructions, and 3.

    Parameters
    ----------
    depth : int
        Most instructions, a power of two.

    Members
    -------
    write : ``In(1)``
        Keep ``instruction`` at ``write_index``; not while running.
    write_index, instruction
        See ``write``.
    start : ``In(1)``
        Execute ``count`` instructions; not while running.
    count : ``In(range(depth + 1))``
        1 or more; stable until ``is_done``.
    is_done : ``Out(1)``
        High for one cycle at the end.
    has_all : ``Out(1)``
        With ``is_done``: every instruction was answered. If not, one had no answer for
        `RESPONSE_CYCLES` cycles.
    read_index : ``In(range(depth))``
        Which answer ``answer`` is in the cycle after this one.
    answer : ``Out(32)``
        See ``read_index``.
    commands : ``Out(stream.Signature(CFU_COMMAND))``
        To the custom function unit.
    responses : ``In(stream.Signature(CFU_RESPONSE))``
        From it.
    """

    def __init__(self, *, depth: int) -> None:
        self.depth = depth
        super().__init__({
            "write": In(1),
            "write_index": In(range(depth)),
            "instruction": In(CFU_COMMAND),
            "start": In(1),
            "count": In(range(depth + 1)),
            "is_done": Out(1),
            "has_all": Out(1),
            "read_index": In(range(depth)),
            "answer": Out(32),
            "commands": Out(stream.Signature(CFU_COMMAND)),
            "responses": In(stream.Signature(CFU_RESPONSE)),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the memories, the counts and the time limit."""
        m = Module()
        bits = CFU_COMMAND.size
        m.submodules.instructions = instructions = Memory(shape=bits, depth=self.depth, init=[])
        m.submodules.answers = answers = Memory(shape=32, depth=self.depth, init=[])
        write, read = instructions.write_port(), instructions.read_port()
        store, load = answers.write_port(), answers.read_port()
        issued, answered = Signal.like(self.count), Signal.like(self.count)
        cycles = Signal(range(RESPONSE_CYCLES))
        is_running = Signal()
        is_issued = self.commands.valid & self.commands.ready
        is_answered = self.responses.valid & self.responses.ready
        has_all = answered == self.count
        m.d.comb += [
            write.addr.eq(self.write_index),
            write.data.eq(self.instruction),
            write.en.eq(self.write),
            # What is offered next is read ahead; until the start that is the first.
            read.addr.eq(Mux(is_running, issued + is_issued, 0)),
            self.commands.payload.eq(read.data),
            self.commands.valid.eq(is_running & (issued != self.count)),
            self.responses.ready.eq(is_running),
            store.addr.eq(answered),
            store.data.eq(self.responses.payload.outputs_0),
            store.en.eq(is_answered),
            load.addr.eq(self.read_index),
            self.answer.eq(load.data),
            self.has_all.eq(has_all),
            self.is_done.eq(is_running & (has_all | (cycles == RESPONSE_CYCLES - 1))),
        ]
        with m.If(is_running):
            m.d.sync += [
                issued.eq(issued + is_issued),
                answered.eq(answered + is_answered),
                cycles.eq(Mux(is_answered, 0, cycles + 1)),
            ]
            with m.If(self.is_done):
                m.d.sync += is_running.eq(0)
        with m.Elif(self.start):
            m.d.sync += [is_running.eq(1), issued.eq(0), answered.eq(0), cycles.eq(0)]
        return m

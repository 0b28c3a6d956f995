"""The engine's custom instructions."""

from amaranth import Cat, Module, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from kiwicha.contract.engine import LINE_BYTES, MAX_JOBS, EngineOp
from kiwicha.contract.latencies import LINE_READ_CYCLES
from kiwicha.gateware.engine.control.counters import Counters
from kiwicha.gateware.engine.control.sequencer import LIST, STATUS
from kiwicha.gateware.engine.datapath import LINE_ACCESS
from kiwicha.gateware.engine.memory.memory_port import WORD_BYTES, WORD_RANGE

__all__ = ["ENGINE_COMMAND", "CommandUnit"]

ENGINE_COMMAND = data.StructLayout({"op": 3, "index": 4, "inputs_0": 32, "inputs_1": 32})
"""An `EngineOp` with its index and operands."""

_BYTE_SHIFT = WORD_BYTES.bit_length() - 1
_MOST_CYCLES = (1 << 32) - 1


class CommandUnit(wiring.Component):
    """Answer instructions, one at a time.

    Latency: 2 cycles from a command to its response; COUNTER and JOB_END 4; PEEK 5, or 3 if it
    writes, and as long as the scratchpad lets it wait; WAIT 2 from when the engine has stopped.
    PEEK while the engine runs answers 0 and has no effect.

    Members
    -------
    commands : ``In(stream.Signature(ENGINE_COMMAND))``
        Instructions.
    responses : ``Out(stream.Signature(32))``
        One for each.
    sets_range, sets_arena, range
        ``sets``, ``sets_arena`` and ``range`` of `ProtectionRanges`. Bits above the port's address
        are ignored, so that an address can be the CPU's.
    start, list, watchdog_cycles, is_running, status
        To and from the `Sequencer`. After a reset the watchdog allows 2**32 - 1 cycles.
    counter_index, counter_job, reads_job, count
        ``index``, ``job``, ``reads_job`` and ``count`` of `Counters`.
    accesses : ``Out(stream.Signature(LINE_ACCESS))``
        To the scratchpad, while the engine is stopped.
    read_data : ``In(128)``
        Line of the read access that was taken 2 cycles ago.
    """

    def __init__(self) -> None:
        super().__init__({
            "commands": In(stream.Signature(ENGINE_COMMAND)),
            "responses": Out(stream.Signature(32)),
            "sets_range": Out(1),
            "sets_arena": Out(1),
            "range": Out(WORD_RANGE),
            "start": Out(1),
            "list": Out(LIST),
            "watchdog_cycles": Out(32, init=_MOST_CYCLES),
            "is_running": In(1),
            "status": In(STATUS),
            "counter_index": Out(4),
            "counter_job": Out(range(MAX_JOBS)),
            "reads_job": Out(1),
            "count": In(32),
            "accesses": Out(stream.Signature(LINE_ACCESS)),
            "read_data": In(8 * LINE_BYTES),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the execution of the instruction that was taken last."""
        m = Module()
        command = Signal(ENGINE_COMMAND)
        answer = self.responses.payload
        delay = Signal(range(max(Counters.LATENCY, LINE_READ_CYCLES)))
        self._connect(m, command)
        with m.FSM():
            with m.State("IDLE"):
                m.d.comb += self.commands.ready.eq(1)
                m.d.sync += command.eq(self.commands.payload)
                with m.If(self.commands.valid):
                    m.next = "EXECUTE"
            with m.State("EXECUTE"):
                m.d.sync += delay.eq(Counters.LATENCY - 1)
                m.next = "ANSWER"
                self._execute(m, command)
            with m.State("COUNT"):
                m.d.sync += [delay.eq(delay - 1), answer.eq(self.count)]
                with m.If(delay == 0):
                    m.next = "ANSWER"
            with m.State("ACCESS"):
                m.d.comb += self.accesses.valid.eq(1)
                m.d.sync += delay.eq(LINE_READ_CYCLES - 1)
                with m.If(self.accesses.ready):
                    m.next = "ANSWER"
                    with m.If(~self.accesses.payload.is_write):
                        m.next = "PEEK"
            with m.State("PEEK"):
                m.d.sync += [
                    delay.eq(delay - 1),
                    answer.eq(self.read_data.word_select(command.inputs_0[2:4], 32)),
                ]
                with m.If(delay == 0):
                    m.next = "ANSWER"
            with m.State("ANSWER"):
                m.d.comb += self.responses.valid.eq(1)
                with m.If(self.responses.ready):
                    m.next = "IDLE"
        return m

    def _connect(self, m: Module, command: data.View) -> None:
        """Give everybody the operands."""
        access = self.accesses.payload
        m.d.comb += [
            self.sets_arena.eq(command.index[0]),
            self.range.address.eq(command.inputs_0[_BYTE_SHIFT:]),
            self.range.words.eq(command.inputs_1[_BYTE_SHIFT:]),
            self.counter_index.eq(command.index),
            self.counter_job.eq(command.inputs_0),
            self.reads_job.eq(command.op == EngineOp.JOB_END),
            access.line.eq(command.inputs_0[_BYTE_SHIFT:]),
            access.is_write.eq(command.index[0]),
            access.mask.eq(0b1111 << (command.inputs_0[2:4] << 2)),
            access.data.eq(Cat(command.inputs_1 for _ in range(LINE_BYTES // 4))),
        ]

    def _execute(self, m: Module, command: data.View) -> None:
        """Build what each instruction does, and its answer if that is known at once."""
        answer = self.responses.payload
        m.d.sync += answer.eq(self.is_running)
        with m.Switch(command.op):
            with m.Case(EngineOp.RANGE):
                m.d.comb += self.sets_range.eq(~self.is_running)
            with m.Case(EngineOp.START):
                m.d.comb += self.start.eq(~self.is_running)
                with m.If(self.start):
                    m.d.sync += [
                        self.list.offset.eq(command.inputs_0[_BYTE_SHIFT:]),
                        Cat(self.list.jobs, self.list.transfers).eq(command.inputs_1),
                    ]
            with m.Case(EngineOp.WAIT, EngineOp.STATUS):
                m.d.sync += answer.eq(
                    Cat(self.status.number, self.status.error, self.is_running << 12)
                )
                with m.If((command.op == EngineOp.WAIT) & self.is_running):
                    m.next = "EXECUTE"
            with m.Case(EngineOp.WATCHDOG):
                m.d.sync += [self.watchdog_cycles.eq(command.inputs_0), answer.eq(0)]
            with m.Case(EngineOp.COUNTER, EngineOp.JOB_END):
                m.next = "COUNT"
            with m.Case(EngineOp.PEEK):
                m.d.sync += answer.eq(0)
                with m.If(~self.is_running):
                    m.next = "ACCESS"

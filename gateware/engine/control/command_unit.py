"""The engine's custom instructions."""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from kiwicha.contract.engine import LINE_BYTES, PAUSED_FLAG, EngineOp
from kiwicha.contract.latencies import LINE_READ_CYCLES
from kiwicha.gateware.engine.control.counters import Counters
from kiwicha.gateware.engine.control.interfaces import (
    STATUS,
    CountersSignature,
    SequencerSignature,
)
from kiwicha.gateware.engine.descriptors import BYTE_BITS
from kiwicha.gateware.engine.interfaces import ENGINE_COMMAND
from kiwicha.gateware.engine.memory.interfaces import LINE_ACCESS, RangeSettingSignature

__all__ = ["CommandUnit"]

_STATUS_BITS = STATUS.size
_RUNNING_BIT = 31


class CommandUnit(wiring.Component):
    """Answer instructions, one at a time.

    Latency: 2 cycles from a command to its response; COUNTER and JOB_END 4; PEEK 6, or 3 if it
    writes, and as long as the scratchpad lets it wait; WAIT 2 from when the engine has stopped.
    PEEK while the engine runs answers 0 and has no effect.

    Parameters
    ----------
    is_preemptible : bool
        Know START with index 1, and STATUS with 1 and 2.

    Members
    -------
    commands : ``In(stream.Signature(ENGINE_COMMAND))``
        Instructions.
    responses : ``Out(stream.Signature(32))``
        One for each.
    ranges : ``Out(RangeSettingSignature())``
        Sets a range. Bits above the port's address are ignored, so that an address can be the
        CPU's.
    sequencer : ``Out(SequencerSignature())``
        Starts and ends lists.
    counters : ``Out(CountersSignature())``
        Reads counters.
    accesses : ``Out(stream.Signature(LINE_ACCESS))``
        To the scratchpad, while the engine is stopped.
    index : ``Out(2)``
        Number of a word of the line that was read.
    word : ``In(32)``
        That word, a cycle after the line.
    """

    def __init__(self, *, is_preemptible: bool = False) -> None:
        self.is_preemptible = is_preemptible
        super().__init__({
            "commands": In(stream.Signature(ENGINE_COMMAND)),
            "responses": Out(stream.Signature(32)),
            "ranges": Out(RangeSettingSignature()),
            "sequencer": Out(SequencerSignature(is_preemptible=is_preemptible)),
            "counters": Out(CountersSignature()),
            "accesses": Out(stream.Signature(LINE_ACCESS)),
            "index": Out(2),
            "word": In(32),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the execution of the instruction that was taken last."""
        m = Module()
        command = Signal(ENGINE_COMMAND, reset_less=True)
        answer = self.responses.payload
        delay = Signal(range(max(Counters.LATENCY, LINE_READ_CYCLES + 1)))
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
                m.d.sync += [delay.eq(delay - 1), answer.eq(self.counters.count)]
                with m.If(delay == 0):
                    m.next = "ANSWER"
            with m.State("ACCESS"):
                m.d.comb += self.accesses.valid.eq(1)
                m.d.sync += delay.eq(LINE_READ_CYCLES)
                with m.If(self.accesses.ready):
                    m.next = "ANSWER"
                    with m.If(~self.accesses.payload.is_write):
                        m.next = "PEEK"
            with m.State("PEEK"):
                m.d.sync += [delay.eq(delay - 1), answer.eq(self.word)]
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
            self.ranges.sets_arena.eq(command.index[0]),
            self.ranges.range.address.eq(command.inputs_0[BYTE_BITS:]),
            self.ranges.range.words.eq(command.inputs_1[BYTE_BITS:]),
            self.counters.index.eq(command.index),
            self.counters.job.eq(command.inputs_0),
            self.counters.reads_job.eq(command.op == EngineOp.JOB_END),
            access.line.eq(command.inputs_0[BYTE_BITS:]),
            access.is_write.eq(command.index[0]),
            self.index.eq(command.inputs_0[2:4]),
            access.mask.eq(0b1111 << (command.inputs_0[2:4] << 2)),
            access.data.eq(Cat(command.inputs_1 for _ in range(LINE_BYTES // 4))),
        ]

    def _execute(self, m: Module, command: data.View) -> None:
        """Build what each instruction does, and its answer if that is known at once."""
        answer = self.responses.payload
        m.d.sync += answer.eq(self.sequencer.is_running)
        with m.Switch(command.op):
            with m.Case(EngineOp.RANGE):
                m.d.comb += self.ranges.sets.eq(~self.sequencer.is_running)
            with m.Case(EngineOp.START):
                starts = ~self.sequencer.is_running
                if self.is_preemptible:
                    starts &= ~command.index[0]
                    self._set_behind(m, command)
                m.d.comb += self.sequencer.start.eq(starts)
                with m.If(self.sequencer.start):
                    if self.is_preemptible:
                        m.d.sync += self.sequencer.pause.eq(0)
                    m.d.sync += [
                        self.sequencer.list.offset.eq(command.inputs_0[BYTE_BITS:]),
                        Cat(self.sequencer.list.jobs, self.sequencer.list.transfers).eq(
                            command.inputs_1
                        ),
                    ]
            with m.Case(EngineOp.WAIT, EngineOp.STATUS):
                m.d.sync += answer.eq(
                    Cat(
                        self.sequencer.status.number,
                        self.sequencer.status.error,
                        self._flags(),
                    )
                )
                with m.If((command.op == EngineOp.WAIT) & self.sequencer.is_running):
                    m.next = "EXECUTE"
                if self.is_preemptible:
                    self._ask_to_pause(m, command)
            with m.Case(EngineOp.WATCHDOG):
                m.d.sync += [self.sequencer.watchdog_cycles.eq(command.inputs_0), answer.eq(0)]
            with m.Case(EngineOp.COUNTER, EngineOp.JOB_END):
                m.next = "COUNT"
            with m.Case(EngineOp.PEEK):
                m.d.sync += answer.eq(0)
                with m.If(~self.sequencer.is_running):
                    m.next = "ACCESS"

    def _flags(self) -> Value:
        """Return bits 19 to 31 of a status."""
        flags = self.sequencer.is_running << _RUNNING_BIT - _STATUS_BITS
        if self.is_preemptible:
            flags |= self.sequencer.is_paused << PAUSED_FLAG.bit_length() - 1 - _STATUS_BITS
        return flags

    def _set_behind(self, m: Module, command: data.View) -> None:
        """Build where the list that is started next begins: START with index 1 says it for one."""
        behind = self.sequencer.behind
        with m.If(~self.sequencer.is_running):
            m.d.sync += behind.eq(Mux(command.index[0], command.inputs_0, 0))

    def _ask_to_pause(self, m: Module, command: data.View) -> None:
        """Build STATUS with index 1 and 2."""
        is_status = command.op == EngineOp.STATUS
        with m.If(is_status & command.index[0]):
            m.d.sync += self.sequencer.pause.eq(1)
        with m.If(is_status & command.index[1]):
            m.d.sync += self.responses.payload.eq(self.sequencer.progress)

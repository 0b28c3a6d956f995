"""Execution of the SIMD instructions, in the order in which they arrive."""

import functools
import operator
from typing import Any

from amaranth import Module, Mux, Signal, Value, signed
from amaranth.lib import data

from kiwicha.contract.cfu import RESULT_FIFO_DEPTH, DataOp
from kiwicha.gateware.instructions.data_unit import DataUnit
from kiwicha.gateware.instructions.decode import DECODED
from kiwicha.gateware.instructions.mac import Mac
from kiwicha.gateware.instructions.requantize_unit import RequantizeUnit

__all__ = ["SimdInstructions"]

# A PUSH reaches the end of `Mac` three cycles after it is issued, and its lanes leave the copy in
# the four cycles after that. The timer starts at 6 in the cycle after the issue.
_PUSH_TIMER_START = 6
_PUSH_TIMER_NEXT_PUSH = 3


class SimdInstructions:
    """The part of a `Cfu` that executes the SIMD instructions.

    It is built into the `Cfu`, not beside it: both write the response register.

    Parameters
    ----------
    multipliers : int
        1 or 4.
    cmd, rsp : stream interface
        Those of the `Cfu`.

    Attributes
    ----------
    waits : Signal
        An instruction is held, or waits for its answer.
    answers : list of tuple of Value and Value
        What the next response can be, each with its flag: at most one is set, none means 0.
    """

    def __init__(self, *, multipliers: int, cmd: Any, rsp: Any) -> None:
        self.multipliers = multipliers
        self.cmd = cmd
        self.rsp = rsp
        self.waits = Signal()
        self.answers: list[tuple[Value, Value]] = []

    def build(
        self,
        m: Module,
        decoded: data.View,
        accepts: Signal,
        is_stalled: Signal,
        is_refused: Signal,
        is_new: Signal,
    ) -> None:
        """Build the units, and the rules that keep the order.

        An accepted instruction is issued at once, or is held until the rule for it allows. READ,
        VALUE, RESCALE and a POP without a word wait for their answer after they are issued.
        """
        multipliers = self.multipliers
        m.submodules.mac = mac = Mac(multipliers=multipliers)
        m.submodules.requantize = requantize = RequantizeUnit(multipliers=multipliers)
        held = Signal(DECODED)
        held_inputs = [Signal(32, name=f"held_inputs_{k}", reset_less=True) for k in range(2)]
        is_held = Signal()
        is_waiting = Signal()
        timer = Signal(range(_PUSH_TIMER_START + 1))
        words_pending = Signal(range(RESULT_FIFO_DEPTH + 1))

        def must_hold(instruction: data.View) -> Any:
            """Return whether work of an earlier PUSH forbids to issue the instruction now."""
            uses_scales = instruction.scale | instruction.value | instruction.rescale
            if multipliers == 1:
                # The lanes of a PUSH reach the unit without a gap, before the next instruction.
                return (uses_scales | instruction.output) & ~requantize.is_idle
            return (
                (instruction.push & (timer > _PUSH_TIMER_NEXT_PUSH))
                | (uses_scales & (timer != 0))
                | (instruction.output & ((timer != 0) | ~requantize.is_idle))
            )

        holds = must_hold(decoded) & ~is_refused
        waits_for_word = decoded.pop & (words_pending != 0) & ~requantize.words.valid
        answers_later = decoded.read | decoded.value | decoded.rescale | waits_for_word
        issues_new = Signal()
        issues_held = Signal()
        m.d.comb += [
            self.waits.eq(is_held | is_waiting),
            is_refused.eq(decoded.push & (words_pending == RESULT_FIFO_DEPTH)),
            is_stalled.eq(self.waits | ~mac.i.ready),
            issues_new.eq(accepts & ~holds & ~is_refused),
            issues_held.eq(is_held & ~must_hold(held)),
        ]
        # Kept from the cycle after it is accepted to the one after it is issued.
        with m.If(~self.waits):
            m.d.sync += [
                held.eq(decoded),
                held_inputs[0].eq(self.cmd.payload.inputs_0),
                held_inputs[1].eq(self.cmd.payload.inputs_1),
            ]
        with m.If(accepts):
            m.d.sync += [
                is_held.eq(holds),
                is_waiting.eq(answers_later & ~holds),
                self.rsp.valid.eq(~holds & ~answers_later),
            ]
        with m.Elif(issues_held):
            answers = ~(held.value | held.rescale)
            m.d.sync += [is_held.eq(0), is_waiting.eq(~answers), self.rsp.valid.eq(answers)]

        self._elaborate_counters(m, decoded, accepts & ~is_refused, timer, words_pending)
        with m.If((issues_new & decoded.push) | (issues_held & held.push)):
            m.d.sync += timer.eq(_PUSH_TIMER_START)
        pushes = Mux(is_held, held.push, decoded.push & ~holds & ~is_refused)
        self._connect_mac(m, mac, decoded, held, is_held, accepts | issues_held, pushes)
        self._connect_requantize(m, requantize, mac, held, held_inputs, issues_new | issues_held)
        self._elaborate_data(m, decoded, is_new)

        words = requantize.words
        pops_late = is_waiting & held.pop
        m.d.comb += words.ready.eq((accepts & decoded.pop) | pops_late)
        has_word = pops_late | (is_new & decoded.pop & words.valid)
        self.answers.append((has_word, words.payload))
        self._answer_late(m, mac, requantize, held, is_waiting)

    def _answer_late(
        self, m: Module, mac: Mac, requantize: RequantizeUnit, held: data.View, is_waiting: Signal
    ) -> None:
        """Answer the held instruction that waits for a unit."""
        read, results = mac.o.payload, requantize.results
        has_answer = Signal()
        with m.If(held.read):
            m.d.comb += has_answer.eq(mac.o.valid & ~read.is_push)
        with m.Elif(held.pop):
            m.d.comb += has_answer.eq(requantize.words.valid)
        with m.Else():
            m.d.comb += has_answer.eq(results.valid)
        self.answers += [
            (is_waiting & held.read, read.accumulators[read.lane]),
            (is_waiting & ~held.read & ~held.pop, results.payload),
        ]
        with m.If(is_waiting & has_answer):
            m.d.sync += [is_waiting.eq(0), self.rsp.valid.eq(1)]

    @staticmethod
    def _elaborate_counters(
        m: Module, decoded: data.View, executes: Any, timer: Signal, words_pending: Signal
    ) -> None:
        """Build the count of words pushed and not popped, and the time since the last PUSH."""
        with m.If(executes & decoded.push):
            m.d.sync += words_pending.eq(words_pending + 1)
        with m.Elif(executes & decoded.pop & (words_pending != 0)):
            m.d.sync += words_pending.eq(words_pending - 1)
        with m.If(timer != 0):
            m.d.sync += timer.eq(timer - 1)

    def _connect_mac(
        self,
        m: Module,
        mac: Mac,
        decoded: data.View,
        held: data.View,
        is_held: Signal,
        issues: Any,
        pushes: Any,
    ) -> None:
        """Connect `Mac` to the command; the only one of its commands that is ever held is PUSH."""
        command = mac.i.payload
        input_offset = Signal(signed(9))
        with m.If(decoded.input_offset & issues & ~is_held):
            m.d.sync += input_offset.eq(self.cmd.payload.inputs_0)
        for name in ("mac", "mac_lanes", "bias", "start", "read", "write"):
            m.d.comb += command[name].eq(decoded[name] & ~is_held)
        m.d.comb += [
            mac.i.valid.eq(issues),
            mac.input_offset.eq(input_offset),
            command.push.eq(pushes),
            command.index.eq(Mux(is_held, held.index, decoded.index)),
            command.inputs_0.eq(self.cmd.payload.inputs_0),
            command.inputs_1.eq(self.cmd.payload.inputs_1),
        ]

    @staticmethod
    def _connect_requantize(
        m: Module,
        requantize: RequantizeUnit,
        mac: Mac,
        held: data.View,
        held_inputs: list[Signal],
        issues: Any,
    ) -> None:
        """Connect `RequantizeUnit` to the held instruction, in the cycle after its issue."""
        is_issued = Signal()
        m.d.sync += is_issued.eq(issues)
        m.d.comb += [
            requantize.scales.valid.eq(is_issued & held.scale),
            requantize.scales.payload.lane.eq(held.index),
            requantize.scales.payload.multiplier.eq(held_inputs[0]),
            requantize.scales.payload.shift.eq(held_inputs[1]),
            requantize.outputs.valid.eq(is_issued & held.output),
            requantize.outputs.payload.offset.eq(held_inputs[0]),
            requantize.outputs.payload.minimum.eq(held_inputs[1]),
            requantize.outputs.payload.maximum.eq(held_inputs[1][8:]),
            requantize.values.valid.eq(is_issued & (held.value | held.rescale)),
            requantize.values.payload.lane.eq(held.index),
            requantize.values.payload.value.eq(held_inputs[0]),
            requantize.values.payload.is_rescale.eq(held.rescale),
            requantize.pixels.valid.eq(mac.o.valid & mac.o.payload.is_push),
            requantize.pixels.payload.eq(mac.o.payload.accumulators),
        ]
        if mac.multipliers == 1:
            m.d.comb += mac.o.ready.eq(~mac.o.payload.is_push | requantize.pixels.ready)

    def _elaborate_data(self, m: Module, decoded: data.View, is_new: Signal) -> None:
        """Connect `DataUnit`, which is combinational."""
        m.submodules.data = data_unit = DataUnit()
        m.d.comb += [
            data_unit.inputs_0.eq(self.cmd.payload.inputs_0),
            data_unit.inputs_1.eq(self.cmd.payload.inputs_1),
            data_unit.index.eq(decoded.index),
        ]
        names = [op.name.lower() for op in DataOp]
        for name in names:
            if name != "align":
                m.d.comb += getattr(data_unit, f"is_{name}").eq(decoded[name])
        is_data = functools.reduce(operator.or_, (decoded[name] for name in names))
        self.answers.append((is_new & is_data, data_unit.o))

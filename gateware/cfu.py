"""The custom function unit: what the CPU's custom instructions do."""

import functools
import operator
from typing import Any

from amaranth import ClockDomain, Module, Mux, Signal, signed
from amaranth.back import verilog as backend
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from kiwicha.contract.cfu import ISA_VERSION, RESULT_FIFO_DEPTH, UNKNOWN_RESPONSE, Config, DataOp
from kiwicha.gateware.engine.array.mac_cell import Vendor
from kiwicha.gateware.engine.engine import Engine
from kiwicha.gateware.engine.memory.interfaces import MemoryPortSignature
from kiwicha.gateware.instructions.data_unit import DataUnit
from kiwicha.gateware.instructions.decode import DECODED, Decoder
from kiwicha.gateware.instructions.engine_link import EngineLink
from kiwicha.gateware.instructions.mac import Mac
from kiwicha.gateware.instructions.requantize_unit import RequantizeUnit

__all__ = ["CFU_COMMAND", "CFU_RESPONSE", "Cfu", "design", "verilog"]

CFU_COMMAND = data.StructLayout({"function_id": 10, "inputs_0": 32, "inputs_1": 32})
CFU_RESPONSE = data.StructLayout({"outputs_0": 32})

# A PUSH reaches the end of `Mac` three cycles after it is issued, and its lanes leave the copy in
# the four cycles after that. The timer starts at 6 in the cycle after the issue.
_PUSH_TIMER_START = 6
_PUSH_TIMER_NEXT_PUSH = 3


class Cfu(wiring.Component):
    """Execute custom instructions in the order in which they arrive.

    Every instruction is answered, in order, and takes effect as if the one before it had finished.
    Responses come from a register, one cycle after the command at the earliest: that is when
    VexRiscv's memory stage wants them, so that one instruction per cycle is sustained.

    ============================  ==============================================================
    Instruction                   Response, cycles after the command
    ============================  ==============================================================
    any other, unknown ones too   1
    ``READ``                      4
    ``VALUE``, ``RESCALE``        7; after a ``PUSH``, not before its 14th cycle
    ``POP``                       1 if a word is there or none is under way; else in the 14th
                                  cycle after its ``PUSH``
    ``PUSH``                      1; after a ``PUSH``, not before its 5th cycle
    ``SCALE``                     1; after a ``PUSH``, not before its 8th cycle
    ``OUTPUT``                    1; after a ``PUSH``, not before its 14th cycle
    engine                        `CommandUnit`'s latency + 2
    ============================  ==============================================================

    Throughput: one instruction per cycle where the latency is 1; a ``PUSH`` every 4 cycles.

    With one multiplier the latencies are those of `Mac` and `Requantizer`: the instruction after a
    ``MAC`` or ``MAC_LANES`` is taken 4 cycles after it, the one after a ``PUSH`` when only two
    lanes wait for the requantizer; ``SCALE``, ``VALUE``, ``RESCALE`` and ``OUTPUT`` wait until it
    is idle.

    A ``PUSH`` that finds `RESULT_FIFO_DEPTH` words pushed and not popped is answered like an
    unknown instruction and does nothing else.

    Parameters
    ----------
    config : Config
        Without ``has_simd`` only the instructions that identify the gateware are known.
    vendor : Vendor
        What the engine's multipliers are built from.

    Members
    -------
    cmd : ``In(stream.Signature(CFU_COMMAND))``
        Commands.
    rsp : ``Out(stream.Signature(CFU_RESPONSE))``
        Responses, one per command.
    memory : ``Out(MemoryPortSignature())``
        The engine's port to DRAM; only with an engine.
    """

    def __init__(self, *, config: Config, vendor: Vendor = Vendor.GENERIC) -> None:
        self.config = config
        self.vendor = vendor
        self.has_engine = config.engine_macs > 0
        memory = {"memory": Out(MemoryPortSignature())} if self.has_engine else {}
        super().__init__({
            "cmd": In(stream.Signature(CFU_COMMAND)),
            "rsp": Out(stream.Signature(CFU_RESPONSE)),
            **memory,
        })

    def elaborate(self, platform: object) -> Module:
        """Build the response register; with SIMD, everything else around it."""
        m = Module()
        m.submodules.decoder = decoder = Decoder(
            has_simd=self.config.has_simd, has_engine=self.has_engine
        )
        decoded = decoder.o
        cycles = Signal(32)
        accepts = Signal()
        is_stalled = Signal()
        is_engine_busy = Signal()
        answer = Signal(32)
        m.d.sync += cycles.eq(cycles + 1)
        m.d.comb += [
            decoder.function_id.eq(self.cmd.payload.function_id),
            self.cmd.ready.eq(~is_stalled & ~is_engine_busy & (~self.rsp.valid | self.rsp.ready)),
            accepts.eq(self.cmd.valid & self.cmd.ready),
        ]
        with m.If(accepts):
            m.d.sync += [self.rsp.valid.eq(1), self.rsp.payload.outputs_0.eq(answer)]
        with m.Elif(self.rsp.ready):
            m.d.sync += self.rsp.valid.eq(0)

        with m.If(decoded.isa_version):
            m.d.comb += answer.eq(ISA_VERSION)
        with m.If(decoded.config_hash):
            m.d.comb += answer.eq(self.config.hash)
        with m.If(decoded.cycles):
            m.d.comb += answer.eq(cycles)
        with m.If(~decoded.is_known):
            m.d.comb += answer.eq(UNKNOWN_RESPONSE + self.cmd.payload.function_id)
        if self.config.has_simd:
            self._elaborate_simd(m, decoded, accepts, is_stalled, answer)
        if self.has_engine:
            self._elaborate_engine(m, decoded, accepts, is_engine_busy)
        return m

    def _elaborate_engine(
        self, m: Module, decoded: data.View, accepts: Signal, is_busy: Signal
    ) -> None:
        """Build the engine; it answers later than the cycle after the command, and all wait."""
        m.submodules.engine = engine = Engine(
            macs=self.config.engine_macs,
            scratchpad_bytes=self.config.scratchpad_bytes,
            lanes=self.config.requantizer_lanes or None,
            has_codec=self.config.has_codec,
            vendor=self.vendor,
        )
        m.submodules.engine_link = link = EngineLink()
        wiring.connect(m, link.commands, engine.commands)
        wiring.connect(m, engine.responses, link.responses)
        wiring.connect(m, engine.memory, wiring.flipped(self.memory))
        m.d.comb += [
            is_busy.eq(link.is_waiting),
            link.start.eq(accepts & decoded.engine),
            link.command.op.eq(decoded.op),
            link.command.index.eq(decoded.index),
            link.command.inputs_0.eq(self.cmd.payload.inputs_0),
            link.command.inputs_1.eq(self.cmd.payload.inputs_1),
        ]
        with m.If(link.start):
            m.d.sync += self.rsp.valid.eq(0)
        with m.Elif(link.has_answer):
            m.d.sync += [self.rsp.valid.eq(1), self.rsp.payload.outputs_0.eq(link.answer)]

    def _elaborate_simd(
        self, m: Module, decoded: data.View, accepts: Signal, is_stalled: Signal, answer: Signal
    ) -> None:
        """Build the units, and the rules that keep the order.

        An accepted instruction is issued at once, or is held until the rule for it allows. READ,
        VALUE, RESCALE and a POP without a word wait for their answer after they are issued.
        """
        multipliers = self.config.multipliers
        m.submodules.mac = mac = Mac(multipliers=multipliers)
        m.submodules.requantize = requantize = RequantizeUnit(multipliers=multipliers)
        held = Signal(DECODED)
        held_inputs = [Signal(32, name=f"held_inputs_{k}") for k in range(2)]
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

        is_refused = decoded.push & (words_pending == RESULT_FIFO_DEPTH)
        holds = must_hold(decoded) & ~is_refused
        waits_for_word = decoded.pop & (words_pending != 0) & ~requantize.words.valid
        answers_later = decoded.read | decoded.value | decoded.rescale | waits_for_word
        issues_new = Signal()
        issues_held = Signal()
        m.d.comb += [
            is_stalled.eq(is_held | is_waiting | ~mac.i.ready),
            issues_new.eq(accepts & ~holds & ~is_refused),
            issues_held.eq(is_held & ~must_hold(held)),
        ]
        with m.If(accepts):
            m.d.sync += [
                held.eq(decoded),
                held_inputs[0].eq(self.cmd.payload.inputs_0),
                held_inputs[1].eq(self.cmd.payload.inputs_1),
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
        self._connect_mac(m, mac, decoded, held, is_held, issues_new | issues_held)
        self._connect_requantize(m, requantize, mac, held, held_inputs, issues_new | issues_held)
        self._elaborate_data(m, decoded, answer)

        m.d.comb += requantize.words.ready.eq((accepts & decoded.pop) | (is_waiting & held.pop))
        with m.If(decoded.pop & requantize.words.valid):
            m.d.comb += answer.eq(requantize.words.payload)
        with m.If(is_refused):
            m.d.comb += answer.eq(UNKNOWN_RESPONSE + self.cmd.payload.function_id)

        self._answer_late(m, mac, requantize, held, is_waiting)

    def _answer_late(
        self, m: Module, mac: Mac, requantize: RequantizeUnit, held: data.View, is_waiting: Signal
    ) -> None:
        """Answer the held instruction that waits for a unit."""
        read = mac.o.payload
        has_answer = Signal()
        late_answer = Signal(32)
        with m.If(held.read):
            m.d.comb += has_answer.eq(mac.o.valid & ~read.is_push)
            m.d.comb += late_answer.eq(read.accumulators[read.lane])
        with m.Elif(held.pop):
            m.d.comb += has_answer.eq(requantize.words.valid)
            m.d.comb += late_answer.eq(requantize.words.payload)
        with m.Else():
            m.d.comb += has_answer.eq(requantize.results.valid)
            m.d.comb += late_answer.eq(requantize.results.payload)
        with m.If(is_waiting & has_answer):
            m.d.sync += [
                is_waiting.eq(0),
                self.rsp.valid.eq(1),
                self.rsp.payload.outputs_0.eq(late_answer),
            ]

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
            command.push.eq(Mux(is_held, held.push, decoded.push)),
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

    def _elaborate_data(self, m: Module, decoded: data.View, answer: Signal) -> None:
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
        with m.If(functools.reduce(operator.or_, (decoded[name] for name in names))):
            m.d.comb += answer.eq(data_unit.o)


def _memory_ports(m: Module, cfu: Cfu) -> list[Signal]:
    """Return the signals of the engine's DRAM port, connected."""
    cmd, wdata, rdata = cfu.memory.cmd, cfu.memory.wdata, cfu.memory.rdata
    outputs = {
        "cmd_valid": cmd.valid,
        "cmd_payload_we": cmd.payload.we,
        "cmd_payload_addr": cmd.payload.addr,
        "wdata_valid": wdata.valid,
        "wdata_payload_data": wdata.payload.data,
        "wdata_payload_we": wdata.payload.we,
    }
    inputs = {
        "cmd_ready": cmd.ready,
        "wdata_ready": wdata.ready,
        "rdata_valid": rdata.valid,
        "rdata_payload_data": rdata.payload,
    }
    ports = []
    for names, is_output in ((outputs, True), (inputs, False)):
        for name, inner in names.items():
            port = Signal(len(inner), name=f"memory_{name}")
            m.d.comb += port.eq(inner) if is_output else inner.eq(port)
            ports.append(port)
    return ports


def design(config: Config, vendor: Vendor = Vendor.GENERIC) -> tuple[Module, list[Signal]]:
    """Return the design of module ``Cfu``, with the ports that LiteX connects.

    With an engine, ``memory_cmd_*``, ``memory_wdata_*`` and ``memory_rdata_*`` are a LiteDRAM
    native port.

    Parameters
    ----------
    config : Config
        What to build.
    vendor : Vendor
        What the engine's multipliers are built from.

    Returns
    -------
    tuple of Module and list of Signal
        The design and its ports.
    """
    m = Module()
    m.submodules.cfu = cfu = Cfu(config=config, vendor=vendor)
    m.domains.sync = domain = ClockDomain()
    domain.clk = Signal(name="clk")
    domain.rst = Signal(name="reset")
    ports = [domain.clk, domain.rst]
    for channel, interface, is_command in (("cmd", cfu.cmd, True), ("rsp", cfu.rsp, False)):
        fields = {"valid": interface.valid, "ready": interface.ready}
        layout = CFU_COMMAND if is_command else CFU_RESPONSE
        fields |= {f"payload_{name}": interface.payload[name] for name, _ in layout}
        for name, inner in fields.items():
            port = Signal(len(inner), name=f"{channel}_{name}")
            drives_inner = is_command != (name == "ready")
            m.d.comb += inner.eq(port) if drives_inner else port.eq(inner)
            ports.append(port)
    if cfu.has_engine:
        ports += _memory_ports(m, cfu)
    return m, ports


def verilog(config: Config, vendor: Vendor = Vendor.GENERIC) -> str:
    """Return the Verilog of a `design`; parameters as there.

    The text depends on the configuration and the versions of this package and Amaranth, not on the
    machine.
    """
    m, ports = design(config, vendor)
    return str(
        backend.convert(m, name="Cfu", ports=ports, emit_src=False, strip_internal_attrs=True)
    )

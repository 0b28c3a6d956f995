"""The custom function unit: what the CPU's custom instructions do."""

import functools
import operator

from amaranth import ClockDomain, Const, Module, Mux, ResetInserter, Signal, Value
from amaranth.back import verilog as backend
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from kiwicha.contract.cfu import ISA_VERSION, UNKNOWN_RESPONSE
from kiwicha.contract.configs import Config
from kiwicha.gateware.engine.array.mac_cell import Vendor
from kiwicha.gateware.engine.engine import Engine
from kiwicha.gateware.engine.memory.interfaces import MemoryPortSignature
from kiwicha.gateware.instructions.decode import Decoder
from kiwicha.gateware.instructions.engine_link import EngineLink
from kiwicha.gateware.instructions.simd import SimdInstructions
from kiwicha.gateware.signal.signal_unit import SignalUnit

__all__ = ["CFU_COMMAND", "CFU_RESPONSE", "Cfu", "design", "verilog"]

CFU_COMMAND = data.StructLayout({"function_id": 10, "inputs_0": 32, "inputs_1": 32})
CFU_RESPONSE = data.StructLayout({"outputs_0": 32})


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
    ``ROOT`` of index 2           2, or 2 behind the root
    other ones of ``SIGNAL``      1
    ============================  ==============================================================

    Throughput: one instruction per cycle where the latency is 1; a ``PUSH`` every 4 cycles.

    With one multiplier the latencies are those of `Mac` and `Requantizer`: the instruction after a
    ``MAC`` or ``MAC_LANES`` is taken 4 cycles after it, the one after a ``PUSH`` when only two
    lanes wait for the requantizer; ``SCALE``, ``VALUE``, ``RESCALE`` and ``OUTPUT`` wait until it
    is idle.

    Behind an instruction of ``SIGNAL`` the next one is taken when `SignalUnit` is not busy.

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
    is_running : ``Out(1)``
        A list runs; only with an engine that is preemptible.
    reset : ``In(1)``
        Reset of everything, beside that of the domain, which can be without; of the engine one
        cycle later. No command is taken with it.
    """

    def __init__(self, *, config: Config, vendor: Vendor = Vendor.GENERIC) -> None:
        self.config = config
        self.vendor = vendor
        self.has_engine = config.engine_macs > 0
        memory = {"memory": Out(MemoryPortSignature())} if self.has_engine else {}
        super().__init__({
            "cmd": In(stream.Signature(CFU_COMMAND)),
            "rsp": Out(stream.Signature(CFU_RESPONSE)),
            "reset": In(1),
            **memory,
            **({"is_running": Out(1)} if config.is_preemptible else {}),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the engine, and beside it what executes all other instructions."""
        m = Module()
        tier = Module()
        link = self._elaborate_engine(m) if self.has_engine else None
        self._elaborate_instructions(tier, link)
        m.submodules.instructions = ResetInserter(self.reset)(tier)
        return m

    def _elaborate_instructions(self, m: Module, link: EngineLink | None) -> None:
        """Build the response register; with SIMD, everything else around it."""
        m.submodules.decoder = decoder = Decoder(
            has_simd=self.config.has_simd,
            has_engine=self.has_engine,
            is_preemptible=self.config.is_preemptible,
            has_signal=self.config.has_signal,
        )
        decoded = decoder.o
        cycles = Signal(32)
        accepts = Signal()
        is_stalled = Signal()
        is_engine_busy = Signal()
        # The next response is that of the command, not of an instruction before it.
        is_new = Signal()
        is_refused = Signal()
        is_free = Signal()
        waits: Value = is_engine_busy
        is_ready = ~self.reset & ~is_stalled & ~is_engine_busy & is_free
        if self.config.has_signal:
            is_signal_busy = Signal()
            is_ready &= ~is_signal_busy
        m.d.sync += cycles.eq(cycles + 1)
        m.d.comb += [
            decoder.function_id.eq(self.cmd.payload.function_id),
            is_free.eq(~self.rsp.valid | self.rsp.ready),
            self.cmd.ready.eq(is_ready),
            accepts.eq(self.cmd.valid & self.cmd.ready),
        ]
        with m.If(accepts):
            m.d.sync += self.rsp.valid.eq(1)
        with m.Elif(self.rsp.ready):
            m.d.sync += self.rsp.valid.eq(0)

        # At most one of them is chosen. What the register holds while there is no response is of no
        # account, so that neither it nor the choice depends on ``accepts``.
        is_unknown = ~decoded.is_known | is_refused
        answers: list[tuple[Value, Value]] = [
            (is_new & decoded.isa_version, Const(ISA_VERSION)),
            (is_new & decoded.config_hash, Const(self.config.hash)),
            (is_new & decoded.cycles, cycles),
            (is_new & is_unknown, UNKNOWN_RESPONSE | self.cmd.payload.function_id),
        ]
        if self.config.has_simd:
            simd = SimdInstructions(multipliers=self.config.multipliers, cmd=self.cmd, rsp=self.rsp)
            simd.build(m, decoded, accepts, is_stalled, is_refused, is_new)
            waits |= simd.waits
            answers += simd.answers
        if link is not None:
            answers.append(self._link_engine(m, link, decoded, accepts, is_engine_busy))
        if self.config.has_signal:
            late = Signal()
            waits |= late
            answers += self._build_signal(m, decoder, accepts, is_new, is_signal_busy, late)
        m.d.comb += is_new.eq(~waits)
        with m.If(is_free):
            m.d.sync += self.rsp.payload.outputs_0.eq(
                functools.reduce(operator.or_, (Mux(flag, value, 0) for flag, value in answers))
            )

    def _elaborate_engine(self, m: Module) -> EngineLink:
        """Build the engine; return what joins it to the instructions, for them to build."""
        m.submodules.engine = engine = Engine(
            macs=self.config.engine_macs,
            scratchpad_bytes=self.config.scratchpad_bytes,
            lanes=self.config.requantizer_lanes or None,
            has_codec=self.config.has_codec,
            has_blocks=self.config.has_blocks,
            is_resident=bool(self.config.resident_words),
            has_softmax=self.config.has_softmax,
            has_depthwise=self.config.has_depthwise,
            is_preemptible=self.config.is_preemptible,
            has_int16=self.config.has_int16,
            has_recurrent=self.config.has_recurrent,
            vendor=self.vendor,
        )
        if self.config.is_preemptible:
            m.d.comb += self.is_running.eq(engine.is_running)
        link = EngineLink()
        wiring.connect(m, link.commands, engine.commands)
        wiring.connect(m, engine.responses, link.responses)
        wiring.connect(m, engine.memory, wiring.flipped(self.memory))
        m.d.sync += engine.reset.eq(self.reset)
        return link

    def _link_engine(
        self, m: Module, link: EngineLink, decoded: data.View, accepts: Signal, is_busy: Signal
    ) -> tuple[Value, Value]:
        """Build the way to the engine, for whose answer all wait; return a flag for it, and it."""
        m.submodules.engine_link = link
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
            m.d.sync += self.rsp.valid.eq(1)
        return link.is_waiting, link.answer

    def _build_signal(
        self,
        m: Module,
        decoder: Decoder,
        accepts: Signal,
        is_new: Signal,
        is_busy: Signal,
        is_late: Signal,
    ) -> list[tuple[Value, Value]]:
        """Build the unit for frames of sound; return its answers, each with its flag."""
        m.submodules.signal = unit = SignalUnit()
        command = unit.command
        m.d.comb += [
            unit.start.eq(accepts & decoder.is_signal),
            command.op.eq(decoder.o.op),
            command.index.eq(decoder.o.index),
            command.inputs_0.eq(self.cmd.payload.inputs_0),
            command.inputs_1.eq(self.cmd.payload.inputs_1),
            is_busy.eq(unit.is_busy | is_late),
        ]
        with m.If(unit.start & unit.waits):
            m.d.sync += [is_late.eq(1), self.rsp.valid.eq(0)]
        with m.Elif(unit.has_answer):
            m.d.sync += [is_late.eq(0), self.rsp.valid.eq(1)]
        return [(is_new & decoder.is_signal, unit.answer), (is_late, unit.late_answer)]


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
    native port. With one that is preemptible ``is_running`` tells whether a list runs.

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
    m.domains.sync = domain = ClockDomain(reset_less=True)
    domain.clk = Signal(name="clk")
    # A register resets, not the logic outside that makes the reset.
    reset = Signal(name="reset")
    m.d.sync += cfu.reset.eq(reset)
    ports = [domain.clk, reset]
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
    if config.is_preemptible:
        is_running = Signal(name="is_running")
        m.d.comb += is_running.eq(cfu.is_running)
        ports.append(is_running)
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

"""A data path that is easy to predict, to test what feeds the real one."""

from amaranth import Cat, Module, Mux, ResetInserter, Signal, signed
from amaranth.lib import data, stream, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out

from kiwicha.contract.engine import LINE_BYTES
from kiwicha.gateware.engine.control.command_unit import ENGINE_COMMAND
from kiwicha.gateware.engine.control.controller import CORE_COUNTS, Control
from kiwicha.gateware.engine.control.job import JOB
from kiwicha.gateware.engine.datapath import LINE_ACCESS
from kiwicha.gateware.engine.engine import connect_core
from kiwicha.gateware.engine.memory.memory_port import MEMORY_PORT
from kiwicha.gateware.engine.memory.scratchpad import Scratchpad

__all__ = ["StandInCore", "StandInEngine", "digest"]

_LINE_BITS = 8 * LINE_BYTES


def digest(
    beats: list[int], line: int, zero_point: int, *, is_unsigned: bool, is_table: bool
) -> int:
    """Return the line that a group of `StandInCore` writes.

    Parameters
    ----------
    beats : list of int
        The group's part of the weight stream.
    line : int
        The job's input.
    zero_point, is_unsigned, is_table
        Of the job's weights.
    """
    salt = (zero_point & 0x1FF) << 2 | is_unsigned << 1 | is_table
    value = 0
    for beat in beats:
        value = (value << 1 | value >> (_LINE_BITS - 1)) & ((1 << _LINE_BITS) - 1)
        value ^= beat ^ salt
    return value ^ line


class StandInCore(wiring.Component):
    """The `Core`'s interface, and instead of arithmetic `digest`.

    A job reads the line at ``first_address``. Group by group it takes the digest of a fill, at most
    two of which are ahead, and after ``output_columns`` cycles writes it to the line at
    ``output_address``, which then counts up. Accesses of others wait while ``stall`` is high.

    Parameters
    ----------
    parameter_beats_per_block, beats_per_word : int
        Size of a fill; words that are packed have twice as many beats.
    fill : StructLayout
        Of a fill's command.
    scratchpad_bytes : int
        Its size.

    Members
    -------
    See `Core`.
    """

    def __init__(
        self,
        *,
        parameter_beats_per_block: int,
        beats_per_word: int,
        fill: data.StructLayout,
        scratchpad_bytes: int,
    ) -> None:
        self.parameter_beats_per_block = parameter_beats_per_block
        self.beats_per_word = beats_per_word
        self.scratchpad_bytes = scratchpad_bytes
        super().__init__({
            "job": In(JOB),
            "start": In(1),
            "done": Out(1),
            "fills": In(stream.Signature(fill)),
            "beats": In(stream.Signature(_LINE_BITS)),
            "heads": In(_LINE_BITS),
            "weight_zero_point": In(signed(9)),
            "weights_are_unsigned": In(1),
            "weights_are_tables": In(1),
            "weights_are_packed": In(1),
            "accesses": In(stream.Signature(LINE_ACCESS)),
            "read_data": Out(_LINE_BITS),
            "counts": Out(CORE_COUNTS),
            "stall": In(1),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the digest of fills, the scratchpad and the life of a job."""
        m = Module()
        m.submodules.digests = digests = SyncFIFO(width=_LINE_BITS, depth=2)
        m.submodules.scratchpad = scratchpad = Scratchpad(size_bytes=self.scratchpad_bytes)
        beats_left = Signal(16)
        value = Signal(_LINE_BITS)
        following = Signal(_LINE_BITS)
        is_filling = Signal()
        salt = Cat(self.weights_are_tables, self.weights_are_unsigned, self.weight_zero_point)
        m.d.comb += [
            self.fills.ready.eq(~is_filling & digests.w_rdy),
            self.beats.ready.eq(is_filling & (beats_left != 0)),
            following.eq(value.rotate_left(1) ^ self.beats.payload ^ salt),
        ]
        with m.If(self.fills.valid & self.fills.ready):
            m.d.sync += [
                is_filling.eq(1),
                value.eq(0),
                beats_left.eq(
                    self.fills.payload.blocks * self.parameter_beats_per_block
                    + (self.fills.payload.words * self.beats_per_word << self.weights_are_packed)
                ),
            ]
        with m.If(self.beats.valid & self.beats.ready):
            m.d.sync += [value.eq(following), beats_left.eq(beats_left - 1)]
        with m.If(is_filling & (beats_left == 0)):
            m.d.comb += [digests.w_en.eq(1), digests.w_data.eq(value)]
            m.d.sync += is_filling.eq(0)

        writes = Signal()
        line = Signal(LINE_ACCESS.members["line"])
        result = Signal(_LINE_BITS)
        access = self.accesses.payload
        m.d.comb += [
            self.accesses.ready.eq(~writes & ~self.stall),
            scratchpad.line_address.eq(Mux(writes, line, access.line)),
            scratchpad.line_write.eq(
                Mux(writes, 1, access.is_write & self.accesses.valid & self.accesses.ready)
            ),
            scratchpad.line_mask.eq(Mux(writes, (1 << LINE_BYTES) - 1, access.mask)),
            scratchpad.line_write_data.eq(Mux(writes, result, access.data)),
            self.read_data.eq(scratchpad.line_read_data),
            scratchpad.read_address.eq(self.job.first_address),
        ]
        groups_left = Signal(16)
        delay = Signal(16)
        with m.FSM():
            with m.State("IDLE"):
                m.d.sync += [
                    groups_left.eq(self.job.groups),
                    delay.eq(self.job.output_columns),
                    line.eq(self.job.output_address // LINE_BYTES),
                ]
                with m.If(self.start):
                    m.next = "WORK"
            with m.State("WORK"):
                m.d.comb += self.counts.busy.eq(delay != 0)
                m.d.comb += self.counts.waits_weights.eq((delay == 0) & ~digests.r_rdy)
                with m.If(delay != 0):
                    m.d.sync += delay.eq(delay - 1)
                with m.Elif(digests.r_rdy):
                    m.d.comb += digests.r_en.eq(1)
                    m.d.sync += result.eq(digests.r_data ^ scratchpad.read_data)
                    m.next = "WRITE"
            with m.State("WRITE"):
                m.d.comb += writes.eq(1)
                m.d.sync += [
                    line.eq(line + 1),
                    groups_left.eq(groups_left - 1),
                    delay.eq(self.job.output_columns),
                ]
                m.next = "WORK"
                with m.If(groups_left == 1):
                    m.next = "DONE"
            with m.State("DONE"):
                m.d.comb += self.done.eq(1)
                m.next = "IDLE"
        return m


class StandInEngine(wiring.Component):
    """`Control` with a `StandInCore`.

    Parameters
    ----------
    macs, scratchpad_bytes : int
        As of the `Engine`.

    Members
    -------
    commands, responses, memory
        As of the `Engine`.
    stall : ``In(1)``
        The scratchpad is not available.
    """

    def __init__(self, *, macs: int, scratchpad_bytes: int) -> None:
        self.control = Control(macs=macs, scratchpad_bytes=scratchpad_bytes)
        self.core = StandInCore(
            parameter_beats_per_block=3,
            beats_per_word=self.control.loader.beats_per_word,
            fill=self.control.fills.payload.shape(),
            scratchpad_bytes=scratchpad_bytes,
        )
        super().__init__({
            "commands": In(stream.Signature(ENGINE_COMMAND)),
            "responses": Out(stream.Signature(32)),
            "memory": Out(MEMORY_PORT),
            "stall": In(1),
        })

    def elaborate(self, platform: object) -> Module:
        """Connect the two."""
        m = Module()
        m.submodules.control = control = self.control
        m.submodules.core = ResetInserter(control.clear)(self.core)
        wiring.connect(m, wiring.flipped(self.commands), control.commands)
        wiring.connect(m, control.responses, wiring.flipped(self.responses))
        wiring.connect(m, control.memory, wiring.flipped(self.memory))
        connect_core(m, control, self.core)
        m.d.comb += self.core.stall.eq(self.stall)
        return m

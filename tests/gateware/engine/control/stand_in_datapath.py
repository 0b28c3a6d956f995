"""A data path that is easy to predict, to test what feeds the real one."""

from amaranth import Cat, Module, Mux, ResetInserter, Signal
from amaranth.lib import wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In

from kiwicha.contract.codec import BEAT_BYTES
from kiwicha.contract.engine import LINE_BYTES, outputs_of
from kiwicha.gateware.engine.array.interfaces import LANES
from kiwicha.gateware.engine.control.controller import Controller
from kiwicha.gateware.engine.interfaces import DatapathSignature, EngineSignature
from kiwicha.gateware.engine.memory.interfaces import LINE_ACCESS
from kiwicha.gateware.engine.memory.scratchpad import Scratchpad
from kiwicha.gateware.engine.weights.interfaces import FIELDS

__all__ = ["StandInDatapath", "StandInEngine", "digest"]

_LINE_BITS = 8 * LINE_BYTES


def digest(
    beats: list[int], line: int, zero_point: int, *, is_unsigned: bool, is_table: bool
) -> int:
    """Return the line that a group of `StandInDatapath` writes.

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


class StandInDatapath(wiring.Component):
    """The `Datapath`'s interface, and instead of arithmetic `digest`.

    A job reads the line at ``first_address``. Group by group it takes the digest of a fill, at most
    two of which are ahead, and after ``output_columns`` cycles writes it to the line at
    ``output_address``, which then counts up. Accesses of others wait while ``stall`` is high.

    Parameters
    ----------
    macs : int
        Products per cycle of the data path that it stands for.
    scratchpad_bytes : int
        Size of the scratchpad.

    Members
    -------
    See `DatapathSignature`.

    Attributes
    ----------
    stall : Signal
        Accesses wait; driven from outside.
    """

    def __init__(self, *, macs: int, scratchpad_bytes: int) -> None:
        self.beats_per_word = LANES * outputs_of(macs) // BEAT_BYTES
        self.scratchpad_bytes = scratchpad_bytes
        super().__init__(DatapathSignature(macs=macs).flip())
        self.stall = Signal()

    def elaborate(self, platform: object) -> Module:
        """Build the digest of fills, the scratchpad and the life of a job."""
        m = Module()
        m.submodules.digests = digests = SyncFIFO(width=_LINE_BITS, depth=2)
        m.submodules.scratchpad = scratchpad = Scratchpad(size_bytes=self.scratchpad_bytes)
        beats_left = Signal(16)
        value = Signal(_LINE_BITS)
        following = Signal(_LINE_BITS)
        is_filling = Signal()
        fill, lines = self.fill, self.lines
        salt = Cat(fill.is_table, fill.is_unsigned, fill.zero_point)
        m.d.comb += [
            fill.commands.ready.eq(~is_filling & digests.w_rdy),
            fill.beats.ready.eq(is_filling & (beats_left != 0)),
            following.eq(value.rotate_left(1) ^ fill.beats.payload ^ salt),
        ]
        with m.If(fill.commands.valid & fill.commands.ready):
            m.d.sync += [
                is_filling.eq(1),
                value.eq(0),
                beats_left.eq(
                    fill.commands.payload.blocks * FIELDS
                    + (fill.commands.payload.words * self.beats_per_word << fill.is_packed)
                ),
            ]
        with m.If(fill.beats.valid & fill.beats.ready):
            m.d.sync += [value.eq(following), beats_left.eq(beats_left - 1)]
        with m.If(is_filling & (beats_left == 0)):
            m.d.comb += [digests.w_en.eq(1), digests.w_data.eq(value)]
            m.d.sync += is_filling.eq(0)

        wiring.connect(m, wiring.flipped(self.other_lines), scratchpad.others)
        writes = Signal()
        line = Signal(LINE_ACCESS.members["line"])
        result = Signal(_LINE_BITS)
        access = lines.accesses.payload
        m.d.comb += [
            lines.accesses.ready.eq(~writes & ~self.stall),
            scratchpad.line_address.eq(Mux(writes, line, access.line)),
            scratchpad.line_write.eq(
                Mux(writes, 1, access.is_write & lines.accesses.valid & lines.accesses.ready)
            ),
            scratchpad.line_mask.eq(Mux(writes, (1 << LINE_BYTES) - 1, access.mask)),
            scratchpad.line_write_data.eq(Mux(writes, result, access.data)),
            lines.read_data.eq(scratchpad.line_read_data),
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
    """`Controller` with a `StandInDatapath`.

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
        self.controller = Controller(macs=macs, scratchpad_bytes=scratchpad_bytes, has_softmax=True)
        self.datapath = StandInDatapath(macs=macs, scratchpad_bytes=scratchpad_bytes)
        super().__init__({**EngineSignature().flip().members, "stall": In(1)})

    def elaborate(self, platform: object) -> Module:
        """Connect the two."""
        m = Module()
        m.submodules.controller = controller = self.controller
        m.submodules.datapath = ResetInserter(controller.clear)(self.datapath)
        wiring.connect(m, wiring.flipped(self.commands), controller.commands)
        wiring.connect(m, controller.responses, wiring.flipped(self.responses))
        wiring.connect(m, controller.memory, wiring.flipped(self.memory))
        wiring.connect(m, controller.datapath, self.datapath)
        m.d.comb += self.datapath.stall.eq(self.stall)
        return m

"""The engine's one port to DRAM, and which part may use it when."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out

from kiwicha.contract.engine import LINE_BYTES
from kiwicha.contract.latencies import PORT_QUIET_CYCLES, PORT_TURN_WORDS
from kiwicha.gateware.engine.memory.interfaces import (
    PORT_ADDRESS_BITS,
    MemoryPortSignature,
    ReadPortSignature,
    WritePortSignature,
)

__all__ = ["MemoryPort"]


class MemoryPort(wiring.Component):
    """Share a DRAM port between readers and one writer.

    A client keeps the port while it has commands, for `PORT_TURN_WORDS` at most if others wait:
    shorter turns lose bandwidth in DRAM, longer ones make others wait. What was offered to the port
    stays until it is taken, also after ``halt``.

    DRAM may be owed data when this component is reset. It passes over words that come then, lets
    DRAM have bytes that are not written, and begins when none has come for `PORT_QUIET_CYCLES`.

    Latency: a command reaches the port one cycle after it is taken, a word its reader one cycle
    after it came. Throughput: one command per cycle; a change of clients costs up to one cycle.

    Parameters
    ----------
    readers : int
        Number of readers, 1 to 7.

    Members
    -------
    readers : ``In(ReadPortSignature())`` times ``readers``
    writer : ``In(WritePortSignature())``
    port : ``Out(MemoryPortSignature())``
    halt : ``In(1)``
        Take no more commands.
    is_idle : ``Out(1)``
        Every command taken is complete: its word delivered, or its data accepted by the port. Low
        after a reset, until it begins.

    Raises
    ------
    ValueError
        If ``readers`` is out of range.
    """

    MAX_OUTSTANDING = 64
    """Reads under way, and writes without data; the port's latency is 17 cycles, and more in
    refresh."""

    def __init__(self, *, readers: int) -> None:
        if not isinstance(readers, int) or not 1 <= readers <= 7:
            raise ValueError(f"readers must be an integer from 1 to 7, not {readers!r}")
        super().__init__({
            "readers": In(ReadPortSignature()).array(readers),
            "writer": In(WritePortSignature()),
            "port": Out(MemoryPortSignature()),
            "halt": In(1),
            "is_idle": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the choice of a client, the command register and the way back."""
        m = Module()
        cmd = self.port.cmd
        count = len(self.readers)
        m.submodules.tags = tags = SyncFIFO(
            width=max(1, (count - 1).bit_length()) + 1, depth=self.MAX_OUTSTANDING
        )
        grant = Signal(range(count + 1))
        is_write = Signal()
        wants = Signal()
        takes = Signal()
        is_last = Signal()
        can_take = Signal()
        address = Signal(PORT_ADDRESS_BITS)
        writes = Signal(range(self.MAX_OUTSTANDING))
        # After a reset.
        quiet_left = Signal(range(PORT_QUIET_CYCLES + 1), init=PORT_QUIET_CYCLES)
        begins = Signal()
        m.d.comb += begins.eq(quiet_left == 0)
        with m.If(~begins):
            m.d.sync += quiet_left.eq(Mux(self.port.rdata.valid, PORT_QUIET_CYCLES, quiet_left - 1))
        has_place = Mux(is_write, ~writes.all(), tags.w_rdy)
        m.d.comb += [
            is_write.eq(grant == count),
            can_take.eq((~cmd.valid | cmd.ready) & ~self.halt & has_place & begins),
            takes.eq(wants & can_take),
            tags.w_en.eq(takes & ~is_write),
            tags.w_data.eq(Cat(is_last, grant)),
        ]
        with m.Switch(grant):
            for number, reader in enumerate(self.readers):
                with m.Case(number):
                    m.d.comb += [
                        wants.eq(reader.commands.valid),
                        reader.commands.ready.eq(can_take),
                        address.eq(reader.commands.payload.address),
                        is_last.eq(reader.commands.payload.is_last),
                    ]
            with m.Default():
                m.d.comb += [
                    wants.eq(self.writer.commands.valid),
                    self.writer.commands.ready.eq(can_take),
                    address.eq(self.writer.commands.payload),
                ]
        with m.If(takes):
            m.d.sync += [cmd.valid.eq(1), cmd.payload.we.eq(is_write), cmd.payload.addr.eq(address)]
        with m.Elif(cmd.ready):
            m.d.sync += cmd.valid.eq(0)
        self._grant(m, grant, wants, takes)
        self._return(m, tags, takes & is_write, writes, begins)
        m.d.comb += self.is_idle.eq(begins & ~cmd.valid & ~tags.r_rdy & (writes == 0))
        return m

    def _grant(self, m: Module, grant: Signal, wants: Signal, takes: Signal) -> None:
        """Pass the port on, in turn, when a turn ends or its client has nothing to ask for."""
        turn = Signal(range(PORT_TURN_WORDS))
        waiting = [*(reader.commands.valid for reader in self.readers), self.writer.commands.valid]
        with m.If(takes):
            m.d.sync += turn.eq(turn + 1)
        with m.If(~wants | (takes & (turn == PORT_TURN_WORDS - 1))):
            m.d.sync += turn.eq(0)
            with m.Switch(grant):
                for number in range(len(waiting)):
                    with m.Case(number):
                        # Later assignments win: the next in turn comes last.
                        for step in reversed(range(1, len(waiting))):
                            other = (number + step) % len(waiting)
                            with m.If(waiting[other]):
                                m.d.sync += grant.eq(other)

    def _return(
        self, m: Module, tags: SyncFIFO, takes_write: Signal, writes: Signal, begins: Signal
    ) -> None:
        """Build the data paths and the count of writes whose data were not accepted yet."""
        rdata, wdata = self.port.rdata, self.port.wdata
        valid_s1 = Signal()
        data_s1 = Signal(8 * LINE_BYTES, reset_less=True)
        m.d.sync += [valid_s1.eq(rdata.valid & begins), data_s1.eq(rdata.payload)]
        m.d.comb += tags.r_en.eq(valid_s1)
        for number, reader in enumerate(self.readers):
            m.d.comb += [
                reader.beats.valid.eq(valid_s1 & (tags.r_data[1:] == number)),
                reader.beats.payload.data.eq(data_s1),
                reader.beats.payload.is_last.eq(tags.r_data[0]),
            ]
        # LiteDRAM takes data without a look at valid: a beat is there before its command.
        accepts = Signal()
        m.d.comb += [
            wdata.valid.eq(self.writer.beats.valid & (writes != 0)),
            wdata.payload.data.eq(self.writer.beats.payload.data),
            # What is taken for a write from before a reset changes nothing.
            wdata.payload.we.eq(
                self.writer.beats.payload.mask & (writes != 0).replicate(LINE_BYTES)
            ),
            self.writer.beats.ready.eq(wdata.ready & (writes != 0)),
            accepts.eq(wdata.valid & wdata.ready),
        ]
        m.d.sync += writes.eq(writes + takes_write - accepts)

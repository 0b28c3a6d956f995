"""The engine's one port to DRAM, and who may use it when."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out

from kiwicha.contract.cfu import DRAM_BYTES
from kiwicha.contract.latencies import PORT_TURN_WORDS

__all__ = [
    "GRANT",
    "MEMORY_PORT",
    "PORT_ADDRESS_BITS",
    "READ_BEAT",
    "READ_PORT",
    "WORD_BYTES",
    "WORD_RANGE",
    "WRITE_BEAT",
    "WRITE_PORT",
    "MemoryPort",
]

WORD_BYTES = 16
"""Bytes of a DRAM word: one transfer of the port."""
PORT_ADDRESS_BITS = (DRAM_BYTES // WORD_BYTES - 1).bit_length()

WORD_RANGE = data.StructLayout({"address": PORT_ADDRESS_BITS, "words": PORT_ADDRESS_BITS})
"""Consecutive words of DRAM, 1 or more."""
GRANT = data.StructLayout({**WORD_RANGE.members, "end": PORT_ADDRESS_BITS})
"""The same, and the address behind the last one."""
READ_BEAT = data.StructLayout({"data": 8 * WORD_BYTES, "is_last": 1})
"""A word that was read; the last of what was asked for."""
WRITE_BEAT = data.StructLayout({"data": 8 * WORD_BYTES, "mask": WORD_BYTES})
"""A word to be written, and which of its bytes."""

MEMORY_PORT = wiring.Signature({
    "cmd": Out(stream.Signature(data.StructLayout({"we": 1, "addr": PORT_ADDRESS_BITS}))),
    "wdata": Out(stream.Signature(data.StructLayout({"data": 8 * WORD_BYTES, "we": WORD_BYTES}))),
    "rdata": In(stream.Signature(8 * WORD_BYTES, always_ready=True)),
})
"""A LiteDRAM native port, 128 bits wide. ``addr`` counts words. The words of reads come in order
and must be taken when they come. A write's data may be taken at any time after its command."""
READ_PORT = wiring.Signature({
    "commands": Out(
        stream.Signature(data.StructLayout({"address": PORT_ADDRESS_BITS, "is_last": 1}))
    ),
    "beats": In(stream.Signature(READ_BEAT, always_ready=True)),
})
"""What a reader sees of the port: a beat per command, in order, which it must take."""
WRITE_PORT = wiring.Signature({
    "commands": Out(stream.Signature(PORT_ADDRESS_BITS)),
    "beats": Out(stream.Signature(WRITE_BEAT)),
})
"""What a writer sees of the port. A command's beat is offered no later than the command."""


class MemoryPort(wiring.Component):
    """Share a DRAM port between readers and one writer.

    A client keeps the port while it has commands, for `PORT_TURN_WORDS` at most if others wait:
    shorter turns lose bandwidth in DRAM, longer ones make others wait. What was offered to the port
    stays until it is taken, also after ``halt``.

    Latency: a command reaches the port one cycle after it is taken, a word its reader one cycle
    after it came. Throughput: one command per cycle; a change of clients costs up to one cycle.

    Parameters
    ----------
    readers : int
        Number of readers, 1 to 7.

    Members
    -------
    readers : ``In(READ_PORT)`` times ``readers``
    writer : ``In(WRITE_PORT)``
    port : ``Out(MEMORY_PORT)``
    halt : ``In(1)``
        Take no more commands.
    is_idle : ``Out(1)``
        Every command taken is complete: its word delivered, or its data accepted by the port.

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
            "readers": In(READ_PORT).array(readers),
            "writer": In(WRITE_PORT),
            "port": Out(MEMORY_PORT),
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
        has_place = Mux(is_write, ~writes.all(), tags.w_rdy)
        m.d.comb += [
            is_write.eq(grant == count),
            can_take.eq((~cmd.valid | cmd.ready) & ~self.halt & has_place),
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
        self._return(m, tags, takes & is_write, writes)
        m.d.comb += self.is_idle.eq(~cmd.valid & ~tags.r_rdy & (writes == 0))
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

    def _return(self, m: Module, tags: SyncFIFO, takes_write: Signal, writes: Signal) -> None:
        """Build the data paths and the count of writes whose data were not accepted yet."""
        rdata, wdata = self.port.rdata, self.port.wdata
        valid_s1 = Signal()
        data_s1 = Signal(8 * WORD_BYTES, reset_less=True)
        m.d.sync += [valid_s1.eq(rdata.valid), data_s1.eq(rdata.payload)]
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
            wdata.payload.we.eq(self.writer.beats.payload.mask),
            self.writer.beats.ready.eq(wdata.ready & (writes != 0)),
            accepts.eq(wdata.valid & wdata.ready),
        ]
        m.d.sync += writes.eq(writes + takes_write - accepts)

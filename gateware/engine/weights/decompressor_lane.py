"""One lane of the decompressor: a bit stream, of which each step decodes one byte."""

from amaranth import Cat, Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from kiwicha.contract.codec import CHUNK_BITS, MAX_RANGE_BITS, PREFIX_BITS, TABLE_ENTRIES
from kiwicha.gateware.engine.weights.shifter import shifted

__all__ = ["TABLE_WRITE", "DecompressorLane"]

_ENTRY = data.StructLayout({"base": 8, "length": 4, "prefix": 3})
_PEEK_BITS = PREFIX_BITS + MAX_RANGE_BITS
_OFFSET_BITS = (CHUNK_BITS - 1).bit_length()
_BLOCKED_OFFSET = CHUNK_BITS - _PEEK_BITS

TABLE_WRITE = data.StructLayout({
    "address": range(TABLE_ENTRIES),
    "entry": _ENTRY,
    "enable": 1,
})
"""An entry of the table, as in `kiwicha.program.codec.streams`."""


class DecompressorLane(wiring.Component):
    """Two chunks of a bit stream and a table of codes.

    A lane that ``asks`` for a chunk may go on until ``is_blocked``: as long as the chunk that it
    has holds all bits of the next code, and that code does not end it, whichever it is.

    Latency: 1 cycle from ``step`` to ``value``. Throughput: a step per cycle.

    Parameters
    ----------
    first_offset : int
        Bits of the first chunk that are not used.

    Members
    -------
    table : ``In(TABLE_WRITE)``
        Sets an entry.
    chunk : ``In(CHUNK_BITS)``
        The chunk that is loaded.
    load : ``In(1)``
        Load it as the following one.
    restart : ``In(1)``
        Begin with the following chunk.
    step : ``In(1)``
        Decode a byte. Not with ``restart``.
    asks : ``Out(1)``
        With ``step``: a chunk ends and the following one is to be loaded. A ``load`` must come
        before the lane has to step beyond ``is_blocked``.
    is_blocked : ``Out(1)``
        Without the following chunk no step is possible.
    value : ``Out(8)``
        The byte of the last step; stays until the next one.
    """

    def __init__(self, *, first_offset: int) -> None:
        self.first_offset = first_offset
        super().__init__({
            "table": In(TABLE_WRITE),
            "chunk": In(CHUNK_BITS),
            "load": In(1),
            "restart": In(1),
            "step": In(1),
            "asks": Out(1),
            "is_blocked": Out(1),
            "value": Out(8),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the loop of offset, shifter and table; the value is put together behind it."""
        m = Module()
        m.submodules.table_memory = memory = Memory(shape=_ENTRY, depth=TABLE_ENTRIES, init=[])
        write, read = memory.write_port(), memory.read_port(domain="comb")
        current, following = (
            Signal(CHUNK_BITS, name=name, reset_less=True) for name in ("current", "following")
        )
        offset = Signal(_OFFSET_BITS)
        end = Signal(_OFFSET_BITS + 1)
        peek = Signal(_PEEK_BITS)
        m.d.comb += [
            write.addr.eq(self.table.address),
            write.data.eq(self.table.entry),
            write.en.eq(self.table.enable),
            peek.eq(shifted(m, Cat(current, following), offset, _PEEK_BITS)),
            read.addr.eq(peek),
            end.eq(offset + read.data.length),
            self.asks.eq(end[-1]),
            self.is_blocked.eq(offset >= _BLOCKED_OFFSET),
        ]
        with m.If(self.step):
            m.d.sync += offset.eq(end)
        with m.If(self.restart):
            m.d.sync += offset.eq(self.first_offset)
        with m.If(self.restart | (self.step & self.asks)):
            m.d.sync += current.eq(following)
        with m.If(self.load):
            m.d.sync += following.eq(self.chunk)

        peek_s1 = Signal(_PEEK_BITS, reset_less=True)
        entry_s1 = Signal(_ENTRY, reset_less=True)
        with m.If(self.step):
            m.d.sync += [peek_s1.eq(peek), entry_s1.eq(read.data)]
        range_bits = Signal(range(MAX_RANGE_BITS + 1))
        m.d.comb += range_bits.eq(entry_s1.length - entry_s1.prefix)
        low = shifted(m, peek_s1, entry_s1.prefix, MAX_RANGE_BITS)
        m.d.comb += self.value.eq(entry_s1.base)
        for bit in range(MAX_RANGE_BITS):
            with m.If(bit < range_bits):
                m.d.comb += self.value[bit].eq(low[bit])
        return m

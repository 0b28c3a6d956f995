"""Memory of the tables by which bytes behind a convolution are added."""

from amaranth import Cat, Module, Mux, Signal, Value, signed
from amaranth.lib import stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from kiwicha.contract.engine import FUSED_BITS, OUTPUT_BYTES, TABLE_ENTRIES
from kiwicha.gateware.engine.fused.interfaces import TABLE_WRITE

__all__ = ["FusedTables"]

_INT32_BITS = 32


class FusedTables(wiring.Component):
    """Two tables in each of two banks: one is read while the other is filled.

    Latency: 1 cycle from a byte to its term. Throughput: a byte of each tensor and a write per
    cycle.

    Parameters
    ----------
    outputs : int
        Results of a beat of the array: 4, 8 or 16.

    Members
    -------
    writes : ``In(stream.Signature(TABLE_WRITE, always_ready=True))``
        Entries of the next tables.
    ends : ``In(1)``
        These are complete.
    turns : ``In(1)``
        What is read from the next cycle on are the oldest tables that were not read.
    first, second : ``In(8)``
        A byte of either tensor.
    first_term, second_term : ``Out(signed(FUSED_BITS))``
        What they add to the sum.
    """

    def __init__(self, *, outputs: int) -> None:
        self.outputs = outputs
        super().__init__({
            "writes": In(stream.Signature(TABLE_WRITE, always_ready=True)),
            "ends": In(1),
            "turns": In(1),
            "first": In(8),
            "second": In(8),
            "first_term": Out(signed(FUSED_BITS)),
            "second_term": Out(signed(FUSED_BITS)),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the memories: with two entries in a write, one for even and one for odd entries."""
        m = Module()
        write_bank = Signal()
        # Before the first tables it is the other one.
        read_bank = Signal(init=1)
        with m.If(self.ends):
            m.d.sync += write_bank.eq(~write_bank)
        with m.If(self.turns):
            m.d.sync += read_bank.eq(~read_bank)
        entries = max(self.outputs // OUTPUT_BYTES, 1)
        bits = (entries - 1).bit_length()
        payload = self.writes.payload
        for table, (octet, term) in enumerate((
            (self.first, self.first_term),
            (self.second, self.second_term),
        )):
            found: list[Value] = []
            is_written = payload.is_second if table else payload.is_first
            for entry in range(entries):
                m.submodules[f"table_{table}_{entry}"] = memory = Memory(
                    shape=signed(FUSED_BITS), depth=2 * TABLE_ENTRIES // entries, init=[]
                )
                write, read = memory.write_port(), memory.read_port()
                number = 0 if self.outputs < OUTPUT_BYTES else 2 * entry + table
                index_bits = len(octet) - bits
                m.d.comb += [
                    write.addr.eq(Cat(payload.index[:index_bits], write_bank)),
                    write.data.eq(payload.data.word_select(number, _INT32_BITS)),
                    write.en.eq(self.writes.valid & is_written),
                    read.addr.eq(Cat(octet[bits:], read_bank)),
                    read.en.eq(1),
                ]
                found.append(read.data)
            if entries == 1:
                m.d.comb += term.eq(found[0])
                continue
            is_odd = Signal(name=f"is_odd_{table}")
            m.d.sync += is_odd.eq(octet[0])
            m.d.comb += term.eq(Mux(is_odd, found[1], found[0]))
        return m

"""Memories of the weights of two groups, one for each lane of the array."""

from amaranth import Cat, Module, Mux, Signal, Value, signed
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from kiwicha.contract.codec import BEAT_BYTES
from kiwicha.contract.configs import RESIDENT_WORDS
from kiwicha.contract.engine import DEEP_MACS, has_packed, outputs_of
from kiwicha.gateware.engine.array.interfaces import LANES, OPERAND_BITS, PACKED_WEIGHT_BITS
from kiwicha.gateware.engine.fused.interfaces import TABLE_WRITE
from kiwicha.gateware.engine.weights.interfaces import RESIDENT_BITS

__all__ = ["WeightMemory"]


class WeightMemory(wiring.Component):
    """Weight words: written in beats, less the zero point, and read by each lane at its time.

    Latency: ``index`` to ``weights`` `WEIGHT_READ_CYCLES`, for lane l of CONV l more; a beat can be
    read 2 cycles after it is taken. Throughput: a beat and a read per cycle.

    Parameters
    ----------
    macs : int
        Products per cycle of the array: 32, 64, 128 or 256.
    depth : int
        Words of both banks together.
    has_pairs : bool
        Beats can come two at a time.
    is_resident : bool
        Words can be kept.

    Members
    -------
    takes : ``In(1)``
        Write (a chunk of) ``beat``.
    is_fused : ``In(1)``
        Not here, but as ``table_writes``.
    beat : ``In(128)``
        Weights; with ``has_pairs`` 256 bits, as of the `FillSignature`.
    is_pair, wraps
        Only with ``has_pairs``: as of the `FillSignature`.
    word, part, chunk
        Which word of the bank is written, which beat of the word, and of a table which chunk of the
        beat. With 128 and 256 the uppermost bit of ``part`` says that the weights are packed ones.
    write_bank : ``In(1)``
        Bank that is written.
    zero_point, is_unsigned, is_table
        As of the `FillSignature`.
    reduced : ``Out(ArrayLayout(signed(9), 16))``
        The bytes of ``beat`` two cycles ago, less the zero point.
    writes_kept, kept_word
        Only with ``is_resident``: a word that is kept is written instead of one of the bank.
    reads_kept, kept_index
        Likewise: such a word is read instead of ``index``.
    table_writes, bank, index, is_skewed, is_lookup, entries, weights, packed_weights
        As of the `WeightBuffer`.
    """

    def __init__(
        self, *, macs: int, depth: int, has_pairs: bool = False, is_resident: bool = False
    ) -> None:
        self.depth = depth
        self.has_pairs = has_pairs
        self.beat_bytes = (2 if has_pairs else 1) * BEAT_BYTES
        self.outputs = outputs_of(macs)
        self.has_packed = has_packed(macs)
        self.is_deep = macs == DEEP_MACS
        self.parts = LANES * self.outputs // BEAT_BYTES
        lane_weights = data.ArrayLayout(signed(OPERAND_BITS), self.outputs)
        self.is_resident = is_resident
        # What is kept lies behind both banks.
        self.words = depth + (RESIDENT_WORDS if is_resident else 0)
        kept = {
            "writes_kept": In(1),
            "kept_word": In(RESIDENT_BITS),
            "reads_kept": In(1),
            "kept_index": In(RESIDENT_BITS),
        }
        packed = data.ArrayLayout(signed(PACKED_WEIGHT_BITS), self.outputs)
        super().__init__({
            **({"packed_weights": Out(data.ArrayLayout(packed, LANES))} if self.has_packed else {}),
            **({"is_pair": In(1), "wraps": In(1)} if has_pairs else {}),
            **(kept if is_resident else {}),
            "takes": In(1),
            "is_fused": In(1),
            "beat": In(8 * self.beat_bytes),
            "word": In(range(depth // 2)),
            "part": In(range(2 * self.parts if self.has_packed else self.parts)),
            "chunk": In(range(BEAT_BYTES // self.outputs)),
            "write_bank": In(1),
            "zero_point": In(signed(9)),
            "is_unsigned": In(1),
            "is_table": In(1),
            "reduced": Out(data.ArrayLayout(signed(OPERAND_BITS), BEAT_BYTES)),
            "table_writes": Out(stream.Signature(TABLE_WRITE, always_ready=True)),
            "bank": In(1),
            "index": In(range(depth // 2)),
            "is_skewed": In(1),
            "is_lookup": In(1),
            "entries": In(data.ArrayLayout(8, self.outputs)),
            "weights": Out(data.ArrayLayout(lane_weights, LANES)),
        })

    def elaborate(self, platform: object) -> Module:
        """Build a memory per lane; registers stand before and after the subtraction."""
        m = Module()
        raw_s1 = Signal(8 * self.beat_bytes, reset_less=True)
        bank_word = Signal(range(self.depth // 2))
        chunk_bits = 8 * self.outputs
        part_of_word = self.part[: (self.parts - 1).bit_length()]
        m.d.comb += bank_word.eq(
            Mux(self.is_table, Cat(self.chunk[-1:], part_of_word, self.word), self.word)
        )
        takes_s1 = Signal()
        is_table_write = Signal()
        takes_s2 = Signal()
        address_s1, address_s2 = (
            Signal(range(self.words), name=f"write_address_s{k}", reset_less=True) for k in (1, 2)
        )
        part_s1, part_s2 = (
            Signal(self.part.shape(), name=f"part_s{k}", reset_less=True) for k in (1, 2)
        )
        weights_s2 = [
            Signal(signed(OPERAND_BITS), name=f"weight_s2_{k}", reset_less=True)
            for k in range(self.beat_bytes)
        ]
        raw: Value = self.beat
        if len(self.chunk):
            chunk = self.beat[: 8 * BEAT_BYTES].word_select(self.chunk, chunk_bits)
            raw = Mux(self.is_table, chunk.replicate(self.beat_bytes // self.outputs), raw)
        is_table_s1 = Signal()
        is_table_s2 = Signal()
        m.d.sync += [is_table_s1.eq(self.is_table), is_table_s2.eq(is_table_s1)]
        is_pair_s1 = Signal()
        is_pair_s2 = Signal()
        if self.has_pairs:
            m.d.sync += [is_pair_s1.eq(self.is_pair), is_pair_s2.eq(is_pair_s1)]
        m.d.sync += [
            raw_s1.eq(raw),
            takes_s1.eq(self.takes & ~self.is_fused),
            is_table_write.eq(self.takes & self.is_fused),
            takes_s2.eq(takes_s1),
            address_s1.eq(self._write_address(bank_word)),
            address_s2.eq(address_s1),
            part_s1.eq(Mux(self.is_table, self.chunk, self.part)),
            part_s2.eq(part_s1),
        ]
        self._write_tables(m, is_table_write, part_s1, address_s1[: len(bank_word)], raw_s1)
        for k, weight_s2 in enumerate(weights_s2):
            m.d.sync += weight_s2.eq(self._reduced(raw_s1.word_select(k, 8)))
            if k < BEAT_BYTES:
                m.d.comb += self.reduced[k].eq(weight_s2)

        lanes_per_part = BEAT_BYTES // self.outputs
        fills_all = is_table_s2 & (self.outputs >= LANES)
        read_addresses = self._read_addresses(m)
        for lane in range(LANES):
            own_part = lane // lanes_per_part
            first = lane % lanes_per_part * self.outputs
            if self.has_pairs:
                first += own_part % 2 * BEAT_BYTES
            targets: list[tuple[str, int, Value]] = [("lane", 0, self.weights[lane])]
            if self.has_packed:
                packed = Signal(OPERAND_BITS * self.outputs, name=f"packed_{lane}")
                targets.append(("packed_lane", self.parts, packed))
                for number, weight in enumerate(self.packed_weights[lane]):
                    m.d.comb += weight.eq(packed.word_select(number, OPERAND_BITS))
            for name, first_part, target in targets:
                m.submodules[f"{name}_{lane}"] = memory = Memory(
                    shape=OPERAND_BITS * self.outputs, depth=self.words, init=[]
                )
                write, read = memory.write_port(), memory.read_port()
                is_addressed = part_s2 == first_part + own_part
                if own_part % 2:
                    is_addressed |= is_pair_s2 & (part_s2 == first_part + own_part - 1)
                if not first_part or self.is_deep:
                    is_addressed |= fills_all
                address = read_addresses[LANES + lane if first_part and self.is_deep else lane]
                m.d.comb += [
                    write.addr.eq(address_s2),
                    write.data.eq(Cat(weights_s2[first : first + self.outputs])),
                    write.en.eq(takes_s2 & is_addressed),
                    read.addr.eq(address),
                    read.en.eq(1),
                    target.eq(read.data),
                ]
        return m

    def _write_tables(
        self, m: Module, is_table_write: Signal, part_s1: Signal, index_s1: Value, raw_s1: Signal
    ) -> None:
        """Give out the entries of tables of FUSED jobs."""
        entry = self.table_writes.payload
        # With 4 outputs a beat has four chunks, which are the halves of two entries.
        has_halves = len(self.chunk) > 1
        m.d.comb += [
            self.table_writes.valid.eq(is_table_write),
            entry.is_first.eq(~part_s1[0] if has_halves else 1),
            entry.is_second.eq(part_s1[0] if has_halves else 1),
            entry.index.eq(index_s1),
            entry.data.eq(raw_s1),
        ]

    def _reduced(self, octet: Value) -> Value:
        """Return the weight of a byte, less the zero point."""
        extended = Cat(octet, octet[-1] & ~self.is_unsigned).as_signed()
        reduced = extended - self.zero_point
        if not self.has_pairs:
            return reduced
        return Cat(
            reduced[: OPERAND_BITS - 1],
            Mux(self.wraps, reduced[OPERAND_BITS - 2], reduced[OPERAND_BITS - 1]),
        )

    def _read_addresses(self, m: Module) -> list[Signal]:
        """Return the address that each lane reads, one cycle after ``index`` or later.

        Where each output has a memory of its own for lookups, those of packed weights too.
        """
        addresses = []
        packed_addresses = []
        skewed = self._or_kept(Cat(self.index, self.bank))
        for lane in range(LANES):
            if lane > 0:
                following = Signal(
                    range(self.words), name=f"skewed_address_{lane}", reset_less=True
                )
                m.d.sync += following.eq(skewed)
                skewed = following
            address = Signal(range(self.words), name=f"lane_address_{lane}", reset_less=True)
            entry = Signal(range(self.depth // 2), name=f"entry_{lane}")
            # With two entries in a word, its number.
            first_bit = 1 if self.is_deep else 0
            m.d.comb += entry.eq(self.entries[lane % self.outputs][first_bit:])
            direct = Cat(Mux(self.is_lookup, entry, self.index), self.bank)
            m.d.sync += address.eq(Mux(self.is_skewed, skewed, self._or_kept(direct)))
            addresses.append(address)
            if self.is_deep:
                packed_address = Signal(
                    range(self.words), name=f"packed_address_{lane}", reset_less=True
                )
                packed_entry = self.entries[LANES + lane][first_bit:]
                direct = Cat(
                    Mux(self.is_lookup, packed_entry, self.index)[: len(self.index)], self.bank
                )
                direct = self._or_kept(direct)
                m.d.sync += packed_address.eq(Mux(self.is_skewed, skewed, direct))
                packed_addresses.append(packed_address)
        return addresses + packed_addresses

    def _write_address(self, bank_word: Signal) -> Value:
        """Return the address that is written."""
        address = Cat(bank_word, self.write_bank)
        if not self.is_resident:
            return address
        return Mux(self.writes_kept, self.kept_word + self.depth, address)

    def _or_kept(self, address: Value) -> Value:
        """Return the address of a word of a bank, or of one that is kept."""
        if not self.is_resident:
            return address
        return Mux(self.reads_kept, self.kept_index + self.depth, address)

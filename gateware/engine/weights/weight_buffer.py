"""Weights and parameters of two groups: one is used while the next is filled."""

from amaranth import Cat, Const, Module, Mux, Signal, Value, signed
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from kiwicha.contract.engine import PACKED_MACS, outputs_of
from kiwicha.contract.latencies import RELEASE_CYCLES
from kiwicha.gateware.engine.array.mac_array import ARRAY_SIZES, LANES
from kiwicha.gateware.engine.array.mac_cell import OPERAND_BITS, SECOND_BITS
from kiwicha.gateware.engine.requantize.requantizer import PARAMETERS
from kiwicha.gateware.engine.weights.parameter_memory import (
    FIELDS,
    PARAMETER_BLOCK,
    ParameterMemory,
)

__all__ = ["BEAT_BYTES", "WeightBuffer"]

BEAT_BYTES = 16
_MAX_DEPTH = 1024


class WeightBuffer(wiring.Component):
    """Ping-pong memory of weight words and channel parameters.

    A *group* is what one pass over the pixels needs. Two *banks* hold one each. A fill starts with
    a command, once a bank is free; then come the parameters, then the weights. When the last beat
    is written the bank is *full*. The oldest full bank is the one that is read; ``release`` gives
    it back, and the reads of the next operation go to the other.

    Order of a fill's beats, 16 bytes each, byte 0 least significant. Parameters: per 4 channels a
    beat of 4 biases, one of 4 multipliers and one of 4 shifts, int32 each. Weights: word after word
    of ``8 * outputs`` bytes; byte ``lane * outputs + o`` is the weight of cell ``lane`` of chain
    pair ``o``. What is stored is the byte minus ``zero_point``, 9 bits.

    Latency: ``index`` to ``weights`` `WEIGHT_READ_CYCLES`, for lane l of CONV l more;
    ``parameter_beat`` to ``parameters`` 1 cycle. Throughput: one read of either and one beat of a
    fill per cycle. A bank is full `WEIGHTS_READY_CYCLES` after its last beat.

    With ``is_table`` the weights are a table: each beat has two entries of 8 bytes, and all lanes
    get them; with 4 outputs, lanes 0 to 3 get the first half of each and lanes 4 to 7 the second.
    Such a beat takes ``16 / outputs`` cycles. With ``is_lookup`` each lane reads an entry of its
    own instead of a word.

    With ``is_packed``, only with 128, words of a fill are twice as long: a word of ``weights``,
    then one of ``seconds``.

    Parameters
    ----------
    macs : int
        Products per cycle of the array: 32, 64 or 128.
    lanes : int or None
        Channels whose parameters are read together: 4, or one for each output, which None is.
    depth : int
        Words of both banks together: a power of two from 16 to 1024.

    Members
    -------
    commands : ``In(stream.Signature(StructLayout(blocks, words)))``
        Start a fill of ``3 * blocks`` beats of parameters, 0 to outputs / 2 blocks, and of
        ``words`` weight words, 1 to depth / 2. Taken when a bank is free and no fill is under way.
    beats : ``In(stream.Signature(128))``
        Contents of the fill; taken while one is under way.
    heads : ``In(128)``
        The payload of ``beats`` while it is one of parameters. What decodes weights stands beside
        these, not before.
    zero_point : ``In(signed(9))``
        Weight zero point.
    is_unsigned : ``In(1)``
        Weight bytes are 0 to 255, else -128 to 127.
    is_table : ``In(1)``
        The weights of a fill are tables.
    is_packed : ``In(1)``
        Only with 128: a fill has words of both kinds. These four are stable from a command until
        its bank is full.
    is_available : ``Out(1)``
        A full bank is there that was not taken.
    take : ``In(1)``
        Take it: its reads come later, after those of the banks that were taken before. Only with
        ``is_available``.
    bank : ``Out(1)``
        The bank that ``index`` reads.
    is_skewed : ``In(1)``
        Lane l is read l cycles later, as CONV wants it; stable while words are read.
    index : ``In(range(depth // 2))``
        Word to read.
    is_lookup : ``In(1)``
        The lanes read ``entries``; stable like ``is_skewed``, which must be 0.
    entries : ``In(ArrayLayout(8, outputs))``
        Entry to read, for lane l: ``entries[l % outputs]``; same latency as ``index``.
    weights : ``Out(ArrayLayout(ArrayLayout(signed(9), outputs), 8))``
        ``weights[lane][o]``.
    seconds : ``Out(ArrayLayout(ArrayLayout(signed(8), outputs), 8))``
        Only with 128: ``seconds[lane][o]``, of the same index.
    parameter_bank : ``In(1)``
    parameter_beat : ``In(range(2 * outputs // lanes))``
        Which bank, and which ``lanes`` channels of it.
    parameters : ``Out(ArrayLayout(PARAMETERS, lanes))``
        Their parameters.
    release : ``In(1)``
        With the ``index`` of the last read of the bank. The bank is free again `RELEASE_CYCLES`
        cycles later; its parameters can be read until then.

    Raises
    ------
    ValueError
        If a parameter is not such a number.
    """

    def __init__(self, *, macs: int, lanes: int | None = None, depth: int = 512) -> None:
        if macs not in ARRAY_SIZES:
            raise ValueError(f"macs must be one of {ARRAY_SIZES}, not {macs!r}")
        is_valid = isinstance(depth, int) and 16 <= depth <= _MAX_DEPTH
        if not is_valid or depth & (depth - 1):
            raise ValueError(f"depth must be a power of two from 16 to {_MAX_DEPTH}, not {depth!r}")
        self.macs = macs
        self.depth = depth
        self.outputs = outputs_of(macs)
        self.has_seconds = macs == PACKED_MACS
        self.lanes = self.outputs if lanes is None else lanes
        if self.lanes % PARAMETER_BLOCK or self.outputs % self.lanes:
            raise ValueError(f"lanes must be 4 or {self.outputs}, not {lanes!r}")
        self.blocks = 2 * self.outputs // PARAMETER_BLOCK
        lane_weights = data.ArrayLayout(signed(OPERAND_BITS), self.outputs)
        command = data.StructLayout({
            "blocks": range(self.blocks + 1),
            "words": range(depth // 2 + 1),
        })
        seconds = data.ArrayLayout(signed(SECOND_BITS), self.outputs)
        packed = {"is_packed": In(1), "seconds": Out(data.ArrayLayout(seconds, LANES))}
        super().__init__({
            **(packed if self.has_seconds else {}),
            "commands": In(stream.Signature(command)),
            "beats": In(stream.Signature(8 * BEAT_BYTES)),
            "heads": In(8 * BEAT_BYTES),
            "zero_point": In(signed(9)),
            "is_unsigned": In(1),
            "is_table": In(1),
            "is_available": Out(1),
            "take": In(1),
            "bank": Out(1),
            "is_skewed": In(1),
            "is_lookup": In(1),
            "entries": In(data.ArrayLayout(8, self.outputs)),
            "index": In(range(depth // 2)),
            "weights": Out(data.ArrayLayout(lane_weights, LANES)),
            "parameter_bank": In(1),
            "parameter_beat": In(range(2 * self.outputs // self.lanes)),
            "parameters": Out(data.ArrayLayout(PARAMETERS, self.lanes)),
            "release": In(1),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the fill, both memories and the exchange of banks."""
        m = Module()
        fill_bank = Signal()
        ends = Signal()
        self._exchange(m, fill_bank, ends)
        blocks_left = Signal(self.commands.payload.blocks.shape())
        words_left = Signal(self.commands.payload.words.shape())
        field = Signal(range(FIELDS))
        block = Signal(range(self.blocks))
        # With two kinds of words the uppermost bit is the kind.
        part = Signal(range(2 * self._parts if self.has_seconds else self._parts))
        word = Signal(range(self.depth // 2))
        is_open, takes_parameters, takes_weights, ends_beat = (
            Signal(name=name)
            for name in ("is_open", "takes_parameters", "takes_weights", "ends_beat")
        )
        chunk = Signal(range(BEAT_BYTES // self.outputs))
        m.d.comb += [
            takes_parameters.eq(self.beats.valid & is_open & blocks_left.any()),
            takes_weights.eq(self.beats.valid & is_open & ~blocks_left.any()),
            ends_beat.eq(~self.is_table | blocks_left.any() | chunk.all()),
            self.beats.ready.eq(is_open & ends_beat),
        ]
        with m.If(self.commands.valid & self.commands.ready):
            command = self.commands.payload
            m.d.sync += [blocks_left.eq(command.blocks), words_left.eq(command.words)]
            m.d.sync += [is_open.eq(1), block.eq(0), word.eq(0), chunk.eq(0)]
        with m.If(takes_parameters):
            m.d.sync += field.eq(field + 1)
            with m.If(field == FIELDS - 1):
                m.d.sync += [field.eq(0), block.eq(block + 1), blocks_left.eq(blocks_left - 1)]
        with m.If(takes_weights):
            m.d.sync += chunk.eq(chunk + 1)
        with m.If(takes_weights & ends_beat):
            m.d.sync += part.eq(part + 1)
            last_part: Value = Const(self._parts - 1)
            if self.has_seconds:
                last_part = Mux(self.is_packed, 2 * self._parts - 1, self._parts - 1)
            with m.If(part == last_part):
                m.d.sync += [part.eq(0), word.eq(word + 1), words_left.eq(words_left - 1)]
                with m.If(words_left == 1):
                    m.d.sync += is_open.eq(0)
                    m.d.comb += ends.eq(1)
        m.submodules.parameters = parameters = ParameterMemory(
            lanes=self.lanes, beats=2 * self.outputs // self.lanes
        )
        m.d.comb += [
            parameters.write.eq(takes_parameters),
            parameters.write_bank.eq(fill_bank),
            parameters.block.eq(block),
            parameters.field.eq(field),
            parameters.beat.eq(self.heads),
            parameters.read_bank.eq(self.parameter_bank),
            parameters.read_beat.eq(self.parameter_beat),
            self.parameters.eq(parameters.parameters),
        ]
        self._weight_memory(m, takes_weights, fill_bank, word, part, chunk)
        return m

    @property
    def _parts(self) -> int:
        """Beats per word of ``weights``."""
        return LANES * self.outputs // BEAT_BYTES

    def _exchange(self, m: Module, fill_bank: Signal, ends: Signal) -> None:
        """Count full and free banks; the written bank is full when its last word is readable."""
        full = Signal(range(3))
        is_filling = Signal()
        ends_s1 = Signal()
        ends_s2 = Signal()
        released_bank = Signal()
        releases = Signal(RELEASE_CYCLES)
        is_busy = Signal(2)
        m.d.sync += [
            ends_s1.eq(ends),
            ends_s2.eq(ends_s1),
            releases.eq(Cat(self.release, releases)),
        ]
        m.d.comb += [
            self.is_available.eq(full.any()),
            self.commands.ready.eq(~is_filling & ~is_busy.bit_select(fill_bank, 1)),
        ]
        m.d.sync += full.eq(full + ends_s2 - self.take)
        # Busy: from the command until the delay after the release.
        with m.If(releases[-1]):
            m.d.sync += is_busy.bit_select(released_bank, 1).eq(0)
            m.d.sync += released_bank.eq(~released_bank)
        with m.If(self.commands.valid & self.commands.ready):
            m.d.sync += [is_filling.eq(1), is_busy.bit_select(fill_bank, 1).eq(1)]
        with m.If(ends_s2):
            m.d.sync += [is_filling.eq(0), fill_bank.eq(~fill_bank)]
        with m.If(self.release):
            m.d.sync += self.bank.eq(~self.bank)

    def _weight_memory(
        self,
        m: Module,
        takes: Signal,
        fill_bank: Signal,
        word: Signal,
        part: Signal,
        chunk: Signal,
    ) -> None:
        """Build a memory per lane; registers stand before and after the subtraction."""
        raw_s1 = Signal(8 * BEAT_BYTES, reset_less=True)
        bank_word = Signal(range(self.depth // 2))
        chunk_bits = 8 * self.outputs
        part_of_word = part[: (self._parts - 1).bit_length()]
        m.d.comb += bank_word.eq(Mux(self.is_table, Cat(chunk[-1], part_of_word, word), word))
        takes_s1 = Signal()
        takes_s2 = Signal()
        address_s1, address_s2 = (
            Signal(range(self.depth), name=f"write_address_s{k}", reset_less=True) for k in (1, 2)
        )
        part_s1, part_s2 = (Signal.like(part, name=f"part_s{k}", reset_less=True) for k in (1, 2))
        weights_s2 = [
            Signal(signed(OPERAND_BITS), name=f"weight_s2_{k}", reset_less=True)
            for k in range(BEAT_BYTES)
        ]
        m.d.sync += [
            raw_s1.eq(
                Mux(
                    self.is_table,
                    self.beats.payload.word_select(chunk, chunk_bits).replicate(
                        BEAT_BYTES // self.outputs
                    ),
                    self.beats.payload,
                )
            ),
            takes_s1.eq(takes),
            takes_s2.eq(takes_s1),
            address_s1.eq(Cat(bank_word, fill_bank)),
            address_s2.eq(address_s1),
            part_s1.eq(Mux(self.is_table, chunk, part)),
            part_s2.eq(part_s1),
        ]
        for k, weight_s2 in enumerate(weights_s2):
            octet = raw_s1.word_select(k, 8)
            extended = Cat(octet, octet[-1] & ~self.is_unsigned).as_signed()
            m.d.sync += weight_s2.eq(extended - self.zero_point)

        lanes_per_part = BEAT_BYTES // self.outputs
        fills_all = self.is_table & (self.outputs == LANES)
        read_address: Value = Cat(self.index, self.bank)
        for lane in range(LANES):
            if lane > 0:
                following = Signal(range(self.depth), name=f"skewed_address_{lane}")
                m.d.sync += following.eq(read_address)
                read_address = following
            lane_address = Signal(range(self.depth), name=f"lane_address_{lane}")
            entry = Signal(range(self.depth // 2), name=f"entry_{lane}")
            m.d.comb += entry.eq(self.entries[lane % self.outputs])
            direct = Cat(Mux(self.is_lookup, entry, self.index), self.bank)
            m.d.sync += lane_address.eq(Mux(self.is_skewed, read_address, direct))
            first = lane % lanes_per_part * self.outputs
            targets: list[tuple[str, int, Value]] = [("lane", 0, self.weights[lane])]
            if self.has_seconds:
                second = Signal(OPERAND_BITS * self.outputs, name=f"second_{lane}")
                targets.append(("second_lane", self._parts, second))
                for number, weight in enumerate(self.seconds[lane]):
                    m.d.comb += weight.eq(second.word_select(number, OPERAND_BITS))
            for name, first_part, target in targets:
                m.submodules[f"{name}_{lane}"] = memory = Memory(
                    shape=OPERAND_BITS * self.outputs, depth=self.depth, init=[]
                )
                write, read = memory.write_port(), memory.read_port()
                is_addressed = part_s2 == first_part + lane // lanes_per_part
                if not first_part:
                    is_addressed |= fills_all
                m.d.comb += [
                    write.addr.eq(address_s2),
                    write.data.eq(Cat(weights_s2[first : first + self.outputs])),
                    write.en.eq(takes_s2 & is_addressed),
                    read.addr.eq(lane_address),
                    read.en.eq(1),
                    target.eq(read.data),
                ]

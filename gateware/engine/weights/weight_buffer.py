"""Weights and parameters of two groups: one is used while the next is filled."""

from amaranth import Cat, Const, Module, Mux, Signal, Value, signed
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from kiwicha.contract.codec import BEAT_BYTES
from kiwicha.contract.depthwise import PARAMETER_PLACES, UNIT_CHANNELS
from kiwicha.contract.engine import has_packed, outputs_of
from kiwicha.contract.latencies import WEIGHTS_RELEASE_CYCLES, release_cycles
from kiwicha.gateware.engine.array.interfaces import (
    ARRAY_SIZES,
    LANES,
    OPERAND_BITS,
    PACKED_WEIGHT_BITS,
)
from kiwicha.gateware.engine.fused.interfaces import TABLE_WRITE
from kiwicha.gateware.engine.requantize.interfaces import PARAMETERS
from kiwicha.gateware.engine.weights.interfaces import (
    FIELDS,
    PARAMETER_BLOCK,
    RESIDENT_BITS,
    UNIT_PARAMETERS,
    FillSignature,
)
from kiwicha.gateware.engine.weights.parameter_memory import ParameterMemory
from kiwicha.gateware.engine.weights.weight_memory import WeightMemory

__all__ = ["WeightBuffer"]

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
    pair ``o``. What is stored is the byte minus the fill's ``zero_point``, 9 bits.

    Latency: ``index`` to ``weights`` `WEIGHT_READ_CYCLES`, for lane l of CONV l more;
    ``parameter_beat`` to ``parameters`` 1 cycle. Throughput: one read of either and one beat of a
    fill per cycle. A bank is full `WEIGHTS_READY_CYCLES` after its last beat, and its last word can
    be read a cycle later. With ``has_pairs`` weights are written while parameters of the bank's
    last group are still read, and biases wait until they were: the bank is not full before.

    With ``is_table`` the weights are a table: each beat has two entries of 8 bytes, and all lanes
    get them; with 4 outputs, lanes 0 to 3 get the first half of each and lanes 4 to 7 the second;
    with 16, the memories of packed weights too. Such a beat takes ``16 / outputs`` cycles, and is
    never one of a pair. With ``is_lookup`` each lane reads an entry of its own instead of a word.

    With ``is_packed``, only with 128 and 256, words of a fill are twice as long: a word of
    ``weights``, then one of ``packed_weights``.

    Parameters
    ----------
    macs : int
        Products per cycle of the array: 32, 64, 128 or 256.
    lanes : int or None
        Channels whose parameters are read together: 4, or one for each output, which None is.
    depth : int
        Words of both banks together: a power of two from 16 to 1024.
    has_pairs : bool
        Beats can come two at a time; with 8 lanes.
    is_resident : bool
        With pairs: `RESIDENT_WORDS` more words can be kept, whatever fills come.
    has_depthwise : bool
        It holds the parameters of the depthwise unit, whose fills it leaves alone.

    Members
    -------
    fill : ``In(FillSignature(outputs=outputs, words=depth // 2, has_pairs=has_pairs))``
        Contents of the groups.
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
    reads_kept, kept_index
        Only with ``is_resident``: this word, which is kept, is read instead of ``index``.
        ``reads_kept`` is stable like ``is_skewed``.
    is_lookup : ``In(1)``
        The lanes read ``entries``; stable like ``is_skewed``, which must be 0.
    entries : ``In(ArrayLayout(8, outputs))``
        Entry to read, for lane l: ``entries[l % outputs]``; same latency as ``index``. With 16
        outputs the word with entry ``entries[l]``, and for packed weights ``entries[l + 8]``.
    weights : ``Out(ArrayLayout(ArrayLayout(signed(9), outputs), 8))``
        ``weights[lane][o]``.
    packed_weights : ``Out(ArrayLayout(ArrayLayout(signed(8), outputs), 8))``
        Only with 128 and 256: ``packed_weights[lane][o]``, of the same index.
    table_writes : ``Out(stream.Signature(TABLE_WRITE, always_ready=True))``
        Entries of tables of FUSED jobs, as they are filled.
    ends_table : ``Out(1)``
        The last of them was written.
    has_table : ``Out(1)``
        There are such tables that were not taken.
    take_table : ``In(1)``
        Take them; only with ``has_table``.
    parameter_bank : ``In(1)``
    parameter_beat : ``In(range(2 * outputs // lanes))``
        Which bank, and which ``lanes`` channels of it.
    parameters : ``Out(ArrayLayout(PARAMETERS, lanes))``
        Their parameters.
    unit_parameters, reads_unit, unit_place : ``In``
        Only with ``has_depthwise``: as of the `UnitFillSignature`; ``parameters`` are those of a
        place of the unit instead.
    reduced : ``Out(ArrayLayout(signed(9), 16))``
        The bytes of the beat two cycles ago, less the zero point.
    release : ``In(1)``
        With the ``index`` of the last read of the bank. The bank is free again `release_cycles`
        cycles later, with ``has_pairs`` `WEIGHTS_RELEASE_CYCLES`; its parameters can be read for
        `release_cycles`.

    Raises
    ------
    ValueError
        If a parameter is not such a number.
    """

    def __init__(
        self,
        *,
        macs: int,
        lanes: int | None = None,
        depth: int = 512,
        has_pairs: bool = False,
        is_resident: bool = False,
        has_depthwise: bool = False,
    ) -> None:
        if macs not in ARRAY_SIZES:
            raise ValueError(f"macs must be one of {ARRAY_SIZES}, not {macs!r}")
        is_valid = isinstance(depth, int) and 16 <= depth <= _MAX_DEPTH
        if not is_valid or depth & (depth - 1):
            raise ValueError(f"depth must be a power of two from 16 to {_MAX_DEPTH}, not {depth!r}")
        self.macs = macs
        self.depth = depth
        self.has_pairs = has_pairs
        self.is_resident = is_resident
        self.outputs = outputs_of(macs)
        self.has_packed = has_packed(macs)
        self.lanes = self.outputs if lanes is None else lanes
        if self.lanes % PARAMETER_BLOCK or self.outputs % self.lanes:
            raise ValueError(f"lanes must be 4 or {self.outputs}, not {lanes!r}")
        if has_pairs and self.lanes < 2 * PARAMETER_BLOCK:
            raise ValueError(f"lanes must be 8 for pairs, not {self.lanes}")
        self.blocks = 2 * self.outputs // PARAMETER_BLOCK
        lane_weights = data.ArrayLayout(signed(OPERAND_BITS), self.outputs)
        packed = data.ArrayLayout(signed(PACKED_WEIGHT_BITS), self.outputs)
        self.has_depthwise = has_depthwise
        if has_depthwise and self.lanes < UNIT_CHANNELS:
            raise ValueError(f"a depthwise unit must have {UNIT_CHANNELS} lanes, not {self.lanes}")
        if is_resident and not has_pairs:
            raise ValueError("words must come in pairs where they are kept")
        if has_depthwise and has_pairs:
            raise ValueError("a depthwise unit must be without pairs")
        unit = {
            "unit_parameters": In(UNIT_PARAMETERS),
            "reads_unit": In(1),
            "unit_place": In(range(PARAMETER_PLACES)),
        }
        super().__init__({
            **({"packed_weights": Out(data.ArrayLayout(packed, LANES))} if self.has_packed else {}),
            **(unit if has_depthwise else {}),
            **({"reads_kept": In(1), "kept_index": In(RESIDENT_BITS)} if is_resident else {}),
            "fill": In(
                FillSignature(
                    outputs=self.outputs,
                    words=depth // 2,
                    has_pairs=has_pairs,
                    is_resident=is_resident,
                )
            ),
            "is_available": Out(1),
            "take": In(1),
            "bank": Out(1),
            "is_skewed": In(1),
            "is_lookup": In(1),
            "entries": In(data.ArrayLayout(8, self.outputs)),
            "index": In(range(depth // 2)),
            "weights": Out(data.ArrayLayout(lane_weights, LANES)),
            "table_writes": Out(stream.Signature(TABLE_WRITE, always_ready=True)),
            "ends_table": Out(1),
            "has_table": Out(1),
            "take_table": In(1),
            "parameter_bank": In(1),
            "parameter_beat": In(range(2 * self.outputs // self.lanes)),
            "parameters": Out(data.ArrayLayout(PARAMETERS, self.lanes)),
            "reduced": Out(data.ArrayLayout(signed(OPERAND_BITS), BEAT_BYTES)),
            "release": In(1),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the fill, both memories and the exchange of banks."""
        m = Module()
        fill = self.fill
        fill_bank = Signal()
        ends, is_written, has_parameters = (
            Signal(name=name) for name in ("ends", "is_written", "has_parameters")
        )
        m.submodules.weights = memory = WeightMemory(
            macs=self.macs,
            depth=self.depth,
            has_pairs=self.has_pairs,
            is_resident=self.is_resident,
        )
        is_read = self._exchange(m, fill_bank, ends, memory.is_fused)
        blocks_left = Signal(fill.commands.payload.blocks.shape())
        # Any of them: a register, because what decodes waits for what is taken.
        is_block_left = Signal()
        words_left = Signal(fill.commands.payload.words.shape())
        field = Signal(range(FIELDS))
        block = Signal(range(self.blocks))
        # With two kinds of words the uppermost bit is the kind.
        part = Signal(memory.part.shape())
        word = Signal(range(self.depth // 2))
        is_open, takes_parameters, takes_weights, ends_beat, has_biases_only = (
            Signal(name=name)
            for name in (
                *("is_open", "takes_parameters", "takes_weights", "ends_beat"),
                "has_biases_only",
            )
        )
        chunk = Signal(range(BEAT_BYTES // self.outputs))
        parameters = self._parameters(
            m, takes_parameters & ~memory.is_fused, fill_bank, block, field
        )
        has_room = ~parameters.is_blocked if self.has_pairs else Const(1)
        m.d.comb += [
            takes_parameters.eq(fill.beats.valid & is_open & is_block_left & has_room),
            takes_weights.eq(fill.beats.valid & is_open & ~is_block_left),
            ends_beat.eq(Mux(is_block_left, has_room, ~fill.is_table | chunk.all())),
            fill.beats.ready.eq(is_open & ends_beat),
        ]
        with m.If(fill.commands.valid & fill.commands.ready):
            command = fill.commands.payload
            m.d.sync += [
                blocks_left.eq(command.blocks),
                is_block_left.eq(command.blocks.any()),
                words_left.eq(command.words),
                has_biases_only.eq(command.has_biases_only),
                *(is_open.eq(1), block.eq(0), word.eq(0), chunk.eq(0)),
            ]
        with m.If(takes_parameters):
            m.d.sync += field.eq(field + 1)
            with m.If(has_biases_only | (field == FIELDS - 1)):
                written = 1 + fill.is_pair if self.has_pairs else 1
                m.d.sync += [
                    field.eq(0),
                    block.eq(block + written),
                    blocks_left.eq(blocks_left - written),
                ]
                with m.If(blocks_left == written):
                    m.d.sync += is_block_left.eq(0)
                    if self.is_resident:
                        with m.If(~words_left.any()):
                            m.d.sync += is_open.eq(0)
                            m.d.comb += has_parameters.eq(1)
        with m.If(takes_weights):
            m.d.sync += chunk.eq(chunk + 1)
        with m.If(takes_weights & ends_beat):
            # Of a pair the second one.
            place = part | fill.is_pair if self.has_pairs else part
            m.d.sync += part.eq(place + 1)
            last_part: Value = Const(memory.parts - 1)
            if self.has_packed:
                last_part = Mux(fill.is_packed, 2 * memory.parts - 1, memory.parts - 1)
            with m.If(place == last_part):
                m.d.sync += [part.eq(0), word.eq(word + 1), words_left.eq(words_left - 1)]
                with m.If(words_left == 1):
                    m.d.sync += is_open.eq(0)
                    m.d.comb += is_written.eq(1)
        self._end(m, is_written, has_parameters, ends, parameters)
        self._connect_memory(m, memory, takes_weights, word, part, chunk, fill_bank)
        if self.has_pairs:
            self._connect_pairs(m, memory, parameters, is_read, has_biases_only, word)
        return m

    def _connect_memory(
        self,
        m: Module,
        memory: WeightMemory,
        takes: Signal,
        word: Signal,
        part: Signal,
        chunk: Signal,
        fill_bank: Signal,
    ) -> None:
        """Connect what is written and read."""
        fill = self.fill
        wiring.connect(m, memory.table_writes, wiring.flipped(self.table_writes))
        m.d.comb += [
            self.reduced.eq(memory.reduced),
            memory.takes.eq(takes),
            memory.beat.eq(fill.beats.payload),
            memory.word.eq(word),
            memory.part.eq(part),
            memory.chunk.eq(chunk),
            memory.write_bank.eq(fill_bank),
            memory.zero_point.eq(fill.zero_point),
            memory.is_unsigned.eq(fill.is_unsigned),
            memory.is_table.eq(fill.is_table),
            memory.bank.eq(self.bank),
            memory.index.eq(self.index),
            memory.is_skewed.eq(self.is_skewed),
            memory.is_lookup.eq(self.is_lookup),
            memory.entries.eq(self.entries),
            self.weights.eq(memory.weights),
        ]
        if self.has_packed:
            m.d.comb += self.packed_weights.eq(memory.packed_weights)

    def _connect_pairs(
        self,
        m: Module,
        memory: WeightMemory,
        parameters: ParameterMemory,
        is_read: Signal,
        has_biases_only: Signal,
        word: Signal,
    ) -> None:
        """Connect what both memories need for pairs, and for words that are kept."""
        fill = self.fill
        m.d.comb += [
            memory.is_pair.eq(fill.is_pair),
            memory.wraps.eq(fill.wraps),
            parameters.is_read.eq(is_read),
            parameters.has_biases_only.eq(has_biases_only),
        ]
        if self.is_resident:
            m.d.comb += [
                memory.writes_kept.eq(fill.loads),
                memory.kept_word.eq(fill.resident_word + word),
                memory.reads_kept.eq(self.reads_kept),
                memory.kept_index.eq(self.kept_index),
            ]
        with m.If(fill.commands.valid & fill.commands.ready):
            m.d.comb += parameters.has_biases_only.eq(fill.commands.payload.has_biases_only)

    def _end(
        self,
        m: Module,
        is_written: Signal,
        has_parameters: Signal,
        ends: Signal,
        parameters: ParameterMemory,
    ) -> None:
        """End a fill with its last beat, or when its biases have been written too.

        The last beat is one of weights, or, of a fill without any, one of parameters.
        """
        m.d.comb += ends.eq(is_written)
        if self.has_pairs:
            waits = Signal()
            m.d.comb += ends.eq((is_written | waits) & ~parameters.is_waiting)
            still_waits = (is_written | waits) & parameters.is_waiting
            m.d.sync += waits.eq(still_waits | has_parameters)

    def _parameters(
        self,
        m: Module,
        takes: Value,
        fill_bank: Signal,
        block: Signal,
        field: Signal,
    ) -> ParameterMemory:
        """Build the memory of parameters."""
        m.submodules.parameters = parameters = ParameterMemory(
            lanes=self.lanes,
            beats=2 * self.outputs // self.lanes,
            has_pairs=self.has_pairs,
            places=PARAMETER_PLACES if self.has_depthwise else 0,
        )
        m.d.comb += [
            parameters.write.eq(takes),
            parameters.write_bank.eq(fill_bank),
            parameters.block.eq(block),
            parameters.field.eq(field),
            parameters.beat.eq(self.fill.parameters),
            parameters.read_bank.eq(self.parameter_bank),
            parameters.read_beat.eq(self.parameter_beat),
            self.parameters.eq(parameters.parameters),
        ]
        if self.has_depthwise:
            unit = self.unit_parameters
            m.d.comb += [
                parameters.writes_place.eq(unit.write),
                parameters.write_place.eq(unit.place),
                parameters.reads_place.eq(self.reads_unit),
                parameters.read_place.eq(self.unit_place),
            ]
            with m.If(unit.write):
                m.d.comb += [
                    parameters.write.eq(1),
                    parameters.block.eq(unit.block),
                    parameters.field.eq(unit.field),
                ]
        if self.has_pairs:
            m.d.comb += parameters.is_pair.eq(self.fill.is_pair)
        return parameters

    def _exchange(self, m: Module, fill_bank: Signal, ends: Signal, is_fused: Signal) -> Signal:
        """Count full and free banks; the last word is written while its bank is taken.

        Fills of tables of FUSED jobs leave the banks as they are. Returns which banks were
        released, and have parameters that are still to be read.
        """
        full = Signal(range(3))
        is_filling = Signal()
        fills_bank = Signal()
        freed_bank = Signal()
        read_bank = Signal()
        releases = Signal(release_cycles(self.outputs, self.lanes))
        frees = Signal()
        ends_reads = Signal()
        is_busy = Signal(2)
        is_read = Signal(2)
        m.d.sync += releases.eq(Cat(self.release, releases))
        m.d.comb += [
            self.is_available.eq(full.any()),
            self.fill.is_idle.eq(~is_filling),
            fills_bank.eq(ends & ~is_fused),
            self.fill.commands.ready.eq(
                ~is_filling
                & ~Mux(
                    self.fill.commands.payload.is_fused,
                    self.has_table | self.ends_table,
                    is_busy.bit_select(fill_bank, 1),
                )
            ),
            ends_reads.eq(releases[-1]),
            frees.eq(releases[WEIGHTS_RELEASE_CYCLES - 1] if self.has_pairs else ends_reads),
        ]
        m.d.sync += full.eq(full + fills_bank - self.take)
        # The last entry is written in this cycle.
        m.d.sync += self.ends_table.eq(ends & is_fused)
        with m.If(self.take_table):
            m.d.sync += self.has_table.eq(0)
        with m.If(self.ends_table):
            m.d.sync += self.has_table.eq(1)
        # Busy: from the command until the delay after the release.
        with m.If(frees):
            m.d.sync += is_busy.bit_select(freed_bank, 1).eq(0)
            m.d.sync += freed_bank.eq(~freed_bank)
        with m.If(ends_reads):
            m.d.sync += is_read.bit_select(read_bank, 1).eq(0)
            m.d.sync += read_bank.eq(~read_bank)
        with m.If(self.fill.commands.valid & self.fill.commands.ready):
            m.d.sync += [is_filling.eq(1), is_fused.eq(self.fill.commands.payload.is_fused)]
            with m.If(~self.fill.commands.payload.is_fused):
                m.d.sync += is_busy.bit_select(fill_bank, 1).eq(1)
        with m.If(ends):
            m.d.sync += is_filling.eq(0)
        with m.If(fills_bank):
            m.d.sync += fill_bank.eq(~fill_bank)
        with m.If(self.release):
            m.d.sync += self.bank.eq(~self.bank)
            m.d.sync += is_read.bit_select(self.bank, 1).eq(1)
        return is_read

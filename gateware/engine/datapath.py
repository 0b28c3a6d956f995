"""The engine's data path: address generator, scratchpad, weights, array and requantizer."""

from typing import Any

from amaranth import Cat, Const, Module, Mux, Signal, Value, signed
from amaranth.lib import data, wiring

from kiwicha.contract.depthwise import (
    UNIT_CHANNELS,
    fabric_chains_of,
    has_own_reads,
    has_own_results,
)
from kiwicha.contract.engine import (
    CARRIED_LANES,
    DEEP_MACS,
    INPUT_LANES,
    OUTPUT_BYTES,
    READ_BYTES,
    TABLE_ENTRY_BYTES,
    JobFlag,
    JobKind,
    SumFlag,
    has_gathered,
    has_packed,
    outputs_of,
)
from kiwicha.contract.latencies import (
    INPUT_CYCLES,
    SCRATCHPAD_READ_CYCLES,
    WEIGHT_READ_CYCLES,
    drain_cycles,
)
from kiwicha.contract.short_elements import ELEMENT_LANES, has_short_elements
from kiwicha.gateware.delay import delayed
from kiwicha.gateware.engine.addressing.address_generator import AddressGenerator
from kiwicha.gateware.engine.addressing.group_controller import GroupController
from kiwicha.gateware.engine.array.interfaces import OPERAND_BITS, ArrayMode
from kiwicha.gateware.engine.array.mac_array import MacArray
from kiwicha.gateware.engine.array.mac_cell import Vendor
from kiwicha.gateware.engine.array.sum_memory import SumMemory
from kiwicha.gateware.engine.byte_units import ByteUnits
from kiwicha.gateware.engine.depthwise.array_watch import ArrayWatch
from kiwicha.gateware.engine.depthwise.depthwise_side import DepthwiseSide
from kiwicha.gateware.engine.depthwise.fill_switch import FillSwitch
from kiwicha.gateware.engine.fused.fused_adder import FusedAdder
from kiwicha.gateware.engine.interfaces import DatapathSignature
from kiwicha.gateware.engine.joined_beats import JoinedBeats
from kiwicha.gateware.engine.memory.scratchpad import Scratchpad
from kiwicha.gateware.engine.requantize.requantizer import Requantizer
from kiwicha.gateware.engine.result_places import RESULT_TAG, count_places, write_lines
from kiwicha.gateware.engine.short_elements.short_element_unit import ShortElementUnit
from kiwicha.gateware.engine.softmax.interfaces import DISTANCE_BITS
from kiwicha.gateware.engine.weights.interfaces import RESIDENT_BITS
from kiwicha.gateware.engine.weights.weight_buffer import WeightBuffer

__all__ = ["Datapath"]

_BYTE = 8
"""Bits by which sums of upper bytes are shifted."""


class Datapath(wiring.Component):
    """Compute jobs, one at a time, on tensors in the scratchpad.

    A job's groups wait for their weights, which come as fills of the weight buffer in the order of
    jobs and groups. Nothing else stalls: what the address generator issues comes out as bytes after
    a fixed time, so the line port takes results first and other accesses when there is none.

    Throughput: as the address generator, from group to group too, if the weights are there 4 cycles
    (and one more for each kernel row above the input) before the last output row of a group ends.
    Latency: 1 cycle from ``start`` to that of the address generator, `drain_cycles` from the last
    operation of a job to ``done``.

    Parameters
    ----------
    macs : int
        Products per cycle, 32, 64, 128 or 256.
    scratchpad_bytes : int
        A multiple of 1024 up to 262144.
    lanes : int or None
        Of the requantizer: 4 instead of 8, or one for each output of the array, which None is.
    has_softmax : bool
        There are SOFTMAX jobs.
    has_blocks : bool
        Weights come in pairs of beats.
    is_resident : bool
        Words of weights can be kept.
    has_depthwise : bool
        There is a `DepthwiseSide`; the requantizer has 8 lanes or more.
    has_int16 : bool
        There are jobs of int16; without a depthwise unit. With 8 outputs or more those of kind
        SHORT_ELEMENTS, too.
    has_recurrent : bool
        There are RECURRENT jobs.
    vendor : Vendor
        What the multipliers are built from.

    Members
    -------
    See `DatapathSignature`.

    Raises
    ------
    ValueError
        If a parameter is out of range.
    """

    def __init__(
        self,
        *,
        macs: int,
        scratchpad_bytes: int,
        lanes: int | None = None,
        has_softmax: bool = False,
        has_blocks: bool = False,
        is_resident: bool = False,
        has_depthwise: bool = False,
        has_int16: bool = False,
        has_recurrent: bool = False,
        vendor: Vendor = Vendor.GENERIC,
    ) -> None:
        self.macs = macs
        self.outputs = outputs_of(macs)
        self.has_packed = has_packed(macs)
        self.has_gathered = has_gathered(macs)
        self.is_deep = macs == DEEP_MACS
        self.scratchpad_bytes = scratchpad_bytes
        self.is_resident = is_resident
        self.has_depthwise = has_depthwise
        self.has_int16 = has_int16
        self.shares_reads = has_depthwise and not has_own_reads(macs)
        self.shares_results = has_depthwise and not has_own_results(macs)
        self.scratchpad = Scratchpad(
            size_bytes=scratchpad_bytes,
            spans_lines=self.is_deep,
            has_second=has_depthwise and has_own_reads(macs),
        )
        self.weights = WeightBuffer(
            macs=macs,
            lanes=lanes,
            has_pairs=has_blocks,
            is_resident=is_resident,
            has_depthwise=self.shares_results,
        )
        self.lanes = self.weights.lanes
        self.array = MacArray(macs=macs, vendor=vendor, lanes=self.lanes, tag_bits=RESULT_TAG.size)
        self.sums = SumMemory(lanes=self.lanes)
        self.requantizer = Requantizer(
            lanes=self.lanes, tag_bits=RESULT_TAG.size, has_int16=has_int16
        )
        self.units = ByteUnits(has_softmax=has_softmax, has_recurrent=has_recurrent)
        self.elements = (
            ShortElementUnit() if has_short_elements(macs, has_int16=has_int16) else None
        )
        self.side = (
            DepthwiseSide(
                vendor=vendor,
                fabric_chains=fabric_chains_of(macs),
                shares_reads=self.shares_reads,
                shares_results=self.shares_results,
            )
            if has_depthwise
            else None
        )
        self.joined = JoinedBeats() if has_depthwise and has_own_results(macs) else None
        self.adder = (
            None
            if has_depthwise
            else FusedAdder(macs=macs, lanes=self.lanes, scratchpad_bytes=scratchpad_bytes)
        )
        super().__init__(
            DatapathSignature(
                macs=macs,
                has_pairs=has_blocks,
                is_resident=is_resident,
                has_depthwise=has_depthwise,
            ).flip()
        )

    def elaborate(self, platform: object) -> Module:
        """Wire the data path, in the order that data takes."""
        m = Module()
        m.submodules.scratchpad = self.scratchpad
        m.submodules.weights = self.weights
        m.submodules.array = self.array
        m.submodules.sums = self.sums
        m.submodules.requantizer = self.requantizer
        m.submodules.units = self.units
        has_softmax = self.units.has_softmax
        m.submodules.groups = groups = GroupController(
            drain_cycles=drain_cycles(self.macs, self.lanes, has_int16=self.has_int16),
            has_softmax=has_softmax,
            has_recurrent=self.units.has_recurrent,
            has_elements=self.elements is not None,
        )
        m.submodules.addresses = addresses = AddressGenerator(
            beats=self.outputs // self.lanes,
            has_softmax=has_softmax,
            has_recurrent=self.units.has_recurrent,
            has_elements=self.elements is not None,
            has_depthwise=self.has_depthwise,
            deep_lanes=READ_BYTES if self.is_deep else INPUT_LANES,
            has_gathered=self.has_gathered,
        )
        # A job that writes without the requantizer may do so.
        has_lines = Signal(init=1)
        self._begin_groups(m, groups, addresses, has_lines)
        if self.elements is not None:
            m.submodules.elements = self.elements
            self._begin_elements(m, self.elements, groups, addresses)
        operation, valid = addresses.operations.payload, addresses.operations.valid
        ends = addresses.done | self.units.ends_table if has_softmax else addresses.done
        drops_second = groups.is_last & (self.job.last_beats == 1)
        if self.is_deep:
            # Of element-wise results behind each other only the last one.
            is_flat = (self._is_table | self._is_product) & ~self.job.group_output_step.any()
            drops_second &= ~is_flat | ends
        tag = count_places(
            m,
            self.job,
            operation,
            start=self.start,
            valid=valid,
            ends=ends,
            turns_bank=~self._has_tables,
            drops_second=drops_second,
        )
        self._read(m, operation, valid, tag)
        if self.side is not None:
            m.submodules.side = self.side
            self._work_beside(m, self.side, groups, addresses, has_lines)
        self._weigh(m, operation, ends)
        self._requantize(m)
        has_result = self.requantizer.results.valid & ~self._keeps
        beside = joined = None
        if self.side is not None and self.joined is None:
            has_result |= self.requantizer.results.valid & self.side.is_result
        elif self.side is not None and self.joined is not None:
            beside, joined = self.side.written, self.joined
            has_result &= ~self.joined.waits
        result = self.requantizer.results
        if self.has_int16:
            result, is_lower = self._with_lowers(m, has_result)
            has_result |= is_lower
        has_short_lines = self.elements is not None and self.lanes == ELEMENT_LANES
        wiring.connect(m, wiring.flipped(self.other_lines), self.scratchpad.others)
        m.d.comb += self.lines.read_data.eq(self.scratchpad.line_read_data)
        write_lines(
            m,
            self.scratchpad,
            moved=self.units.writes,
            result=result,
            has_result=has_result,
            summed=None if self.adder is None else self.adder.accesses,
            access=self.lines.accesses,
            beside=beside,
            joined=joined,
            whole=self._whole() if has_short_lines else None,
            is_whole=self._is_whole if has_short_lines else None,
        )
        if self.adder is not None:
            m.submodules.adder = self.adder
            self._fuse(m, self.adder, groups)
        return m

    @property
    def _is_table(self) -> Value:
        """Whether the job is one of tables."""
        return (self.job.kind == JobKind.ADD) | (self.job.kind == JobKind.TABLE)

    @property
    def _is_product(self) -> Value:
        """Whether the job is one of products of two tensors."""
        return self.job.kind == JobKind.MUL

    @property
    def _is_max(self) -> Value:
        """Whether the job is one of largest bytes."""
        return self.job.kind == JobKind.MAX

    @property
    def _has_no_weights(self) -> Value:
        """Whether the job is one without a weight stream."""
        found = self.job.kind == JobKind.MOVE
        if self.units.has_recurrent:
            found |= self.job.kind == JobKind.RECURRENT
        return found if self.elements is None else found | self._is_elements

    @property
    def _is_elements(self) -> Value:
        """Whether the job is one of the unit for numbers of int16."""
        return self.job.kind == JobKind.SHORT_ELEMENTS

    @property
    def _is_whole(self) -> Value:
        """Whether the job's results have both bytes behind each other."""
        assert self.elements is not None
        return self._is_elements & self.elements.is_whole

    @property
    def _keeps(self) -> Value:
        """Whether the job's results stay in the memory of sums."""
        return (self.job.sums & SumFlag.KEEP).any()

    @property
    def _is_fused(self) -> Value:
        """Whether the job only brings tables, or has results to which others are added."""
        return Const(0) if self.adder is None else (self.job.flags & JobFlag.FUSED).any()

    @property
    def _has_tables(self) -> Value:
        """Whether the job only brings tables."""
        return (self.job.kind == JobKind.ADD) & self._is_fused

    @property
    def _is_packed(self) -> Value:
        """Whether the job is one of two products per multiplier."""
        return (self.job.flags & JobFlag.PACKED).any() if self.has_packed else Const(0)

    @property
    def _is_gathered(self) -> Value:
        """Whether words of the job have bytes of two kernel rows."""
        return (self.job.flags & JobFlag.GATHERED).any() if self.has_gathered else Const(0)

    def _begin_groups(
        self,
        m: Module,
        groups: GroupController,
        addresses: AddressGenerator,
        has_lines: Signal,
    ) -> None:
        """Connect what begins groups, and the address generator."""
        m.d.comb += [
            groups.job.eq(self.job),
            groups.start.eq(self.start),
            groups.has_weights.eq(
                (
                    Mux(self._has_tables, self.weights.has_table, self.weights.is_available)
                    | self._has_no_weights
                )
                & has_lines
            ),
            groups.is_free.eq(addresses.is_free | self.units.is_free),
            groups.group_ends.eq(addresses.done | self.units.done),
            addresses.job.eq(self.job),
            addresses.all_kernel_rows.eq(self._is_packed | self._is_gathered),
            addresses.is_first_group.eq(groups.is_first),
            addresses.group_offset.eq(groups.input_offset),
            addresses.start.eq(groups.begins_group),
            self.weights.take.eq(groups.begins_group & ~self._has_no_weights & ~self._has_tables),
            self.weights.take_table.eq(groups.begins_group & self._has_tables),
            addresses.unit_address.eq(self.units.address),
            self.units.job.eq(self.job),
            self.units.start.eq(groups.begins_group),
            self.is_busy.eq(groups.is_busy),
            self.done.eq(groups.done),
            self.counts.busy.eq(addresses.operations.valid | self.units.is_working),
            self.counts.waits_weights.eq(groups.waits_weights),
            self.counts.waits_requantizer.eq(addresses.is_held),
        ]

    def _begin_elements(
        self,
        m: Module,
        elements: ShortElementUnit,
        groups: GroupController,
        addresses: AddressGenerator,
    ) -> None:
        """Connect the jobs of the unit for numbers of int16, and its reads."""
        is_chosen_s1 = Signal(name="is_elements_s1")
        m.d.sync += is_chosen_s1.eq(self._is_elements)
        m.d.comb += [
            elements.job.eq(self.job),
            elements.start.eq(groups.begins_group & self._is_elements),
            elements.read_data.eq(self.scratchpad.read_data),
            groups.is_free.eq(
                addresses.is_free | self.units.is_free | (self._is_elements & ~elements.is_busy)
            ),
            groups.group_ends.eq(addresses.done | self.units.done | elements.done),
            addresses.unit_address.eq(Mux(is_chosen_s1, elements.address, self.units.address)),
            self.counts.busy.eq(
                addresses.operations.valid | self.units.is_working | elements.is_working
            ),
        ]

    def _read(self, m: Module, operation: data.View, valid: Signal, tag: data.View) -> None:
        """Build what turns an operation into inputs of the array."""
        array = self.array
        late = delayed(m, operation, SCRATCHPAD_READ_CYCLES, "operation")
        late_valid = delayed(m, valid, SCRATCHPAD_READ_CYCLES, "valid", is_reset=True)
        m.d.comb += [
            self.scratchpad.read_address.eq(operation.address),
            self.units.read_data.eq(self.scratchpad.read_data),
            array.mode.eq(ArrayMode.CONV),
            array.is_wide.eq((self.job.flags & JobFlag.WIDE).any()),
            array.is_square.eq((self.job.flags & JobFlag.SQUARE).any()),
            array.gives_positions.eq(self.job.gives_positions[0]),
        ]
        with m.If(self._is_table):
            m.d.comb += array.mode.eq(ArrayMode.TABLE)
        with m.Elif(self.job.kind == JobKind.DEPTHWISE):
            m.d.comb += array.mode.eq(ArrayMode.DEPTHWISE_4)
            has_8_taps = (self.job.flags & JobFlag.TAPS_8).any()
            with m.If(Const(1) if self.is_deep else has_8_taps):
                m.d.comb += array.mode.eq(ArrayMode.DEPTHWISE_8)
        with m.Elif(self._is_product):
            m.d.comb += array.mode.eq(ArrayMode.PRODUCT)
        with m.Elif(self._is_max):
            m.d.comb += array.mode.eq(ArrayMode.MAX)
        with m.Elif(self._is_packed):
            m.d.comb += array.mode.eq(ArrayMode.PACKED)
        # The second tensor's zero point is for operations with ``shift``.
        early = delayed(m, operation.shift, SCRATCHPAD_READ_CYCLES - 1, "shift")
        zero_point = Signal(signed(8))
        m.d.sync += zero_point.eq(
            Mux(
                self._is_product & early,
                self.job.weight_zero_point[:8].as_signed(),
                self.job.input_zero_point,
            )
        )
        for lane in range(len(array.x)):
            octet: Value = self.scratchpad.read_data.word_select(lane, 8)
            if self.has_int16:
                octet = octet ^ Cat(Const(0, _BYTE - 1), (self.job.flags & JobFlag.LOWER).any())
            if self.side is not None and self.shares_reads and lane < INPUT_LANES:
                octet = Mux(late.is_upper, self.side.upper.word_select(lane, 8), octet)
            is_inside = (late.low <= lane) & (lane < late.high)
            value = Signal(signed(OPERAND_BITS), name=f"x_{lane}")
            reduced = self._reduced(octet.as_signed(), is_inside, zero_point)
            if self.has_gathered and lane < CARRIED_LANES:
                reduced = Mux(lane < late.carried, array.x[lane + INPUT_LANES], reduced)
            # What the next operation may take from there stays until it comes.
            is_kept = self.has_gathered and 0 <= lane - INPUT_LANES < CARRIED_LANES
            with m.If(late_valid if is_kept else 1):
                m.d.sync += value.eq(reduced)
            m.d.comb += array.x[lane].eq(value)
        fed, fed_tag = array.operations.payload, delayed(m, tag, INPUT_CYCLES, "tag")
        flags = delayed(
            m, Cat(operation.first, operation.shift, operation.last), INPUT_CYCLES, "flags"
        )
        m.d.comb += [
            array.operations.valid.eq(delayed(m, late_valid, 1, "fed", is_reset=True)),
            Cat(fed.first, fed.shift, fed.last).eq(flags),
            fed.tag.eq(fed_tag),
        ]

    def _reduced(self, octet: Value, is_inside: Value, zero_point: Value) -> Value:
        """Return a byte less the zero point, which bytes outside are; PACKED does not reduce."""
        if not self.has_packed:
            return Mux(is_inside, octet - zero_point, 0)
        return Mux(is_inside, octet, zero_point) - Mux(self._is_packed, 0, zero_point)

    def _weigh(self, m: Module, operation: data.View, ends: Value) -> None:
        """Build the reads of weight words, in time for the inputs."""
        weights = self.weights
        lead = INPUT_CYCLES - WEIGHT_READ_CYCLES
        index = delayed(m, operation.index, lead, "index")
        ends_early = delayed(m, ends, lead, "ends", is_reset=True)
        ends_late = delayed(m, ends_early, WEIGHT_READ_CYCLES, "ends_early", is_reset=True)
        word = Mux((self.job.flags & JobFlag.ONES).any(), 0, index)
        if self.units.has_softmax:
            # With 16 outputs a word of a table has two entries.
            number = self.units.difference
            word = Mux(self.units.reads_table, number[1:] if self.is_deep else number, word)
            # An entry is in every lane as well, or in the lower ones.
            entry: Value = Cat(weight[:8] for weight in weights.weights[0])
            if self.is_deep:
                is_odd = delayed(m, number[0], WEIGHT_READ_CYCLES, "is_odd")
                entry = Mux(is_odd, entry[8 * TABLE_ENTRY_BYTES :], entry)
            m.d.comb += [
                self.units.exponential.eq(entry[: len(self.units.exponential)]),
                self.units.distance.eq(entry[len(self.units.exponential) :][:DISTANCE_BITS]),
            ]
        if self.is_resident:
            self._read_kept(m, operation.index, ends)
        m.d.comb += [
            weights.index.eq(word),
            # A lookup comes with the inputs, not ahead of them; MAX adds its word as late.
            weights.release.eq(
                Mux(self._is_table | self._is_max, ends_late, ends_early) & ~self._has_tables
            ),
            weights.is_skewed.eq(self.job.kind == JobKind.CONV),
            weights.is_lookup.eq(self._is_table),
            self.array.weights.eq(weights.weights),
        ]
        if self.has_packed:
            m.d.comb += self.array.packed_weights.eq(weights.packed_weights)
        if self.side is None:
            wiring.connect(m, wiring.flipped(self.fill), weights.fill)
        else:
            m.submodules.fills = fills = FillSwitch(outputs=self.outputs)
            wiring.connect(m, wiring.flipped(self.fill), fills.fill)
            wiring.connect(m, fills.array, weights.fill)
            wiring.connect(m, fills.unit, self.side.fill)
            m.d.comb += [
                fills.reduced.eq(weights.reduced),
                weights.unit_parameters.eq(self.side.fill.parameters)
                if self.shares_results
                else self.side.parameters.eq(self.fill.parameters),
            ]
        m.d.comb += [weights.entries[k].eq(self.array.x[k]) for k in range(self.outputs)]

    def _read_kept(self, m: Module, early: Value, ends: Value) -> None:
        """Count the first word of a group whose words are kept, and read those behind it."""
        lead = INPUT_CYCLES - WEIGHT_READ_CYCLES
        ends_group = delayed(m, ends, lead - 1, "ends_group", is_reset=True)
        first, kept_index = Signal(RESIDENT_BITS), Signal(RESIDENT_BITS, reset_less=True)
        with m.If(self.start):
            m.d.sync += first.eq(self.job.resident_word)
        with m.Elif(ends_group):
            m.d.sync += first.eq(first + self.job.group_words)
        m.d.sync += kept_index.eq(delayed(m, early, lead - 1, "early_index") + first)
        m.d.comb += [
            self.weights.reads_kept.eq((self.job.flags & JobFlag.HELD).any()),
            self.weights.kept_index.eq(kept_index),
        ]

    def _requantize(self, m: Module) -> None:
        """Build the way from the array to the requantizer: one cycle, that of the parameters."""
        result, beats = self.array.results, self.requantizer.beats
        tag = data.View(RESULT_TAG, result.payload.tag)
        kept = Signal()
        place = Signal(RESULT_TAG)
        sums_s1 = Signal(32 * self.lanes, reset_less=True)
        place_s1 = Signal(RESULT_TAG, reset_less=True)
        beat = result.payload.beat
        is_second = beat >= self.outputs // self.lanes
        m.d.comb += [
            kept.eq(~tag.is_dropped & ~(tag.drops_second & is_second) & ~self._has_tables),
            place.eq(tag),
            place.address.eq(tag.address + beat * self.lanes),
            self.weights.parameter_bank.eq(tag.bank),
            self.weights.parameter_beat.eq(beat),
            self.requantizer.is_wide.eq((self.job.flags & JobFlag.WIDE).any()),
            # Not before it is wide: sums of the depthwise unit are no longer in it then.
            self.requantizer.is_square.eq(
                (self.job.flags & JobFlag.SQUARE).any() & self.requantizer.is_wide
            ),
            self.requantizer.zero_point.eq(self.job.output_zero_point),
            self.requantizer.minimum.eq(self.job.activation_min),
            self.requantizer.maximum.eq(self.job.activation_max),
            beats.payload.parameters.eq(self.weights.parameters),
            self.sums.restart.eq(self.start),
            self.sums.valid.eq(result.valid & kept),
            self.sums.keeps.eq(self._keeps),
            self.sums.totals.eq(self.requantizer.totals),
            Value.cast(beats.payload.sums).eq(sums_s1),
            beats.payload.tag.eq(place_s1),
        ]
        continues = (self.job.sums & SumFlag.CONTINUE).any()
        if self.side is not None and self.shares_results:
            continues &= ~self.side.is_beat
        with m.If(continues):
            # Instead of the bias, in front of the same adder.
            m.d.comb += [
                parameters.bias.eq(earlier)
                for parameters, earlier in zip(
                    beats.payload.parameters, self.sums.sums, strict=True
                )
            ]
        sums: Value = Value.cast(result.payload.sums)
        if self.has_int16:
            is_shifted = (self.job.sums & SumFlag.SHIFTED).any()
            sums = Cat(
                Mux(is_shifted, Cat(Const(0, _BYTE), one[:-_BYTE]), one[:])
                for one in result.payload.sums
            )
        m.d.sync += [
            beats.valid.eq(result.valid & kept),
            # Between beats there comes a square to the adder behind.
            sums_s1.eq(Mux(result.valid, sums, 0)),
            place_s1.eq(place),
        ]
        if self.elements is not None:
            self._scale_elements(m, self.elements, place, sums_s1)
        if self.side is not None and self.joined is None:
            self._share_requantizer(m, self.side, result.valid, place, sums_s1)
        elif self.side is not None and self.joined is not None:
            has_beat = result.valid & kept
            self._join_beats(m, self.side, self.joined, has_beat, is_second)

    def _scale_elements(
        self, m: Module, elements: ShortElementUnit, place: data.View, sums_s1: Signal
    ) -> None:
        """Connect passes of the unit for numbers of int16, in whose jobs the array has no sums."""
        requantizer, beats = self.requantizer, self.requantizer.beats
        sums = data.View(beats.payload.sums.shape(), sums_s1)
        m.d.comb += [
            requantizer.is_operand.eq(elements.is_operand),
            requantizer.is_product.eq(elements.is_product),
            requantizer.is_difference.eq(elements.is_difference),
        ]
        for lane in range(ELEMENT_LANES):
            m.d.comb += [
                requantizer.others[lane].eq(elements.others[lane]),
                elements.raised[lane].eq(requantizer.raised[lane]),
                elements.products[lane].eq(requantizer.products[lane]),
            ]
        with m.If(elements.takes):
            # Of more lanes the unit has the first ones; whole numbers fill the others.
            m.d.comb += [
                place.address.eq(elements.place),
                place.drops_second.eq(~elements.is_whole if self.lanes > ELEMENT_LANES else 0),
            ]
            m.d.sync += beats.valid.eq(1)
            m.d.sync += [sums[k].eq(one) for k, one in enumerate(elements.totals)]
        with m.If(elements.has_scales):
            for lane in range(ELEMENT_LANES):
                parameters, scale = beats.payload.parameters[lane], elements.scales[lane]
                m.d.comb += [
                    parameters.bias.eq(elements.biases[lane]),
                    parameters.multiplier.eq(scale.multiplier),
                    parameters.left.eq(scale.left),
                    parameters.right.eq(scale.right),
                ]

    def _whole(self) -> Value:
        """Return a line of results of int16, both bytes behind each other."""
        results = zip(self.requantizer.lowers, self.requantizer.results.payload.values, strict=True)
        return Cat(Cat(*both) for both in list(results)[:ELEMENT_LANES])

    def _with_lowers(self, m: Module, has_result: Value) -> tuple[Any, Value]:
        """Return results, each followed by lower bytes if it has any, and whether it is these.

        Wide results are two cycles apart, so there is time for them.
        """
        requantizer = self.requantizer
        result = requantizer.results
        tag = data.View(RESULT_TAG, result.payload.tag)
        is_short = (self.job.flags & JobFlag.SHORT).any()
        is_lower = Signal()
        lower_tag = Signal(RESULT_TAG)
        m.d.comb += requantizer.is_short.eq(is_short)
        has_lower = is_short if self.elements is None else is_short & ~self._is_whole
        m.d.sync += [
            is_lower.eq(has_result & has_lower),
            lower_tag.eq(tag),
            lower_tag.address.eq(tag.address + self.job.input_2_address),
        ]
        both = result.signature.create(path=("both",))
        m.d.comb += [
            both.payload.tag.eq(Mux(is_lower, lower_tag, result.payload.tag)),
            Value.cast(both.payload.values).eq(
                Mux(is_lower, requantizer.lowers, result.payload.values)
            ),
        ]
        if self.elements is not None and self.lanes > ELEMENT_LANES:
            # As many bytes as lanes.
            with m.If(self._is_whole):
                m.d.comb += Value.cast(both.payload.values).eq(self._whole())
        return both, is_lower

    def _join_beats(
        self,
        m: Module,
        side: DepthwiseSide,
        joined: JoinedBeats,
        has_beat: Value,
        is_second: Value,
    ) -> None:
        """Write two beats that fill a line at once, and leave the other cycle to the unit."""
        m.submodules.joined = joined
        tag = data.View(RESULT_TAG, self.array.results.payload.tag)
        is_wide = (self.job.flags & JobFlag.WIDE).any()
        is_odd = tag.address[OUTPUT_BYTES.bit_length() - 1]
        has_both = self._is_packed & ~is_wide & ~self._keeps & ~tag.drops_second & ~is_odd
        m.d.comb += [
            joined.enters.eq(has_beat & ~is_second & has_both),
            joined.octets.eq(self.requantizer.results.payload.values),
            side.has_beat.eq(has_beat & ~self._keeps & ~joined.enters),
        ]

    def _fuse(self, m: Module, adder: FusedAdder, groups: GroupController) -> None:
        """Connect what adds bytes to results."""
        result = self.requantizer.results
        tag = data.View(RESULT_TAG, result.payload.tag)
        wiring.connect(m, self.weights.table_writes, adder.table_writes)
        m.d.comb += [
            adder.ends_table.eq(self.weights.ends_table),
            adder.turns_table.eq(groups.begins_group & self._has_tables),
            adder.offset.eq(self.job.input_2_address),
            adder.beats.valid.eq(result.valid & self._is_fused),
            adder.beats.payload.address.eq(tag.address),
            adder.beats.payload.is_half.eq(tag.drops_second),
            adder.taken.eq(result.valid),
            adder.comes.eq(self.requantizer.comes),
            adder.bank_lines.eq(self.scratchpad.bank_lines),
            groups.holds.eq(adder.is_busy),
        ]

    def _work_beside(
        self,
        m: Module,
        side: DepthwiseSide,
        groups: GroupController,
        addresses: AddressGenerator,
        has_lines: Signal,
    ) -> None:
        """Connect the depthwise unit: its jobs, what waits for rows, and its reads."""
        m.submodules.watch = watch = ArrayWatch(
            drain_cycles=drain_cycles(self.macs, self.lanes), has_softmax=self.units.has_softmax
        )
        m.d.comb += [
            watch.job.eq(self.job),
            watch.is_busy.eq(groups.is_busy),
            watch.done.eq(groups.done),
            watch.operation.eq(addresses.operations.payload),
            watch.valid.eq(addresses.operations.valid),
            has_lines.eq(~watch.needs_lines | side.leaves_lines),
            side.job.eq(self.unit_job),
            side.start.eq(self.unit_start),
            self.unit_done.eq(side.done),
            side.ends_row.eq(watch.ends_row),
            self.unit_rows_done.eq(side.rows_done),
            addresses.unit_rows_done.eq(side.rows_done),
            addresses.yields.eq(side.yields),
            addresses.pauses.eq(side.pauses),
            side.takes_lines.eq(watch.takes_lines),
            side.waits_line.eq(self.lines.accesses.valid & ~self.lines.accesses.ready),
            side.is_wide.eq(watch.is_wide),
        ]
        if self.shares_reads:
            m.d.comb += [
                side.reads.ready.eq(~watch.reads),
                side.read_data.eq(self.scratchpad.read_data),
                side.keeps_upper.eq(watch.keeps_upper),
            ]
            with m.If(~watch.reads):
                m.d.comb += self.scratchpad.read_address.eq(side.reads.payload)
        else:
            m.d.comb += [
                side.reads.ready.eq(1),
                side.read_data.eq(self.scratchpad.second_data),
                self.scratchpad.second_address.eq(side.reads.payload),
            ]

    def _share_requantizer(
        self, m: Module, side: DepthwiseSide, has_beat: Value, place: data.View, sums_s1: Signal
    ) -> None:
        """Put sums of the depthwise unit between those of the array."""
        requantizer, beats = self.requantizer, self.requantizer.beats
        sums = data.View(beats.payload.sums.shape(), sums_s1)
        m.d.comb += [
            side.has_beat.eq(has_beat),
            side.own.zero_point.eq(self.job.output_zero_point),
            side.own.minimum.eq(self.job.activation_min),
            side.own.maximum.eq(self.job.activation_max),
            requantizer.is_wide.eq(side.makes_wide),
            requantizer.zero_point.eq(side.constants.zero_point),
            requantizer.minimum.eq(side.constants.minimum),
            requantizer.maximum.eq(side.constants.maximum),
            self.weights.reads_unit.eq(side.takes),
            self.weights.unit_place.eq(side.result.place),
        ]
        with m.If(side.takes):
            # Of more lanes the unit has the first 8.
            m.d.comb += [
                place.address.eq(side.result.address),
                place.drops_second.eq(self.lanes > UNIT_CHANNELS),
            ]
            m.d.sync += beats.valid.eq(1)
            m.d.sync += [sums[k].eq(one) for k, one in enumerate(side.result.sums)]

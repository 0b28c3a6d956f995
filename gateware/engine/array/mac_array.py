"""The multiplier array: convolution and depthwise convolution on the same chains of cells."""

from typing import ClassVar

from amaranth import Cat, Const, Module, Mux, Signal, Value, signed
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from kiwicha.contract.engine import DEEP_MACS, READ_BYTES, has_packed, outputs_of
from kiwicha.contract.latencies import CONV_CYCLES, DEPTHWISE_CYCLES, TABLE_CYCLES
from kiwicha.gateware.engine.array.cell_controls import CellControls
from kiwicha.gateware.engine.array.interfaces import (
    ARRAY_SIZES,
    LANES,
    OPERAND_BITS,
    PACKED_WEIGHT_BITS,
    ArrayMode,
    operation_layout,
    sums_layout,
)
from kiwicha.gateware.engine.array.mac_cell import MacCell, Vendor
from kiwicha.gateware.engine.array.maxima import Maxima
from kiwicha.gateware.engine.array.output_registers import OutputRegisters
from kiwicha.gateware.engine.array.packed_sum import PackedSum
from kiwicha.gateware.engine.array.shared_inputs import shared_inputs
from kiwicha.gateware.engine.array.table_words import tabulated_of

__all__ = ["MacArray"]

_HALF = LANES // 2


class MacArray(wiring.Component):
    """``macs`` products of 9-bit numbers per cycle, summed along chains of cells.

    CONV: one operation is 8 inputs, ``x[0..7]``, against 8 weights per output. The products of all
    operations up to one with ``last`` are summed to 32 bits, wrapping; the next operation starts
    from 0. ``first`` and ``shift`` have no effect.

    DEPTHWISE_4 and _8: one operation is one input per channel, ``x[channel]``, against the weights
    of its T = 4 or 8 taps, each with a sum S(t). ``first``: ``S(t) = x w(t)``. ``shift``:
    ``S(t) = S(t-1) + x w(t)``, ``S(-1) = 0``. Neither: ``S(t) += x w(t)``. ``last``: the result is
    S(T-1) after the operation. So the rows of an input column are operations in place, and a step
    to the next column of outputs is a shift; sums wrap at 25 bits.

    TABLE: one operation adds an int32, given as four bytes, to each sum. The sums of all operations
    up to one with ``last`` come out, as in CONV. ``shift``: it is the second of two int32.

    PRODUCT: as DEPTHWISE_8 with one tap, whose weight is ``x[channel]`` of the last operation
    without ``shift``. The operation with it has ``first`` and ``last``.

    PACKED, only with 128 and 256: as CONV, for 8-bit inputs, and weights and ``packed_weights``
    from -127 to 127. With 256 an operation is 16 inputs, ``x[0..15]``: chain pairs o and o + 8 sum
    the products of one output, the latter with ``x[8..15]``.

    MAX: one operation is one input per channel, ``x[channel]``, 0 to 255. The largest of all
    operations up to one with ``last`` come out. Weights must be 0 when TABLE would want them. With
    ``gives_positions`` its position, 0 to 255, times 256 is added: the number of its operation,
    counted from the first one of the result. Of equal inputs the first one counts.

    Latency, from operation to result: 12 cycles for CONV and PACKED, 5 for DEPTHWISE and PRODUCT, 3
    for TABLE and MAX.
    Throughput: one operation per cycle. Results have ``outputs`` channels, those of DEPTHWISE_4 and
    PACKED twice as many but with 256, which has no DEPTHWISE_4, in beats of ``lanes`` channels: one
    per cycle, or in two with ``is_wide``. Operations with ``last`` must be as far apart as their
    results need.

    Parameters
    ----------
    macs : int
        Cells: 32 or 64. 128, 256: half as many cells, with a packed weight each.
    vendor : Vendor
        What they are built from.
    lanes : int or None
        Sums of a beat, a divisor of ``outputs``; None: all.
    tag_bits : int
        Width of ``tag``, 1 or more.

    Members
    -------
    mode : ``In(ArrayMode)``
        Stable from one cycle before an operation until its result.
    is_wide : ``In(1)``
        Beats are two cycles apart; stable like ``mode``.
    is_square : ``In(1)``
        TABLE: beats are three cycles apart, with ``is_wide``; stable like ``mode``.
    gives_positions : ``In(1)``
        MAX: results have positions; stable like ``mode``.
    operations : ``In(stream.Signature(StructLayout(first, shift, last, tag), always_ready=True))``
        ``tag`` of an operation with ``last`` comes out with its result.
    x : ``In(ArrayLayout(signed(9), max(8, 2 * outputs)))``
        Inputs, with the operation; 16 of them with 256.
    weights : ``In(ArrayLayout(ArrayLayout(signed(9), outputs), 8))``
        ``weights[l][o]``: weight of cell l of chain pair o. In CONV that of lane l is wanted l
        cycles after its operation, in the other modes all with the operation. DEPTHWISE_4: cell l
        is tap l of channel o, or tap l - 4 of channel o + outputs. DEPTHWISE_8: tap l of channel o.
        TABLE: bytes of the int32 for pair o, the least significant first, wanted 2 cycles after the
        operation. First int32: ``weights[o][0..3]``. Second: ``weights[o][4..7]``, or
        ``weights[o + 4][0..3]`` if there are 4 outputs. With 256 a word has two entries of 8 bytes,
        of which the lowest bit of ``x[o]`` chooses; from pair 8 on words are ``packed_weights``.
    packed_weights : ``In(ArrayLayout(ArrayLayout(signed(8), outputs), 8))``
        Only with 128 and 256: ``packed_weights[l][o]`` goes with ``weights[l][o]``, for output
        ``o + outputs``; with 256 output ``o % 8 + 8``.
    results : ``Out(stream.Signature(StructLayout(sums, beat, tag), always_ready=True))``
        ``sums[o]`` of chain pair ``o + beat * lanes``; from pair ``outputs`` on of the upper chains
        of DEPTHWISE_4 and the packed weights of PACKED.

    Raises
    ------
    ValueError
        If a parameter is not such a number.

    Notes
    -----
    In CONV lane l works l cycles after lane 0, as the sums travel one cell per cycle through the
    cascade of the DSP blocks. In the depthwise modes all cells of a chain work on the same cycle:
    ``S(t-1)`` is the neighbour's register as it was.
    """

    LATENCY: ClassVar[dict[ArrayMode, int]] = {
        ArrayMode.CONV: CONV_CYCLES,
        ArrayMode.DEPTHWISE_4: DEPTHWISE_CYCLES,
        ArrayMode.DEPTHWISE_8: DEPTHWISE_CYCLES,
        ArrayMode.TABLE: TABLE_CYCLES,
        ArrayMode.PACKED: CONV_CYCLES,
        ArrayMode.MAX: TABLE_CYCLES,
        ArrayMode.PRODUCT: DEPTHWISE_CYCLES,
    }

    def __init__(
        self,
        *,
        macs: int,
        vendor: Vendor = Vendor.GENERIC,
        lanes: int | None = None,
        tag_bits: int = 1,
    ) -> None:
        if macs not in ARRAY_SIZES:
            raise ValueError(f"macs must be one of {ARRAY_SIZES}, not {macs!r}")
        if not isinstance(tag_bits, int) or tag_bits < 1:
            raise ValueError(f"tag_bits must be a positive integer, not {tag_bits!r}")
        self.macs = macs
        self.outputs = outputs_of(macs)
        self.lanes = self.outputs if lanes is None else lanes
        if self.lanes not in range(1, self.outputs + 1) or self.outputs % self.lanes:
            raise ValueError(f"lanes must be a divisor of {self.outputs}, not {lanes!r}")
        self.has_packed = has_packed(macs)
        self.is_deep = macs == DEEP_MACS
        self.vendor = vendor
        self.tag_bits = tag_bits
        operand = signed(OPERAND_BITS)
        operation = operation_layout(tag_bits)
        result = sums_layout(outputs=self.outputs, lanes=self.lanes, tag_bits=tag_bits)
        packed = data.ArrayLayout(data.ArrayLayout(signed(PACKED_WEIGHT_BITS), self.outputs), LANES)
        super().__init__({
            **({"packed_weights": In(packed)} if self.has_packed else {}),
            "mode": In(ArrayMode),
            "is_wide": In(1),
            "is_square": In(1),
            "gives_positions": In(1),
            "operations": In(stream.Signature(operation, always_ready=True)),
            "x": In(data.ArrayLayout(operand, min(max(LANES, 2 * self.outputs), READ_BYTES))),
            "weights": In(data.ArrayLayout(data.ArrayLayout(operand, self.outputs), LANES)),
            "results": Out(stream.Signature(result, always_ready=True)),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the controls, the cells and what collects their sums."""
        m = Module()
        # Registers of their own: these reach every cell.
        is_conv = Signal(init=1)
        is_joined = Signal(init=1)
        is_table = Signal()
        is_packed = Signal()
        is_product = Signal()
        is_max = Signal()
        if self.has_packed:
            m.d.sync += is_packed.eq(self.mode == ArrayMode.PACKED)
        m.d.sync += [
            is_conv.eq((self.mode == ArrayMode.CONV) | self._is_packed_mode),
            is_joined.eq(self.mode != ArrayMode.DEPTHWISE_4),
            is_table.eq((self.mode == ArrayMode.TABLE) | (self.mode == ArrayMode.MAX)),
            is_product.eq(self.mode == ArrayMode.PRODUCT),
            is_max.eq(self.mode == ArrayMode.MAX),
        ]
        shared = shared_inputs(m, self.x, self.outputs, is_packed if self.is_deep else None)
        cells = self._cells(m, shared, is_conv, is_joined, is_packed)
        self._weigh_by_inputs(m, cells, is_product)
        arrived, operation = self._arrived(m, is_conv, is_table)
        m.submodules.output_registers = registers = OutputRegisters(
            outputs=self.outputs,
            lanes=self.lanes,
            has_halves=not self.is_deep,
            has_packed=self.has_packed,
            tag_bits=self.tag_bits,
        )
        wiring.connect(m, registers.results, wiring.flipped(self.results))
        m.submodules.maxima = maxima = Maxima(lanes=self.outputs)
        m.d.comb += [
            maxima.is_active.eq(is_max),
            maxima.gives_positions.eq(self.gives_positions),
            maxima.valid.eq(self.operations.valid),
            maxima.last.eq(self.operations.payload.last),
            maxima.x.eq(Cat(self.x[lane][:8] for lane in range(self.outputs))),
            registers.maxima.eq(maxima.maxima),
            registers.arrived.eq(arrived),
            registers.last.eq(operation.last),
            registers.tag.eq(operation.tag),
            registers.is_summing.eq(is_conv | is_table),
            registers.is_wide.eq(self.is_wide),
            registers.is_square.eq(self.is_square),
        ]
        if not self.is_deep:
            m.d.comb += [
                registers.is_joined.eq(is_joined),
                registers.has_second_half.eq(~is_joined | is_packed),
            ]
        packed_sums = self._packed_sums(m, cells, shared, is_packed)
        for pair, pair_cells in enumerate(cells):
            total: Value = pair_cells[-1].sum
            if self.has_packed:
                total = packed_sums[pair].first_sum
            if self.is_deep:
                total = Mux(is_packed, _joined(packed_sums, pair), total)
            words = [*self.weights, *(self.packed_weights if self.is_deep else [])]
            tabulated = tabulated_of(m, pair, words, self.x[pair], operation.shift, is_max)
            m.d.comb += registers.addends[pair].eq(Mux(is_table, tabulated, total))
            if self.is_deep:
                continue
            m.d.comb += [
                registers.lowers[pair].eq(pair_cells[_HALF - 1].sum),
                registers.uppers[pair].eq(pair_cells[-1].sum),
            ]
            if self.has_packed:
                m.d.comb += registers.packed_addends[pair].eq(packed_sums[pair].second_sum)
        return m

    def _packed_sums(
        self,
        m: Module,
        cells: list[list[MacCell]],
        shared: list[list[Value]],
        is_packed: Signal,
    ) -> list[PackedSum]:
        """Build what splits the sum of each chain pair, if there are packed weights."""
        if not self.has_packed:
            return []
        sums = []
        for pair, pair_cells in enumerate(cells):
            m.submodules[f"sum_{pair}"] = packed_sum = PackedSum(lanes=LANES)
            m.d.comb += [
                packed_sum.x.eq(Cat(x[0] for x in shared[pair])),
                packed_sum.packed_weights.eq(Cat(lane[pair][0] for lane in self.packed_weights)),
                packed_sum.total.eq(pair_cells[-1].sum),
                packed_sum.is_packed.eq(is_packed),
            ]
            sums.append(packed_sum)
        return sums

    @property
    def _is_packed_mode(self) -> Value:
        return self.mode == ArrayMode.PACKED if self.has_packed else Const(0)

    def _cells(
        self,
        m: Module,
        shared: list[list[Value]],
        is_conv: Signal,
        is_joined: Signal,
        is_packed: Signal,
    ) -> list[list[MacCell]]:
        """Build chain pairs; return their cells by pair and lane."""
        m.submodules.controls = controls = CellControls()
        m.d.comb += [
            controls.is_conv.eq(is_conv),
            controls.is_joined.eq(is_joined),
            controls.valid.eq(self.operations.valid),
            controls.first.eq(self.operations.payload.first),
            controls.shift.eq(self.operations.payload.shift),
        ]
        add_to = {0: controls.first_lane, _HALF: controls.middle_lane}
        pairs = []
        for pair in range(self.outputs):
            upper = Signal(signed(OPERAND_BITS), name=f"upper_{pair}")
            if self.is_deep:
                m.d.comb += upper.eq(self.x[pair])
            else:
                m.d.comb += upper.eq(Mux(is_joined, self.x[pair], self.x[pair + self.outputs]))
            cells = [
                MacCell(vendor=self.vendor, is_chained=lane > 0, has_packed=self.has_packed)
                for lane in range(LANES)
            ]
            for lane, cell in enumerate(cells):
                m.submodules[f"cell_{pair}_{lane}"] = cell
                m.d.comb += [
                    cell.shared.eq(shared[pair][lane]),
                    cell.own.eq(self.x[pair] if lane < _HALF else upper),
                    cell.is_own.eq(~is_conv),
                    cell.add_to.eq(add_to.get(lane, controls.others)),
                    cell.enable.eq(controls.enable),
                ]
                if self.has_packed:
                    m.d.comb += [
                        cell.packed_weight.eq(self.packed_weights[lane][pair]),
                        cell.is_packed.eq(is_packed),
                    ]
                if lane > 0:
                    m.d.comb += cell.chain.eq(cells[lane - 1].cascade)
            pairs.append(cells)
        return pairs

    def _weigh_by_inputs(self, m: Module, cells: list[list[MacCell]], is_product: Signal) -> None:
        """Connect the weights; the last lane can take inputs kept from an earlier operation."""
        operations = self.operations
        for pair, pair_cells in enumerate(cells):
            for lane, cell in enumerate(pair_cells[:-1]):
                m.d.comb += cell.weight.eq(self.weights[lane][pair])
            kept = Signal(signed(OPERAND_BITS), name=f"kept_{pair}", reset_less=True)
            with m.If(operations.valid & ~operations.payload.shift):
                m.d.sync += kept.eq(self.x[pair])
            m.d.comb += pair_cells[-1].weight.eq(Mux(is_product, kept, self.weights[-1][pair]))

    def _arrived(self, m: Module, is_conv: Signal, is_table: Signal) -> tuple[Signal, data.View]:
        """Return whether an operation's sums are there, and the operation."""
        delays = {mode: latency - 1 for mode, latency in self.LATENCY.items()}
        early, late = delays[ArrayMode.DEPTHWISE_4], delays[ArrayMode.CONV]
        earliest = delays[ArrayMode.TABLE]
        payload = self.operations.payload
        valid = Signal(late)
        stages = [payload]
        m.d.sync += valid.eq(Cat(self.operations.valid, valid))
        for stage in range(1, late + 1):
            # Without a reset these become shift registers in LUTs.
            delayed = Signal(payload.shape(), name=f"operation_s{stage}", reset_less=True)
            m.d.sync += delayed.eq(stages[-1])
            stages.append(delayed)
        operation = Signal(payload.shape(), name="arrived_operation")
        arrived = Signal()
        m.d.comb += [
            operation.eq(Mux(is_conv, stages[late], stages[early])),
            arrived.eq(Mux(is_conv, valid[late - 1], valid[early - 1])),
        ]
        with m.If(is_table):
            m.d.comb += [operation.eq(stages[earliest]), arrived.eq(valid[earliest - 1])]
        return arrived, operation


def _joined(sums: list[PackedSum], pair: int) -> Value:
    """Return the sum of an output whose inputs two chain pairs share."""
    first, second = sums[pair % LANES], sums[pair % LANES + LANES]
    if pair < LANES:
        return first.first_sum + second.first_sum
    return first.second_sum + second.second_sum

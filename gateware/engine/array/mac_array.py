"""The multiplier array: convolution and depthwise convolution on the same chains of cells."""

import enum
from typing import ClassVar

from amaranth import Cat, Const, Module, Mux, Signal, Value, signed
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from kiwicha.contract.engine import PACKED_MACS, outputs_of
from kiwicha.contract.latencies import CONV_CYCLES, DEPTHWISE_CYCLES, TABLE_CYCLES
from kiwicha.gateware.engine.array.mac_cell import (
    OPERAND_BITS,
    SECOND_BITS,
    AddTo,
    MultiplyAccumulate,
    Vendor,
)
from kiwicha.gateware.engine.array.maxima import Maxima
from kiwicha.gateware.engine.array.output_registers import ResultShadows
from kiwicha.gateware.engine.array.packed_sum import PackedSum

__all__ = ["ARRAY_SIZES", "LANES", "ArrayMode", "MacArray"]

LANES = 8
"""Cells of a chain pair; the first half of them is its lower chain."""
ARRAY_SIZES = (32, 64, PACKED_MACS)
_HALF = LANES // 2


class ArrayMode(enum.Enum):
    """What the chains compute."""

    CONV = 0
    """Every chain pair sums the products of the same 8 inputs with 8 weights: one output each."""
    DEPTHWISE_4 = 1
    """Lower chain of pair o: channel o, upper chain: channel o + outputs; up to 4 taps wide."""
    DEPTHWISE_8 = 2
    """Chain pair o: channel o; up to 8 taps wide."""
    TABLE = 3
    """No products: sums of what the weight memories hold."""
    PACKED = 4
    """As CONV, with two outputs for each chain pair."""
    MAX = 5
    """No products: the largest inputs."""
    PRODUCT = 6
    """Chain pair o: channel o; inputs by inputs."""


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

    PACKED, only with 128: as CONV, for 8-bit inputs, and weights and ``seconds`` from -127 to 127.

    MAX: one operation is one input per channel, ``x[channel]``, 0 to 255. The largest of all
    operations up to one with ``last`` come out. Weights must be 0 when TABLE would want them.

    Latency, from operation to result: 12 cycles for CONV and PACKED, 5 for DEPTHWISE and PRODUCT, 3
    for TABLE and MAX.
    Throughput: one operation per cycle. Results have ``outputs`` channels, those of DEPTHWISE_4 and
    PACKED twice as many, in beats of ``lanes`` channels: one per cycle, or in two with ``is_wide``.
    Operations with ``last`` must be as far apart as their results need.

    Parameters
    ----------
    macs : int
        Cells: 32 or 64. 128: 64 cells with a second weight each.
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
    operations : ``In(stream.Signature(StructLayout(first, shift, last, tag), always_ready=True))``
        ``tag`` of an operation with ``last`` comes out with its result.
    x : ``In(ArrayLayout(signed(9), max(8, 2 * outputs)))``
        Inputs, with the operation.
    weights : ``In(ArrayLayout(ArrayLayout(signed(9), outputs), 8))``
        ``weights[l][o]``: weight of cell l of chain pair o. In CONV that of lane l is wanted l
        cycles after its operation, in the other modes all with the operation. DEPTHWISE_4: cell l
        is tap l of channel o, or tap l - 4 of channel o + outputs. DEPTHWISE_8: tap l of channel o.
        TABLE: bytes of the int32 for pair o, the least significant first, wanted 2 cycles after the
        operation. First int32: ``weights[o][0..3]``. Second: ``weights[o][4..7]``, or
        ``weights[o + 4][0..3]`` if there are 4 outputs.
    seconds : ``In(ArrayLayout(ArrayLayout(signed(8), outputs), 8))``
        Only with 128: ``seconds[l][o]`` goes with ``weights[l][o]``, for output o + outputs.
    results : ``Out(stream.Signature(StructLayout(sums, beat, tag), always_ready=True))``
        ``sums[o]`` of chain pair ``o + beat * lanes``; from pair ``outputs`` on of the upper chains
        of DEPTHWISE_4 and the second outputs of PACKED.

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
        self.has_seconds = macs == PACKED_MACS
        self.vendor = vendor
        self.tag_bits = tag_bits
        operand = signed(OPERAND_BITS)
        operation = data.StructLayout({"first": 1, "shift": 1, "last": 1, "tag": tag_bits})
        result = data.StructLayout({
            "sums": data.ArrayLayout(signed(32), self.lanes),
            "beat": range(2 * self.outputs // self.lanes),
            "tag": tag_bits,
        })
        seconds = data.ArrayLayout(data.ArrayLayout(signed(SECOND_BITS), self.outputs), LANES)
        super().__init__({
            **({"seconds": In(seconds)} if self.has_seconds else {}),
            "mode": In(ArrayMode),
            "is_wide": In(1),
            "operations": In(stream.Signature(operation, always_ready=True)),
            "x": In(data.ArrayLayout(operand, max(LANES, 2 * self.outputs))),
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
        if self.has_seconds:
            m.d.sync += is_packed.eq(self.mode == ArrayMode.PACKED)
        m.d.sync += [
            is_conv.eq((self.mode == ArrayMode.CONV) | self._is_packed_mode),
            is_joined.eq(self.mode != ArrayMode.DEPTHWISE_4),
            is_table.eq((self.mode == ArrayMode.TABLE) | (self.mode == ArrayMode.MAX)),
            is_product.eq(self.mode == ArrayMode.PRODUCT),
            is_max.eq(self.mode == ArrayMode.MAX),
        ]
        shared = _skewed(m, [self.x[lane] for lane in range(LANES)])
        cells = self._cells(m, shared, is_conv, is_joined, is_packed)
        self._weigh_by_inputs(m, cells, is_product)
        arrived, operation = self._arrived(m, is_conv, is_table)
        m.submodules.shadows = shadows = ResultShadows(
            outputs=self.outputs,
            lanes=self.lanes,
            has_seconds=self.has_seconds,
            tag_bits=self.tag_bits,
        )
        wiring.connect(m, shadows.results, wiring.flipped(self.results))
        m.submodules.maxima = maxima = Maxima(lanes=self.outputs)
        m.d.comb += [
            maxima.is_active.eq(is_max),
            maxima.valid.eq(self.operations.valid),
            maxima.last.eq(self.operations.payload.last),
            maxima.x.eq(Cat(self.x[lane][:8] for lane in range(self.outputs))),
            shadows.maxima.eq(maxima.maxima),
            shadows.arrived.eq(arrived),
            shadows.last.eq(operation.last),
            shadows.tag.eq(operation.tag),
            shadows.is_summing.eq(is_conv | is_table),
            shadows.is_joined.eq(is_joined),
            shadows.has_second_half.eq(~is_joined | is_packed),
            shadows.is_wide.eq(self.is_wide),
        ]
        for pair, pair_cells in enumerate(cells):
            total: Value = pair_cells[-1].sum
            if self.has_seconds:
                m.submodules[f"sum_{pair}"] = packed_sum = PackedSum(lanes=LANES)
                m.d.comb += [
                    packed_sum.x.eq(Cat(x[0] for x in shared)),
                    packed_sum.seconds.eq(Cat(lane[pair][0] for lane in self.seconds)),
                    packed_sum.total.eq(total),
                    packed_sum.is_packed.eq(is_packed),
                    shadows.seconds[pair].eq(packed_sum.second),
                ]
                total = packed_sum.first
            tabulated = self._tabulated(pair, operation.shift)
            m.d.comb += [
                shadows.addends[pair].eq(Mux(is_table, tabulated, total)),
                shadows.lowers[pair].eq(pair_cells[_HALF - 1].sum),
                shadows.uppers[pair].eq(pair_cells[-1].sum),
            ]
        return m

    @property
    def _is_packed_mode(self) -> Value:
        return self.mode == ArrayMode.PACKED if self.has_seconds else Const(0)

    def _cells(
        self,
        m: Module,
        shared: list[Value],
        is_conv: Signal,
        is_joined: Signal,
        is_packed: Signal,
    ) -> list[list[MultiplyAccumulate]]:
        """Build chain pairs; return their cells by pair and lane."""
        head, middle, rest, enable = self._controls(m, is_conv, is_joined)
        pairs = []
        for pair in range(self.outputs):
            upper = Signal(signed(OPERAND_BITS), name=f"upper_{pair}")
            m.d.comb += upper.eq(Mux(is_joined, self.x[pair], self.x[pair + self.outputs]))
            cells = [
                MultiplyAccumulate(
                    vendor=self.vendor, is_chained=lane > 0, has_second=self.has_seconds
                )
                for lane in range(LANES)
            ]
            for lane, cell in enumerate(cells):
                m.submodules[f"cell_{pair}_{lane}"] = cell
                m.d.comb += [
                    cell.shared.eq(shared[lane]),
                    cell.own.eq(self.x[pair] if lane < _HALF else upper),
                    cell.is_own.eq(~is_conv),
                    cell.add_to.eq({0: head, _HALF: middle}.get(lane, rest)),
                    cell.enable.eq(enable),
                ]
                if self.has_seconds:
                    m.d.comb += [
                        cell.second.eq(self.seconds[lane][pair]),
                        cell.is_packed.eq(is_packed),
                    ]
                if lane > 0:
                    m.d.comb += cell.chain.eq(cells[lane - 1].cascade)
            pairs.append(cells)
        return pairs

    def _weigh_by_inputs(
        self, m: Module, cells: list[list[MultiplyAccumulate]], is_product: Signal
    ) -> None:
        """Connect the weights; the last lane can take inputs kept from an earlier operation."""
        operations = self.operations
        for pair, pair_cells in enumerate(cells):
            for lane, cell in enumerate(pair_cells[:-1]):
                m.d.comb += cell.weight.eq(self.weights[lane][pair])
            kept = Signal(signed(OPERAND_BITS), name=f"kept_{pair}", reset_less=True)
            with m.If(operations.valid & ~operations.payload.shift):
                m.d.sync += kept.eq(self.x[pair])
            m.d.comb += pair_cells[-1].weight.eq(Mux(is_product, kept, self.weights[-1][pair]))

    def _controls(
        self, m: Module, is_conv: Signal, is_joined: Signal
    ) -> tuple[Signal, Signal, Signal, Signal]:
        """Return ``add_to`` of lanes 0, 4 and all others, and ``enable``, at the cells' delays."""
        operation = self.operations.payload
        valid_s1 = Signal()
        valid_s2 = Signal()
        enable_s3 = Signal()
        first_s1 = Signal()
        shift_s1 = Signal()
        head_s2 = Signal(AddTo)
        middle_s2 = Signal(AddTo)
        rest_s2 = Signal(AddTo)
        m.d.sync += [
            valid_s1.eq(self.operations.valid),
            valid_s2.eq(valid_s1),
            enable_s3.eq(valid_s2 | is_conv),
            first_s1.eq(operation.first),
            shift_s1.eq(operation.shift),
        ]
        with m.If(is_conv):
            m.d.sync += [head_s2.eq(AddTo.ZERO), rest_s2.eq(AddTo.CHAIN)]
        with m.Elif(first_s1):
            m.d.sync += [head_s2.eq(AddTo.ZERO), rest_s2.eq(AddTo.ZERO)]
        with m.Elif(shift_s1):
            m.d.sync += [head_s2.eq(AddTo.ZERO), rest_s2.eq(AddTo.CHAIN)]
        with m.Else():
            m.d.sync += [head_s2.eq(AddTo.SELF), rest_s2.eq(AddTo.SELF)]
        # Lane 4 starts the upper chain, or continues the lower one.
        is_start = ~is_joined & (first_s1 | shift_s1)
        is_in_chain = is_joined & (is_conv | (shift_s1 & ~first_s1))
        with m.If(is_in_chain):
            m.d.sync += middle_s2.eq(AddTo.CHAIN)
        with m.Elif(is_start | first_s1):
            m.d.sync += middle_s2.eq(AddTo.ZERO)
        with m.Else():
            m.d.sync += middle_s2.eq(AddTo.SELF)
        return head_s2, middle_s2, rest_s2, enable_s3

    def _tabulated(self, pair: int, is_second: Value) -> Value:
        """Return the int32 of a pair that the weights hold."""
        octets = [
            weight[:8] for lane in (pair, pair + _HALF) for weight in self.weights[lane % LANES]
        ]
        # Both halves of a word of 8 bytes, or words of 4 bytes of two lanes.
        first, second = Cat(octets[:4]), Cat(octets[4:8])
        return Mux(is_second, second, first).as_signed()

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


def _skewed(m: Module, lanes: list[Value]) -> list[Value]:
    """Return the lanes, lane l delayed by l cycles."""
    skewed = []
    for lane, value in enumerate(lanes):
        delayed: Value = value
        for stage in range(1, lane + 1):
            following = Signal(value.shape(), name=f"shared_{lane}_s{stage}", reset_less=True)
            m.d.sync += following.eq(delayed)
            delayed = following
        skewed.append(delayed)
    return skewed

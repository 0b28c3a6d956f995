"""Depthwise convolutions beside the array: rows in, sums out."""

from amaranth import Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from kiwicha.contract.depthwise import PAIR_CHANNELS, PARAMETER_PLACES, UNIT_CHANNELS
from kiwicha.gateware.delay import delayed
from kiwicha.gateware.engine.array.mac_cell import Vendor
from kiwicha.gateware.engine.depthwise.interfaces import (
    COLUMN,
    PARAMETER_BITS,
    UnitFillSignature,
)
from kiwicha.gateware.engine.depthwise.line_buffer import LineBuffer
from kiwicha.gateware.engine.depthwise.line_fetcher import LineFetcher
from kiwicha.gateware.engine.depthwise.row_passes import RowPasses
from kiwicha.gateware.engine.depthwise.sum_rows import SUMS, SumRows
from kiwicha.gateware.engine.depthwise.tap_chains import TapChains
from kiwicha.gateware.engine.depthwise.tap_weights import TapWeights
from kiwicha.gateware.engine.depthwise.unit_fills import UnitFills
from kiwicha.gateware.engine.descriptors import ADDRESS_BITS, JOB

__all__ = ["UNIT_RESULT", "DepthwiseUnit"]

_LINE_CYCLES = 3
"""From a column to its pixels."""
_WEIGHT_CYCLES = 1
"""From a pass to its weights."""

UNIT_RESULT = data.StructLayout({"sums": SUMS, "address": ADDRESS_BITS, "place": PARAMETER_BITS})
"""Sums of a pixel's 8 channels, where their bytes go, and the place of their parameters."""


class DepthwiseUnit(wiring.Component):
    """Compute jobs of kind DEPTHWISE_UNIT, one at a time, up to the sums.

    Input rows come once for each pair of groups into a buffer, windows of either group go through
    chains of multipliers, and sums wait row by row until they are taken. Each of these works on a
    row while the next one works on the row before.

    Throughput: a pixel of 8 channels per cycle for kernels of up to 3x3; `passes_of` says how many
    times as long others take. Latency: about 30 cycles from ``start`` to the first result, besides
    what the input rows of the first output row take.

    Parameters
    ----------
    vendor : Vendor
        What the multipliers are built from.
    fabric_chains : int
        As of the `TapChains`.

    Members
    -------
    job : ``In(JOB)``
        Stable from ``start`` to ``done``.
    start : ``In(1)``
        Begin; only while not ``is_busy``.
    is_busy, done : ``Out(1)``
        From the cycle after ``start`` to ``done``, when the last result was taken.
    rows_done : ``In(16)``
        Rows that the array has written, counted from the start of the list.
    fill : ``In(UnitFillSignature())``
        Weights and parameters of groups, in the order of jobs and groups.
    reads : ``Out(stream.Signature(ADDRESS_BITS))``
        Reads of the scratchpad.
    read_data : ``In(128)``
        What was there, `SCRATCHPAD_READ_CYCLES` after a read was taken.
    results : ``Out(stream.Signature(UNIT_RESULT))``
        Sums, row by row.
    ends_row : ``Out(1)``
        The last result of a row is taken, that of both groups of a pair.
    """

    def __init__(self, *, vendor: Vendor, fabric_chains: int = 0) -> None:
        self.vendor = vendor
        self.fabric_chains = fabric_chains
        super().__init__({
            "job": In(JOB),
            "start": In(1),
            "is_busy": Out(1),
            "done": Out(1),
            "rows_done": In(16),
            "fill": In(UnitFillSignature()),
            "reads": Out(stream.Signature(ADDRESS_BITS)),
            "read_data": In(8 * PAIR_CHANNELS),
            "results": Out(stream.Signature(UNIT_RESULT)),
            "ends_row": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        """Wire the parts, in the order that data takes."""
        m = Module()
        m.submodules.fetcher = fetcher = LineFetcher()
        m.submodules.lines = lines = LineBuffer()
        m.submodules.passes = passes = RowPasses()
        m.submodules.weights = weights = TapWeights()
        m.submodules.chains = chains = TapChains(
            vendor=self.vendor, fabric_chains=self.fabric_chains
        )
        m.submodules.sums = sums = SumRows()
        m.submodules.fills = fills = UnitFills()
        wiring.connect(m, wiring.flipped(self.reads), fetcher.reads)
        wiring.connect(m, wiring.flipped(self.fill), fills.fill)
        column = passes.columns.payload
        early = data.View(
            COLUMN, delayed(m, column.as_value(), _LINE_CYCLES - _WEIGHT_CYCLES, "column")
        )
        wait = _LINE_CYCLES + TapChains.LATENCY - SumRows.READ_CYCLES
        m.d.comb += [
            fetcher.job.eq(self.job),
            fetcher.start.eq(self.start),
            fetcher.rows_done.eq(self.rows_done),
            fetcher.oldest.eq(passes.oldest),
            fetcher.read_data.eq(self.read_data),
            lines.write.eq(fetcher.write),
            lines.write_slot.eq(fetcher.slot),
            lines.write_column.eq(fetcher.column),
            lines.pixel.eq(fetcher.pixel),
            passes.job.eq(self.job),
            passes.start.eq(self.start),
            passes.fetched.eq(fetcher.fetched),
            passes.has_weights.eq(fills.has_weights),
            passes.has_room.eq(sums.has_room),
            fills.takes_weights.eq(passes.takes_weights),
            fills.ends_group.eq(passes.ends_group),
            fills.group_passes.eq(passes.group_passes),
            lines.slot.eq(column.slot),
            lines.column.eq(column.column),
            lines.is_second.eq(column.is_second),
            lines.rows.eq(column.rows),
            weights.write.eq(fills.write),
            weights.write_place.eq(fills.write_place),
            weights.write_pair.eq(fills.write_pair),
            weights.words.eq(self.fill.words),
            weights.place.eq(early.weights),
            chains.pixels.eq(lines.pixels),
            chains.weights.eq(weights.weights),
            sums.takes_room.eq(passes.takes_room),
            sums.sums.eq(chains.sums),
            sums.output_columns.eq(self.job.output_columns),
        ]
        m.d.comb += sums.column.eq(delayed(m, column.as_value(), wait, "sums_column"))
        for name in ("is_result", "ends_row"):
            # What counts sums has a reset, what they are has none.
            m.d.comb += sums.column[name].eq(
                delayed(m, column[name], wait, f"sums_{name}", is_reset=True)
            )
        self._results(m, sums, fills)
        return m

    def _results(self, m: Module, sums: SumRows, fills: UnitFills) -> None:
        """Build the addresses of results, and the end of the job."""
        job, output = self.job, sums.outputs
        # What the start sets needs no reset. Addresses are of a pixel, of the first one of this row
        # and of the next one, and of the pair's.
        address, row_address, next_row, pair_address = (
            Signal(ADDRESS_BITS, name=name, reset_less=True)
            for name in ("address", "row_address", "next_row", "pair_address")
        )
        following = Signal(ADDRESS_BITS)
        rows_left, groups_left = Signal(16, reset_less=True), Signal(16, reset_less=True)
        has_second, is_second = Signal(reset_less=True), Signal(reset_less=True)
        place, pair_place = (
            Signal(range(PARAMETER_PLACES), name=name) for name in ("place", "pair_place")
        )
        next_place = Signal(range(PARAMETER_PLACES))
        takes, ends_row, ends_both, ends_rows = (
            Signal(name=name) for name in ("takes", "ends_row", "ends_both", "ends_rows")
        )
        m.d.comb += [
            self.results.valid.eq(output.valid),
            output.ready.eq(self.results.ready),
            self.results.payload.sums.eq(output.payload.sums),
            self.results.payload.address.eq(address),
            self.results.payload.place.eq(place),
            self.ends_row.eq(ends_both),
            takes.eq(output.valid & output.ready),
            ends_row.eq(takes & output.payload.ends_row),
            ends_both.eq(ends_row & (is_second | ~has_second)),
            ends_rows.eq(ends_row & (rows_left == 1)),
            fills.ends_results.eq(ends_rows),
            self.done.eq(ends_both & ends_rows & (groups_left <= 2)),
            following.eq(Mux(is_second, next_row, address + job.output_row_step)),
            next_place.eq(Mux(place == PARAMETER_PLACES - 1, 0, place + 1)),
        ]
        with m.If(self.start):
            m.d.sync += [
                self.is_busy.eq(1),
                address.eq(job.output_address),
                row_address.eq(job.output_address),
                pair_address.eq(job.output_address),
                rows_left.eq(job.output_rows),
                groups_left.eq(job.groups),
                has_second.eq(job.groups != 1),
                is_second.eq(0),
            ]
        with m.Elif(takes):
            m.d.sync += address.eq(address + job.output_pixel_bytes)
            with m.If(ends_row):
                m.d.sync += [
                    is_second.eq(~ends_both),
                    address.eq(row_address + UNIT_CHANNELS),
                    next_row.eq(following),
                    place.eq(next_place),
                ]
            with m.If(ends_both):
                m.d.sync += [
                    address.eq(following),
                    row_address.eq(following),
                    rows_left.eq(rows_left - 1),
                    place.eq(pair_place),
                ]
                with m.If(ends_rows):
                    pair = pair_address + PAIR_CHANNELS
                    m.d.sync += [
                        address.eq(pair),
                        row_address.eq(pair),
                        pair_address.eq(pair),
                        rows_left.eq(job.output_rows),
                        groups_left.eq(groups_left - 2),
                        has_second.eq(groups_left != 3),
                        place.eq(next_place),
                        pair_place.eq(next_place),
                    ]
            with m.If(self.done):
                m.d.sync += self.is_busy.eq(0)

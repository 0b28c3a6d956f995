"""The depthwise unit in the data path: what it shares with the array."""

from amaranth import Module, Mux, Signal, signed
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from kiwicha.contract.codec import BEAT_BYTES
from kiwicha.contract.depthwise import UNIT_CHANNELS
from kiwicha.contract.engine import READ_BYTES
from kiwicha.contract.latencies import (
    PARAMETER_CYCLES,
    REQUANTIZER_CYCLES,
    RESULT_WRITE_CYCLES,
)
from kiwicha.gateware.delay import delayed
from kiwicha.gateware.engine.array.mac_cell import Vendor
from kiwicha.gateware.engine.depthwise.depthwise_unit import UNIT_RESULT, DepthwiseUnit
from kiwicha.gateware.engine.depthwise.interfaces import UnitFillSignature
from kiwicha.gateware.engine.depthwise.patience import Patience
from kiwicha.gateware.engine.depthwise.unit_requantizer import UNIT_BYTES, UnitRequantizer
from kiwicha.gateware.engine.descriptors import ADDRESS_BITS, JOB

__all__ = ["CONSTANTS", "DepthwiseSide"]

CONSTANTS = data.StructLayout({
    "zero_point": signed(8),
    "minimum": signed(8),
    "maximum": signed(8),
})
"""What the requantizer takes from a job."""
_WRITE_CYCLES = PARAMETER_CYCLES + REQUANTIZER_CYCLES + RESULT_WRITE_CYCLES
"""From sums that are taken until their bytes are in the scratchpad."""


class DepthwiseSide(wiring.Component):
    """The `DepthwiseUnit`, in the cycles in which the array leaves it what both need.

    It reads when the array does not, and it leaves the upper bytes of a read to the array, which
    then has less to read; or it has reads of its own. Its sums go to the requantizer when the array
    has none, or to one of its own when the array has none that are written; if they wait too long,
    the array is asked to pause every other cycle. If transfers wait too long for the line port, the
    unit does so itself.

    Latency: 1 cycle from ``takes`` to the requantizer; 12 from the last one to ``done``.

    Parameters
    ----------
    vendor : Vendor
        What the multipliers are built from.
    fabric_chains : int
        As of the `DepthwiseUnit`.
    shares_reads : bool
        The array reads from the same port.
    shares_results : bool
        The requantizer is the array's.

    Members
    -------
    job, start : ``In``
        As of the `DepthwiseUnit`.
    done : ``Out(1)``
        All results are in the scratchpad.
    fill : ``In(UnitFillSignature())``
        As of the `DepthwiseUnit`.
    ends_row : ``In(1)``
        A row of the array is written.
    rows_done : ``Out(16)``
        Rows of the unit that are written.
    reads : ``Out(stream.Signature(ADDRESS_BITS))``
        As of the `DepthwiseUnit`.
    read_data : ``In(128)``
        What any read gives.
    keeps_upper : ``In(1)``
        Only with ``shares_reads``, as the next one: it is that of the array.
    upper : ``Out(64)``
        Upper bytes of its last one, one cycle later.
    is_wide : ``In(1)``
        The array works in the wide mode.
    makes_wide : ``Out(1)``
        Only with ``shares_results``: the requantizer does, and nothing of the unit is in it.
    takes_lines : ``In(1)``
        A job that writes without the requantizer is under way.
    leaves_lines : ``Out(1)``
        It may begin: nothing of the unit is in the requantizer, and nothing will be.
    waits_line : ``In(1)``
        A transfer waits for the line port.
    has_beat : ``In(1)``
        The array has sums; without ``shares_results``, some whose bytes are written at once.
    parameters : ``In(128)``
        Only without ``shares_results``, as the next one: the beat of a fill.
    written : ``Out(stream.Signature(UNIT_BYTES, always_ready=True))``
        Bytes that the unit's requantizer gives, when the array's gives none that are written.
    takes : ``Out(1)``
        Only with ``shares_results``, as all that follows but ``yields`` and ``pauses``: ``result``
        goes to the requantizer instead. Combinational.
    result : ``Out(UNIT_RESULT)``
        Sums, and where they go.
    yields, pauses : ``Out(1)``
        The array is to leave room for results; for reads.
    is_beat, is_result : ``Out(1)``
        What enters the requantizer, and what leaves it, is the unit's.
    own : ``In(CONSTANTS)``
        Those of the array.
    constants : ``Out(CONSTANTS)``
        Those of what the requantizer works on.
    """

    def __init__(
        self,
        *,
        vendor: Vendor,
        fabric_chains: int = 0,
        shares_reads: bool = True,
        shares_results: bool = True,
    ) -> None:
        self.vendor = vendor
        self.fabric_chains = fabric_chains
        self.shares_reads = shares_reads
        self.shares_results = shares_results
        reads = {"keeps_upper": In(1), "upper": Out(8 * UNIT_CHANNELS)}
        shared = {
            "makes_wide": Out(1),
            "takes": Out(1),
            "result": Out(UNIT_RESULT),
            "is_beat": Out(1),
            "is_result": Out(1),
            "own": In(CONSTANTS),
            "constants": Out(CONSTANTS),
        }
        own = {
            "parameters": In(8 * BEAT_BYTES),
            "written": Out(stream.Signature(UNIT_BYTES, always_ready=True)),
        }
        super().__init__({
            **(reads if shares_reads else {}),
            **(shared if shares_results else own),
            "job": In(JOB),
            "start": In(1),
            "done": Out(1),
            "fill": In(UnitFillSignature()),
            "ends_row": In(1),
            "rows_done": Out(16),
            "reads": Out(stream.Signature(ADDRESS_BITS)),
            "read_data": In(8 * READ_BYTES),
            "is_wide": In(1),
            "takes_lines": In(1),
            "leaves_lines": Out(1),
            "waits_line": In(1),
            "has_beat": In(1),
            "yields": Out(1),
            "pauses": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        """Build what surrounds the unit."""
        m = Module()
        m.submodules.unit = unit = DepthwiseUnit(
            vendor=self.vendor, fabric_chains=self.fabric_chains
        )
        wiring.connect(m, wiring.flipped(self.fill), unit.fill)
        wiring.connect(m, unit.reads, wiring.flipped(self.reads))
        with m.If(self.ends_row):
            m.d.sync += unit.rows_done.eq(unit.rows_done + 1)
        if self.shares_reads:
            self._share_reads(m, unit)
        with m.If(delayed(m, unit.ends_row, _WRITE_CYCLES, "ends_row", is_reset=True)):
            m.d.sync += self.rows_done.eq(self.rows_done + 1)
        m.d.comb += [
            unit.job.eq(self.job),
            unit.start.eq(self.start),
            unit.read_data.eq(self.read_data),
            self.done.eq(delayed(m, unit.done, _WRITE_CYCLES + 1, "done", is_reset=True)),
        ]
        is_taken = self._take_results(m, unit)
        if self.shares_results:
            self._share_requantizer(m, unit, is_taken)
        else:
            self._requantize(m, unit, is_taken)
        return m

    def _share_reads(self, m: Module, unit: DepthwiseUnit) -> None:
        """Keep what the array does not read again, and ask for what the unit needs."""
        upper = Signal(8 * UNIT_CHANNELS, reset_less=True)
        m.d.comb += self.upper.eq(upper)
        with m.If(self.keeps_upper):
            m.d.sync += upper.eq(self.read_data[8 * UNIT_CHANNELS :])
        m.submodules.read_patience = read_patience = Patience()
        m.d.comb += [
            read_patience.waits.eq(unit.reads.valid & ~unit.reads.ready),
            self.pauses.eq(read_patience.asks),
        ]

    def _take_results(self, m: Module, unit: DepthwiseUnit) -> Signal:
        """Ask for what results need; return whether one is taken."""
        is_taken = Signal()
        m.submodules.patience = patience = Patience()
        m.submodules.line_patience = line_patience = Patience()
        # Cycles since the unit's last sums could be taken.
        without = Signal(range(_WRITE_CYCLES + 1))
        with m.If(~self.takes_lines):
            m.d.sync += without.eq(0)
        with m.Elif(~self.leaves_lines):
            m.d.sync += without.eq(without + 1)
        # Wide results take a cycle more, so the unit's would meet them.
        is_held = self.has_beat | self.is_wide | self.takes_lines | line_patience.asks
        if self.shares_results:
            is_held |= self.makes_wide
        m.d.comb += [
            unit.results.ready.eq(~is_held),
            self.leaves_lines.eq(without == _WRITE_CYCLES),
            is_taken.eq(unit.results.valid & unit.results.ready),
            patience.waits.eq(unit.results.valid & self.has_beat),
            line_patience.waits.eq(self.waits_line),
            self.yields.eq(patience.asks),
        ]
        return is_taken

    def _requantize(self, m: Module, unit: DepthwiseUnit, is_taken: Signal) -> None:
        """Build the unit's own requantizer; the array's results take as long."""
        m.submodules.requantizer = requantizer = UnitRequantizer()
        m.d.comb += [
            requantizer.job.eq(self.job),
            requantizer.parameters.eq(self.fill.parameters),
            requantizer.beat.eq(self.parameters),
            requantizer.takes.eq(is_taken),
            requantizer.result.eq(unit.results.payload),
        ]
        wiring.connect(m, requantizer.written, wiring.flipped(self.written))

    def _share_requantizer(self, m: Module, unit: DepthwiseUnit, is_taken: Signal) -> None:
        """Build the way to the requantizer."""
        m.d.comb += [
            self.makes_wide.eq(
                delayed(m, self.is_wide, REQUANTIZER_CYCLES, "is_wide", is_reset=True)
            ),
            self.takes.eq(is_taken),
            self.result.eq(unit.results.payload),
        ]
        m.d.sync += self.is_beat.eq(self.takes)
        is_late = self.is_beat
        own = {name: getattr(self.own, name) for name in ("zero_point", "minimum", "maximum")}
        zero_point_late = delayed(m, is_late, REQUANTIZER_CYCLES - 2, "is_beat")
        clamp_late = delayed(m, zero_point_late, 1, "is_summed")
        job = self.job
        m.d.comb += [
            self.constants.zero_point.eq(
                Mux(zero_point_late, job.output_zero_point, own["zero_point"])
            ),
            self.constants.minimum.eq(Mux(clamp_late, job.activation_min, own["minimum"])),
            self.constants.maximum.eq(Mux(clamp_late, job.activation_max, own["maximum"])),
            self.is_result.eq(delayed(m, clamp_late, 1, "is_clamped")),
        ]

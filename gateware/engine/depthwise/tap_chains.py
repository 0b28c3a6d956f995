"""Multipliers of the depthwise unit: a chain of cells for each channel."""

from amaranth import Const, Module, signed
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from kiwicha.contract.depthwise import UNIT_CHANNELS, UNIT_TAPS
from kiwicha.gateware.delay import delayed
from kiwicha.gateware.engine.array.interfaces import OPERAND_BITS
from kiwicha.gateware.engine.array.mac_cell import SUM_BITS, AddTo, MacCell, Vendor

__all__ = ["TapChains"]

_CELLS = UNIT_TAPS * UNIT_TAPS


class TapChains(wiring.Component):
    """Sums of `UNIT_TAPS` x `UNIT_TAPS` products over a window that moves on by a column per cycle.

    Cell ``UNIT_TAPS * row + column`` of a channel's chain multiplies that row's pixel. A sum moves
    on by one cell with each column that comes, so it meets each column of its window in the cell of
    that column; further rows come `UNIT_TAPS` cycles later each.

    Latency: `LATENCY` cycles from the last column of a window to its sum. Throughput: a column per
    cycle. Nothing stalls: windows over columns that do not belong together are left out by the one
    who takes the sums.

    Parameters
    ----------
    vendor : Vendor
        What the multipliers are built from.
    fabric_chains : int
        But those of so many channels, the last ones, are built from LUTs.

    Members
    -------
    pixels : ``In(ArrayLayout(ArrayLayout(signed(9), 8), UNIT_TAPS))``
        A column of each row.
    weights : ``In(ArrayLayout(ArrayLayout(signed(9), 8), 9))``
        Weights of each cell; those of further rows `UNIT_TAPS` cycles later each.
    sums : ``Out(ArrayLayout(signed(25), 8))``
        Of a window for each channel.
    """

    LATENCY = MacCell.LATENCY + _CELLS - UNIT_TAPS

    def __init__(self, *, vendor: Vendor, fabric_chains: int = 0) -> None:
        is_valid = isinstance(fabric_chains, int) and 0 <= fabric_chains <= UNIT_CHANNELS
        if not is_valid:
            text = f"fabric_chains must be an integer from 0 to {UNIT_CHANNELS}"
            raise ValueError(f"{text}, not {fabric_chains!r}")
        self.vendor = vendor
        self.fabric_chains = fabric_chains
        pixel = data.ArrayLayout(signed(OPERAND_BITS), UNIT_CHANNELS)
        super().__init__({
            "pixels": In(data.ArrayLayout(pixel, UNIT_TAPS)),
            "weights": In(data.ArrayLayout(pixel, _CELLS)),
            "sums": Out(data.ArrayLayout(signed(SUM_BITS), UNIT_CHANNELS)),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the chains, and the delay of further rows."""
        m = Module()
        rows = [
            data.View(
                self.pixels[row].shape(),
                delayed(m, self.pixels[row].as_value(), UNIT_TAPS * row, f"row_{row}"),
            )
            for row in range(UNIT_TAPS)
        ]
        for channel in range(UNIT_CHANNELS):
            before: MacCell | None = None
            is_fabric = channel >= UNIT_CHANNELS - self.fabric_chains
            vendor = Vendor.FABRIC if is_fabric else self.vendor
            for number in range(_CELLS):
                cell = MacCell(vendor=vendor, is_chained=before is not None)
                m.submodules[f"cell_{channel}_{number}"] = cell
                m.d.comb += [
                    cell.shared.eq(rows[number // UNIT_TAPS][channel]),
                    cell.weight.eq(self.weights[number][channel]),
                    cell.is_own.eq(0),
                    cell.enable.eq(1),
                    cell.add_to.eq(Const(AddTo.ZERO, AddTo)),
                ]
                if before is not None:
                    m.d.comb += [
                        cell.add_to.eq(Const(AddTo.CHAIN, AddTo)),
                        cell.chain.eq(before.cascade),
                    ]
                before = cell
            if before is not None:
                m.d.comb += self.sums[channel].eq(before.sum)
        return m

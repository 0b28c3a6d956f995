"""A board's pins to its configuration flash memory, which the design uses after configuration."""

from typing import Any

from litex.gen import LiteXModule
from migen import Instance, Record

from kiwicha.boards.family import Family

__all__ = ["FlashPins"]

_PADS = [("clk", 1), ("cs_n", 1), ("mosi", 1), ("miso", 1)]


class FlashPins(LiteXModule):
    """One data line in each direction to the flash memory.

    Parameters
    ----------
    platform : GenericPlatform
        LiteX's description of the board, with the resource ``spiflash``.
    family : Family
        On ECP5 the clock has no pin that a design can name: it goes through the configuration's.

    Members
    -------
    pads : Record
        ``clk``, ``cs_n``, ``mosi`` and ``miso``.
    """

    def __init__(self, platform: Any, family: Family) -> None:
        pins = platform.request("spiflash")
        self.pads = pads = Record(_PADS)
        self.comb += [
            pins.cs_n.eq(pads.cs_n),
            pins.mosi.eq(pads.mosi),
            pads.miso.eq(pins.miso),
            # Low would stop writing, or transfers.
            pins.wp.eq(1),
            pins.hold.eq(1),
        ]
        if family is Family.ECP5:
            self.specials += Instance("USRMCLK", i_USRMCLKI=pads.clk, i_USRMCLKTS=0)
        else:
            self.comb += pins.clk.eq(pads.clk)

"""A board's pins to its slot for SD cards, as a card in SPI mode has them."""

from typing import Any

from litex.gen import LiteXModule
from migen import Record

__all__ = ["SDCARD_RESOURCE", "SdcardPins"]

SDCARD_RESOURCE = "spisdcard"
"""LiteX's name, and ours where LiteX has none."""
_PADS = [("clk", 1), ("cs_n", 1), ("mosi", 1), ("miso", 1)]


class SdcardPins(LiteXModule):
    """One data line in each direction to the card.

    Parameters
    ----------
    platform : GenericPlatform
        LiteX's description of the board, with the resource `SDCARD_RESOURCE`: ``clk``, ``cs_n``,
        ``mosi`` and ``miso``. Where the lines go through a translator of levels, it also has the
        directions of that, ``to_card`` and ``from_card``, and the lines ``unused`` that it drives.

    Members
    -------
    pads : Record
        ``clk``, ``cs_n``, ``mosi`` and ``miso``.
    """

    def __init__(self, platform: Any) -> None:
        pins = platform.request(SDCARD_RESOURCE)
        self.pads = pads = Record(_PADS)
        self.comb += [
            pins.clk.eq(pads.clk),
            pins.cs_n.eq(pads.cs_n),
            pins.mosi.eq(pads.mosi),
            pads.miso.eq(pins.miso),
        ]
        if hasattr(pins, "to_card"):
            self.comb += [
                pins.to_card.eq(2 ** len(pins.to_card) - 1),
                pins.from_card.eq(0),
                pins.unused.eq(2 ** len(pins.unused) - 1),
            ]

"""A microphone at a board's pins."""

from typing import Any

from litex.build.generic_platform import IOStandard, Pins, Subsignal
from litex.gen import LiteXModule
from migen import Record

from kiwicha.sim.soc.microphone import MICROPHONE_PADS

__all__ = ["MicrophonePins"]

_RESOURCE = "microphone"


class MicrophonePins(LiteXModule):
    """The pins of a microphone with an I2S port, such as INMP441 or ICS-43434.

    Parameters
    ----------
    platform : GenericPlatform
        LiteX's description of the board.
    pins : tuple of str
        3, as `kiwicha.boards.board.Board.microphone_pins`.

    Members
    -------
    pads : Record
        `MICROPHONE_PADS`.
    """

    def __init__(self, platform: Any, pins: tuple[str, ...]) -> None:
        names = zip(("bclk", "lrclk", "data"), pins, strict=True)
        signals = [Subsignal(name, Pins(pin)) for name, pin in names]
        platform.add_extension([(_RESOURCE, 0, *signals, IOStandard("LVCMOS33"))])
        there = platform.request(_RESOURCE)
        self.pads = pads = Record(MICROPHONE_PADS)
        self.comb += [
            there.bclk.eq(pads.bclk),
            there.lrclk.eq(pads.lrclk),
            pads.data.eq(there.data),
        ]

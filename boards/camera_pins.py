"""A camera module at a board's pins: its port, its clock, and the bus that sets it up."""

from typing import Any

from litex.build.generic_platform import IOStandard, Pins, Subsignal
from litex.gen import LiteXModule
from litex.soc.cores.bitbang import I2CMaster
from migen import Record, Signal

from kiwicha.sim.soc.camera_pixels import CAMERA_PADS

__all__ = ["CameraPins"]

_RESOURCE = "camera"
_CLOCK_DIVIDER = 4
"""Of the system's clock, for the camera's: its pixel clock is not faster, and may be as fast."""


class CameraPins(LiteXModule):
    """The pins of a camera module with a digital video port, such as those with an OV7670.

    Parameters
    ----------
    platform : GenericPlatform
        LiteX's description of the board.
    pins : tuple of str
        16, as `kiwicha.boards.board.Board.camera_pins`.

    Members
    -------
    pads : Record
        `CAMERA_PADS`.
    bus : I2CMaster
        For software: the camera's registers (SCCB, which is I2C here).
    """

    def __init__(self, platform: Any, pins: tuple[str, ...]) -> None:
        data, (pclk, href, vsync, xclk, scl, sda, reset, powerdown) = pins[:8], pins[8:]
        names = {"pclk": pclk, "href": href, "vsync": vsync, "xclk": xclk, "scl": scl, "sda": sda}
        names |= {"reset_n": reset, "powerdown": powerdown, "data": " ".join(data)}
        signals = [Subsignal(name, Pins(pin)) for name, pin in names.items()]
        platform.add_extension([(_RESOURCE, 0, *signals, IOStandard("LVCMOS33"))])
        there = platform.request(_RESOURCE)
        self.pads = pads = Record(CAMERA_PADS)
        self.bus = I2CMaster(there)
        count = Signal(max=_CLOCK_DIVIDER)
        clock = Signal()
        self.comb += [
            *(getattr(pads, name).eq(getattr(there, name)) for name, _ in CAMERA_PADS),
            there.reset_n.eq(1),
            there.powerdown.eq(0),
            there.xclk.eq(clock),
        ]
        self.sync += [count.eq(count + 1), clock.eq(count[-1])]

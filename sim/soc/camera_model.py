"""A model of a camera, for the simulation: it shows recorded frames, again and again."""

from litex.gen import LiteXModule
from migen import If, Memory, Record, Signal

from kiwicha.sim.soc.camera_pixels import CAMERA_PADS

__all__ = [
    "CAMERA_CONTENTS",
    "CAMERA_FRAMES",
    "CAMERA_HEIGHT",
    "CAMERA_PERIOD_CYCLES",
    "CAMERA_WIDTH",
    "CameraModel",
]

CAMERA_CONTENTS = "camera_contents"
"""Name of its memory. The simulator reads the frames, a byte in hexadecimal digits per line, from
``soc_camera_contents.init`` in the folder where it runs."""
CAMERA_WIDTH, CAMERA_HEIGHT, CAMERA_FRAMES = 160, 120, 4
_BLANK_PIXELS = 16
"""Behind each line."""
_BLANK_LINES = 4
"""Behind each frame, with vsync high."""
_CYCLES = 4
"""Of the system, for one of the pixel clock."""
CAMERA_PERIOD_CYCLES = (CAMERA_WIDTH + _BLANK_PIXELS) * (CAMERA_HEIGHT + _BLANK_LINES) * _CYCLES
"""From one frame to the next."""


class CameraModel(LiteXModule):
    """A camera of grey pixels with a digital video port.

    Members
    -------
    pads : Record
        `CAMERA_PADS`.
    """

    def __init__(self) -> None:
        self.pads = pads = Record(CAMERA_PADS)
        bytes_of_all = CAMERA_WIDTH * CAMERA_HEIGHT * CAMERA_FRAMES
        memory = Memory(8, bytes_of_all, init=[0], name=CAMERA_CONTENTS)
        port = memory.get_port()
        self.specials += memory, port
        phase = Signal(max=_CYCLES)
        x = Signal(max=CAMERA_WIDTH + _BLANK_PIXELS)
        y = Signal(max=CAMERA_HEIGHT + _BLANK_LINES)
        at = Signal(max=bytes_of_all)
        self.comb += port.adr.eq(at)
        self.sync += [
            phase.eq(phase + 1),
            # Everything changes with the falling edge.
            pads.pclk.eq(phase >= _CYCLES // 2),
            If(
                phase == _CYCLES - 1,
                phase.eq(0),
                pads.href.eq((x < CAMERA_WIDTH) & (y < CAMERA_HEIGHT)),
                pads.vsync.eq(y >= CAMERA_HEIGHT),
                pads.data.eq(port.dat_r),
                If(
                    (x < CAMERA_WIDTH) & (y < CAMERA_HEIGHT),
                    at.eq(at + 1),
                    If(at == bytes_of_all - 1, at.eq(0)),
                ),
                x.eq(x + 1),
                If(
                    x == CAMERA_WIDTH + _BLANK_PIXELS - 1,
                    x.eq(0),
                    y.eq(y + 1),
                    If(y == CAMERA_HEIGHT + _BLANK_LINES - 1, y.eq(0)),
                ),
            ),
        ]

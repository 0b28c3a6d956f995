"""A camera whose frames go to DRAM, where the engine reads its input."""

from typing import Any

from litex.soc.interconnect.csr import CSRField, CSRStatus, CSRStorage
from litex.soc.interconnect.csr_eventmanager import EventManager, EventSourcePulse
from migen import Array, If, Signal, log2_int

from kiwicha.contract.cfu import DRAM_BASE
from kiwicha.contract.engine import LINE_BYTES
from kiwicha.sim.soc.camera_pixels import COORDINATE_BITS, STEP_BITS, CameraPixels
from kiwicha.sim.soc.line_writer import LineWriter

__all__ = ["Camera"]

_BUFFERS = 2
_FIFO_LINES = 16
"""Between camera and memory: what comes while DRAM is refreshed or the engine fetches."""
_ADDRESS_BITS = 32
_LINE_SHIFT = log2_int(LINE_BYTES)


class Camera(LineWriter):
    """Frames of a camera, written to two places of DRAM in turn.

    A frame goes to the next place if software has armed that; else it is dropped. So a place keeps
    its frame until software arms it anew. When the last byte of a frame is in DRAM, its place is
    armed no more and the event ``frame`` becomes pending. Frames that DRAM was too slow for are
    dropped, too.

    Parameters
    ----------
    pads : Record
        `kiwicha.sim.soc.camera_pixels.CAMERA_PADS`.
    port : LiteDRAMNativePort
        Of 16 bytes, to write.
    """

    def __init__(self, *, pads: Any, port: Any) -> None:
        self.pixels = pixels = CameraPixels(pads)
        self._add_dma(port, _FIFO_LINES)
        self._control = CSRStorage(
            fields=[
                CSRField("enable", description="Frames are taken, from the next one on."),
                CSRField("skip", description="Every second byte is no pixel: YUV 4:2:2."),
                CSRField("vsync_low", description="vsync is low between frames."),
                CSRField("signed", description="Pixels become int8: 128 is subtracted."),
            ]
        )
        self._left = CSRStorage(COORDINATE_BITS, description="First pixel of a line to be taken.")
        self._top = CSRStorage(COORDINATE_BITS, description="First line to be taken.")
        self._step = CSRStorage(STEP_BITS, reset=1, description="From a pixel, a line to the next.")
        self._width = CSRStorage(COORDINATE_BITS, description="Pixels of a line that are taken.")
        self._height = CSRStorage(
            COORDINATE_BITS, description="Lines; width times height is a multiple of 16."
        )
        self._place0 = CSRStorage(_ADDRESS_BITS, description="A multiple of 16, in DRAM.")
        self._place1 = CSRStorage(_ADDRESS_BITS, description="The place of every second frame.")
        self._arm = CSRStorage(
            _BUFFERS, description="Writing arms the places whose bits are set, and no other."
        )
        self._armed = CSRStatus(_BUFFERS, description="Places that a frame may go to.")
        self._next = CSRStatus(1, description="The place of the next frame.")
        self._number0 = CSRStatus(32, description="Which frame is in the place, of all from 0 on.")
        self._number1 = CSRStatus(32, description="Which frame is in the second place.")
        self._frames = CSRStatus(32, description="Frames since they are enabled.")
        self._dropped = CSRStatus(32, description="Frames that were not written.")
        self.ev = EventManager()
        self.ev.frame = EventSourcePulse(description="A frame is in DRAM.")
        self.ev.finalize()

        self.comb += [
            pixels.is_enabled.eq(self._control.fields.enable),
            pixels.skips.eq(self._control.fields.skip),
            pixels.is_inverted.eq(self._control.fields.vsync_low),
            pixels.is_signed.eq(self._control.fields.signed),
            pixels.left.eq(self._left.storage),
            pixels.top.eq(self._top.storage),
            pixels.step.eq(self._step.storage),
            pixels.width.eq(self._width.storage),
            pixels.height.eq(self._height.storage),
        ]
        self.comb += self.lines.source.connect(self.dma.sink)
        self._collect(pixels.pixel, pixels.is_pixel, pixels.begins)
        self._count_frames(pixels, port)

    def _count_frames(self, pixels: CameraPixels, port: Any) -> None:
        """Say where frames go, and when they are there."""
        places = Array([self._place0.storage, self._place1.storage])
        which, armed = self._next.status, self._armed.status
        under_way, _ = self._count_lines(port)
        frame, is_over = self._frames.status, Signal()
        taken, is_done = Signal(32), Signal()
        armed_bits = Array([armed[0], armed[1]])
        self.comb += [
            is_done.eq(is_over & ~self.line_is_full & (under_way == 0)),
            self.ev.frame.trigger.eq(is_done & ~self.is_lost),
        ]
        self.sync += [
            If(self._arm.re, armed.eq(armed | self._arm.storage)),
            If(
                pixels.begins,
                frame.eq(frame + 1),
                # Behind a frame that is not in DRAM yet, this one is too early.
                If(
                    armed_bits[which] & ~is_over,
                    self.is_taking.eq(1),
                    taken.eq(frame),
                    self.at.eq((places[which] - DRAM_BASE) >> _LINE_SHIFT),
                ).Else(self._dropped.status.eq(self._dropped.status + 1)),
            ),
            If(pixels.ends & self.is_taking, self.is_taking.eq(0), is_over.eq(1)),
            If(
                is_done,
                is_over.eq(0),
                If(
                    self.is_lost,
                    self._dropped.status.eq(self._dropped.status + 1),
                ).Else(
                    which.eq(~which),
                    If(which, armed[1].eq(0), self._number1.status.eq(taken)).Else(
                        armed[0].eq(0), self._number0.status.eq(taken)
                    ),
                ),
            ),
            If(
                ~self._control.fields.enable & ~self.is_taking & ~is_over,
                frame.eq(0),
                which.eq(0),
                armed.eq(0),
                self._dropped.status.eq(0),
            ),
        ]

"""The pixels of a camera's frames: a parallel port, and what is taken of it."""

from typing import Any

from litex.gen import LiteXModule
from migen import If, Record, Signal
from migen.genlib.cdc import MultiReg

__all__ = ["CAMERA_PADS", "COORDINATE_BITS", "STEP_BITS", "CameraPixels"]

CAMERA_PADS = [("pclk", 1), ("href", 1), ("vsync", 1), ("data", 8)]
COORDINATE_BITS = 12
STEP_BITS = 4


class CameraPixels(LiteXModule):
    """A part of each frame of a camera with a digital video port (DVP), every so many-th pixel.

    The port's signals are sampled by the system's clock, which must be four times as fast as
    ``pclk`` or faster: then no clock of another domain is needed.

    Members
    -------
    pads : Record
        `CAMERA_PADS`: bytes are valid at rising edges of ``pclk`` while ``href`` is high; ``vsync``
        is high between frames.
    is_enabled : Signal
        In. While it is low, nothing is taken; it becomes effective with the next frame.
    skips : Signal
        In. Of every two bytes the second is no pixel: colours of YUV 4:2:2, luma first.
    is_inverted : Signal
        In. ``vsync`` is low between frames.
    is_signed : Signal
        In. Pixels come out as int8: 128 is subtracted.
    left, top, step, width, height : Signal
        In. The first pixel and line that are taken, then each `step`-th, and how many of both. They
        stay as they are while frames are taken.
    pixel : Signal(8)
        Out.
    is_pixel : Signal
        Out. High for the cycle in which `pixel` is one.
    begins, ends : Signal
        Out. High for a cycle before the first pixel and behind the last one of a frame.
    """

    def __init__(self, pads: Any = None) -> None:
        self.pads = pads = Record(CAMERA_PADS) if pads is None else pads
        self.is_enabled, self.skips = Signal(), Signal()
        self.is_inverted, self.is_signed = Signal(), Signal()
        self.left, self.top, self.width, self.height = (Signal(COORDINATE_BITS) for _ in range(4))
        self.step = Signal(STEP_BITS)
        self.pixel, self.is_pixel = Signal(8), Signal()
        self.begins, self.ends = Signal(), Signal()

        pclk, href, vsync, data = Signal(), Signal(), Signal(), Signal(8)
        self.specials += [
            MultiReg(pads.pclk, pclk),
            MultiReg(pads.href, href),
            MultiReg(pads.vsync, vsync),
            MultiReg(pads.data, data),
        ]
        was_high, is_sample, is_between, was_between = Signal(), Signal(), Signal(), Signal()
        self.sync += [
            was_high.eq(pclk),
            If(is_sample, was_between.eq(is_between)),
        ]
        self.comb += [
            is_sample.eq(pclk & ~was_high),
            is_between.eq(vsync ^ self.is_inverted),
        ]
        x, y = _Place(self.left, self.step, self.width), _Place(self.top, self.step, self.height)
        self.x, self.y = x, y
        is_taken, was_in_line, is_colour = Signal(), Signal(), Signal()
        is_byte, is_first, is_last = Signal(), Signal(), Signal()
        self.comb += [
            is_byte.eq(is_sample & href & ~is_between & is_taken),
            is_first.eq(is_sample & was_between & ~is_between),
            is_last.eq(is_sample & ~was_between & is_between & is_taken),
            x.advances.eq(is_byte & ~is_colour),
            # A line ends: the next one is another.
            y.advances.eq(is_sample & was_in_line & ~href & is_taken),
            x.begins.eq(y.advances | is_first),
            y.begins.eq(is_first),
        ]
        self.sync += [
            self.begins.eq(is_first & self.is_enabled),
            self.ends.eq(is_last),
            self.is_pixel.eq(x.advances & x.is_taken & y.is_taken),
            self.pixel.eq(data),
            If(self.is_signed, self.pixel[7].eq(~data[7])),
            If(is_sample, was_in_line.eq(href)),
            If(is_first, is_taken.eq(self.is_enabled)).Elif(is_last, is_taken.eq(0)),
            If(is_byte, is_colour.eq(self.skips & ~is_colour)),
            If(x.begins, is_colour.eq(0)),
        ]


class _Place(LiteXModule):
    """A counter of pixels of a line, or of lines.

    Members
    -------
    begins, advances : Signal
        In. The next place is the first one; it is the one behind.
    is_taken : Signal
        Out. What is at this place is wanted.
    """

    def __init__(self, first: Signal, step: Signal, count: Signal) -> None:
        self.begins, self.advances, self.is_taken = Signal(), Signal(), Signal()
        before, phase = Signal(COORDINATE_BITS), Signal(STEP_BITS)
        left = Signal(COORDINATE_BITS)
        self.comb += self.is_taken.eq((before == 0) & (phase == 0) & (left != 0))
        self.sync += If(
            self.begins,
            before.eq(first),
            phase.eq(0),
            left.eq(count),
        ).Elif(
            self.advances,
            If(before != 0, before.eq(before - 1)).Elif(
                left != 0,
                phase.eq(phase + 1),
                If(phase == step - 1, phase.eq(0)),
                If(phase == 0, left.eq(left - 1)),
            ),
        )

"""The unit for frames of sound: its instructions and its sizes.

It stands beside the instruction tier where `Config.has_signal` says so. Its instructions are those
of `kiwicha.contract.cfu.Group.SIGNAL`. The roots of one that transforms multiply by are here, too,
which CPU and unit share.

Notes
-----
Ref: _kiss_fft_guts.h and kiss_fft.c of KISS FFT 1.3.0 with FIXED_POINT=16 (the roots).
"""

import enum
import math

__all__ = [
    "LEAST_HALF_BITS",
    "MOST_HALF_BITS",
    "SIGNAL_INDEXES",
    "SignalBand",
    "SignalOp",
    "SignalPoint",
    "SignalRoot",
    "root_of_one",
    "transform_roots",
]

LEAST_HALF_BITS = 2
MOST_HALF_BITS = 8
"""Bits of the complex numbers of a transform, which are half as many as the samples: 4 to 256."""
_ROOT_ONE = 2**15 - 1
"""What stands for 1 in a root."""


class SignalOp(enum.IntEnum):
    """Ops of `Group.SIGNAL`. The unit has a memory of complex numbers of int16, the points.

    Effects are those of executing the instructions one after the other. What the points are after
    a reset is undefined.
    """

    BEGIN = 0
    """inputs_0: bits of the count of points, `LEAST_HALF_BITS` to `MOST_HALF_BITS`, which other
    numbers of its low four bits stand for, too. inputs_1: shift of `TAPER`, 0 to 31. The next
    samples are those of the first point, and the magnitude is 0. Answers 0."""
    TAPER = 1
    """inputs_0: two samples, int16, the first one in the low half; inputs_1: their weights. The
    products, shifted down and saturated, are the next point. Answers 0."""
    MAGNITUDE = 2
    """Answers the union of the bits of all magnitudes since `BEGIN`, 16 bits."""
    TRANSFORM = 3
    """inputs_0: by how many bits samples are shifted up first, 0 to 31. The points become the
    spectrum of the samples, `fourier.real_transform`, and the unit stands at frequency 0.
    Answers 0."""
    POINT = 4
    """index: `SignalPoint`."""
    BAND = 5
    """index: `SignalBand`."""
    ROOT = 6
    """index: `SignalRoot`."""
    BITS = 7
    """Answers how many bits inputs_0 has, up to the highest one that is set: 0 to 32."""


class SignalPoint(enum.IntEnum):
    """Indexes of `SignalOp.POINT`."""

    NUMBER = 0
    """Answers the number at this frequency as the unit found it when it came there, real part in
    the low half, and goes to the next one."""
    ENERGY = 1
    """Answers its squared magnitude, and goes to the next one."""
    SEEK = 2
    """inputs_0: a frequency, 0 to the count of points; modulo twice the most there can be. The unit
    stands there. Answers 0."""


class SignalBand(enum.IntEnum):
    """Indexes of `SignalOp.BAND`. There are two sums of 64 bits, of a band and of the next one."""

    ADD = 0
    """inputs_0, inputs_1: weights, 16 bits without a sign. Adds the squared magnitude at this
    frequency times these to the sum of the band, and to that of the next one; goes to the next
    frequency. Answers 0."""
    NEXT = 1
    """The sum of the next band becomes that of the band, and is 0 itself. Answers 0."""
    CLEAR = 2
    """Both are 0. Answers 0."""


class SignalRoot(enum.IntEnum):
    """Indexes of `SignalOp.ROOT`."""

    OF_NUMBER = 0
    """inputs_1, inputs_0: high and low word of a number, whose root is searched. Answers 0."""
    OF_BAND = 1
    """The root of the band's sum is searched; then as `SignalBand.NEXT`. Answers 0."""
    RESULT = 2
    """Answers the last root, rounded, as soon as it is there."""


SIGNAL_INDEXES = {
    SignalOp.BEGIN: 1,
    SignalOp.TAPER: 1,
    SignalOp.MAGNITUDE: 1,
    SignalOp.TRANSFORM: 1,
    SignalOp.POINT: len(SignalPoint),
    SignalOp.BAND: len(SignalBand),
    SignalOp.ROOT: len(SignalRoot),
    SignalOp.BITS: 1,
}
"""How many indexes each instruction has."""


def root_of_one(phase: float) -> tuple[int, int]:
    """Return the number of magnitude 1 at a phase in radians: real and imaginary part, int16."""
    re, im = (math.floor(0.5 + _ROOT_ONE * part) for part in (math.cos(phase), math.sin(phase)))
    return re, im


def transform_roots(size: int, *, is_inverse: bool = False) -> list[tuple[int, int]]:
    """Return the roots of one that the stages of a transform of ``size`` numbers multiply by."""
    sign = 1 if is_inverse else -1
    return [root_of_one(sign * 2 * math.pi * k / size) for k in range(size)]

"""The unit for frames of sound in Python: what its instructions answer and change."""

import numpy as np

from kiwicha.contract.signal import (
    LEAST_HALF_BITS,
    MOST_HALF_BITS,
    SIGNAL_INDEXES,
    SignalBand,
    SignalOp,
    SignalPoint,
    SignalRoot,
)
from kiwicha.numerics import fourier, sound

__all__ = ["SignalModel"]

_WORD = 0xFFFF_FFFF
_LONG = 0xFFFF_FFFF_FFFF_FFFF
_FREQUENCIES = 2 << MOST_HALF_BITS
"""Frequencies count modulo this number."""

Number = tuple[int, int]


class SignalModel:
    """Execute instructions of `SignalOp`, each completely before the next.

    Notes
    -----
    Points are 0 until they are written; in gateware they are then unspecified.
    """

    def __init__(self) -> None:
        self._points: list[Number] = [(0, 0)] * (1 << MOST_HALF_BITS)
        self._last = 0
        self._half_bits = LEAST_HALF_BITS
        self._shift = 0
        self._count = 0
        self._magnitude = 0
        self._frequency = 0
        self._number: Number = (0, 0)
        self._sums = [0, 0]
        self._root = 0

    def execute(self, op: int, index: int, a: int, b: int) -> int | None:
        """Execute one instruction and return its answer, None if it is not known.

        Parameters
        ----------
        op, index : int
            Which one.
        a, b : int
            Operands, 0 to 2**32 - 1.
        """
        if index >= SIGNAL_INDEXES[SignalOp(op)]:
            return None
        match SignalOp(op):
            case SignalOp.BEGIN:
                bits = a % 16
                known = LEAST_HALF_BITS <= bits <= MOST_HALF_BITS
                self._half_bits = bits if known else MOST_HALF_BITS
                self._shift, self._count, self._magnitude = b % 32, 0, 0
            case SignalOp.TAPER:
                self._taper(a, b)
            case SignalOp.MAGNITUDE:
                return self._magnitude
            case SignalOp.TRANSFORM:
                self._transform(a % 32)
            case SignalOp.POINT:
                return self._point(index, a)
            case SignalOp.BAND:
                self._band(index, a, b)
            case SignalOp.ROOT:
                if index == SignalRoot.RESULT:
                    return self._root
                number = self._sums[0] if index == SignalRoot.OF_BAND else b << 32 | a
                self._root = int(sound.square_roots(np.array([number], np.uint64), 0)[0])
                if index == SignalRoot.OF_BAND:
                    self._sums = [self._sums[1], 0]
            case SignalOp.BITS:
                return a.bit_length()
        return 0

    def _taper(self, a: int, b: int) -> None:
        samples, weights = (np.array([word], "<u4").view("<i2") for word in (a, b))
        re, im = sound.tapered(samples, weights, self._shift).tolist()
        half = 1 << self._half_bits
        place = int(fourier.positions(half)[self._count % half])
        self._points[place] = (re, im)
        self._count = (self._count + 1) % len(self._points)
        self._magnitude |= abs(re) | abs(im)

    def _transform(self, bits: int) -> None:
        half = 1 << self._half_bits
        samples = np.array([self._points[place] for place in fourier.positions(half)], np.int64)
        scaled = (samples.reshape(1, -1) << bits).astype(np.int16)
        *points, last = fourier.real_transform(scaled, 2 * half)[0].tolist()
        self._points[:half] = [(re, im) for re, im in points]
        self._last = last[0]
        self._go_to(0)

    def _go_to(self, frequency: int) -> None:
        self._frequency = frequency % _FREQUENCIES
        is_last = self._frequency >> self._half_bits & 1
        point = self._points[self._frequency % len(self._points)]
        self._number = (self._last, 0) if is_last else point

    def _energy(self) -> int:
        re, im = self._number
        return re * re + im * im

    def _point(self, index: int, a: int) -> int:
        if index == SignalPoint.SEEK:
            self._go_to(a)
            return 0
        re, im = self._number
        energy = self._energy()
        self._go_to(self._frequency + 1)
        if index == SignalPoint.ENERGY:
            return energy & _WORD
        return (re & 0xFFFF) | (im & 0xFFFF) << 16

    def _band(self, index: int, a: int, b: int) -> None:
        if index == SignalBand.ADD:
            weights = (a & 0xFFFF, b & 0xFFFF)
            self._sums = [
                (total + self._energy() * weight) & _LONG
                for total, weight in zip(self._sums, weights, strict=True)
            ]
            self._go_to(self._frequency + 1)
        else:
            self._sums = [self._sums[1] if index == SignalBand.NEXT else 0, 0]

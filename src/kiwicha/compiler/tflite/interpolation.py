"""Where RESIZE_BILINEAR reads its input, and the weights of what it reads.

int8 is interpolated in 1/1024 of a pixel, uint8 in float32. Where no product or sum of these is
rounded they are in 1/1024, too.
"""

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.tflite.graph import Options

__all__ = [
    "EXPONENT_BITS",
    "ONE",
    "PLACES",
    "PRECISION",
    "Interpolation",
    "float_interpolation",
    "interpolation",
]

ONE = 1 << 10
"""Distance of neighbouring pixels."""
PRECISION = 24
"""Bits of a float32's significand."""
EXPONENT_BITS = 6
PLACES = 52
"""Binary places that the kernel has for a product of float32 numbers."""
PACKED_BITS = 8
"""Binary places of products of packed weights."""
_VALUE_BITS = 8


@dataclass(frozen=True, eq=False)
class Interpolation:
    """What the outputs along one dimension are between.

    Parameters
    ----------
    pixels : ndarray of int64 [outputs, 2]
        First and second pixel of the input.
    weights : ndarray of float32 [outputs, 2]
        What they count.
    """

    pixels: NDArray[np.int64]
    weights: NDArray[np.float32]

    @property
    def places(self) -> NDArray[np.int64]:
        """Binary places that each weight needs, [outputs, 2]; 0 for a whole number."""
        significands, exponents = np.frexp(self.weights)
        whole = (significands.astype(np.float64) * 2**PRECISION).astype(np.int64)
        zeros = np.where(
            whole == 0, PRECISION, np.frexp((whole & -whole).astype(np.float64))[1] - 1
        )
        return np.maximum(PRECISION - exponents.astype(np.int64) - zeros, 0)

    @property
    def exponents(self) -> NDArray[np.int64]:
        """How far each weight is below those of 1 to 2, in powers of two, [outputs, 2]."""
        return np.where(self.weights == 0, 0, 1 - np.frexp(self.weights)[1].astype(np.int64))

    def is_exact(self, other: "Interpolation") -> bool:
        """Whether no float32 number is rounded on the way along this dimension and another one."""
        places = int(self.places.max()), int(other.places.max())
        # One bit more, where an image goes on behind its edge.
        is_short = _VALUE_BITS + 1 + sum(places) <= PRECISION
        return is_short and 2 ** max(places) <= ONE

    def fits(self, other: "Interpolation") -> bool:
        """Whether the kernel has places for the products of weights along two dimensions."""
        kept = PLACES - (PRECISION - 1)
        return all(
            a[0] + b[0] <= kept or a[1] + b[1] <= PLACES
            for a, b in itertools.product(self._extents(), other._extents())
        )

    def _extents(self) -> set[tuple[int, int]]:
        """Return exponents and places of all weights."""
        return set(zip(self.exponents.ravel().tolist(), self.places.ravel().tolist(), strict=True))

    def packed(self, other: "Interpolation") -> tuple[NDArray[np.int32], NDArray[np.int32]] | None:
        """Return what the kernel reads with packed weights, of this dimension and another one.

        None if products of their weights are not in 1/256. This one's weights are in 1/2 or less.
        """
        pair = self._inside(), other._inside()
        bits = max(int(pair[0].places.max()), 1)
        if bits + int(pair[1].places.max()) > PACKED_BITS:
            return None
        ones = 1 << bits, 1 << (PACKED_BITS - bits)
        first, second = (item._table(one) for item, one in zip(pair, ones, strict=True))
        return first, second

    def _inside(self) -> "Interpolation":
        """Return the same with one weight where both pixels are one."""
        is_one = self.pixels[:, :1] == self.pixels[:, 1:]
        whole = np.array([1, 0], np.float32)
        return Interpolation(self.pixels, np.where(is_one, whole, self.weights))

    def _table(self, one: int) -> NDArray[np.int32]:
        """Return pixels, and weights as multiples of 1 / ``one``."""
        weights = (self.weights.astype(np.float64) * one).astype(np.int64)
        return np.concatenate([self.pixels, weights], axis=1).astype(np.int32)

    def table(self, *, is_float: bool) -> NDArray[np.int32]:
        """Return what the kernel reads, [outputs, 4]; see `contract.program.ResizeBilinear`."""
        if not is_float:
            return self._table(ONE)
        scale = np.exp2(PRECISION - 1 + self.exponents)
        significands = (self.weights.astype(np.float64) * scale).astype(np.int64)
        weights = significands << EXPONENT_BITS | self.exponents
        return np.concatenate([self.pixels, weights], axis=1).astype(np.int32)


def interpolation(inputs: int, outputs: int, options: Options) -> Interpolation:
    """Return what the outputs along one dimension of an int8 image are between.

    Parameters
    ----------
    inputs, outputs : int
        Sizes of the dimension.
    options : Options
        Which of the operator's ways to place pixels.

    Returns
    -------
    Interpolation
        Weights are multiples of 1/1024; the second is negative in front of the first of all pixels.
        The first pixel is outside the input where the rounded scale adds up to more than the input
        has.

    Notes
    -----
    Ref: tensorflow/lite/kernels/internal/reference/resize_bilinear.h, ResizeBilinearInteger.
    """
    if options.align_corners and outputs > 1:
        scale = (ONE * (inputs - 1) + (outputs - 1) // 2) // (outputs - 1)
    else:
        scale = (ONE * inputs + outputs // 2) // outputs
    positions = np.arange(outputs, dtype=np.int64) * scale
    if options.half_pixel_centers:
        positions += scale // 2 - ONE // 2
    first = np.maximum(positions // ONE, 0)
    second = np.minimum(np.maximum(-(-positions // ONE), 0), inputs - 1)
    distances = (positions - ONE * first).astype(np.float32) / np.float32(ONE)
    return _between(first, second, distances)


def float_interpolation(inputs: int, outputs: int, options: Options) -> Interpolation:
    """Return what the outputs along one dimension of a uint8 image are between.

    Parameters
    ----------
    inputs, outputs, options
        As for `interpolation`.

    Notes
    -----
    Ref: tensorflow/lite/kernels/internal/reference/resize_bilinear.h, ResizeBilinear, in LiteRT.
    """
    if options.align_corners and outputs > 1:
        scale = np.float32(inputs - 1) / np.float32(outputs - 1)
    else:
        scale = np.float32(inputs) / np.float32(outputs)
    numbers = np.arange(outputs, dtype=np.float32)
    half = np.float32(0.5)
    positions = (numbers + half) * scale - half if options.half_pixel_centers else numbers * scale
    first = np.maximum(np.floor(positions).astype(np.int64), 0)
    second = np.minimum(np.ceil(positions).astype(np.int64), inputs - 1)
    return _between(first, second, positions - first.astype(np.float32))


def _between(
    first: NDArray[np.int64], second: NDArray[np.int64], distances: NDArray[np.float32]
) -> Interpolation:
    return Interpolation(
        np.stack([first, second], axis=1),
        np.stack([np.float32(1) - distances, distances], axis=1),
    )

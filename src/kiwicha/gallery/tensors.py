"""Tensors of a network that is being built: quantization, samples, constants."""

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kiwicha.gallery.ranges import Ranges
from kiwicha.tflite_writer.builder import ModelBuilder

__all__ = ["PROBABILITY", "Tensor", "Tensors"]

SAMPLES = 4
"""Images that statistics are taken of."""
PROBABILITY = (1 / 256, -128)
"""Scale and zero point of LOGISTIC and SOFTMAX outputs, which interpreters prescribe."""
_INPUT = (2 / 255, -1)
_QUANTILES = [statistics.NormalDist().inv_cdf((number + 0.5) / 256) for number in range(256)]
_WEIGHTS = np.array([round(127 * quantile / _QUANTILES[-1]) for quantile in _QUANTILES], np.int8)
"""Normal numbers, all as likely; they fill the range of int8."""


@dataclass(frozen=True, eq=False)
class Tensor:
    """An activation.

    Parameters
    ----------
    index : int
        In the file.
    shape : tuple of int
        In the file.
    scale, zero_point : float and int
        As of int8, also in a network of uint8.
    sample : ndarray of int8
        What it holds for some inputs, which may be smaller images than the file's.
    range : int or None
        Its number in `Ranges`; None if its quantization is prescribed.
    """

    index: int
    shape: tuple[int, ...]
    scale: float
    zero_point: int
    sample: NDArray[np.int8]
    range: int | None

    @property
    def steps(self) -> NDArray[np.float64]:
        """The sample in units of the scale."""
        return self.sample.astype(np.float64) - self.zero_point

    @property
    def values(self) -> NDArray[np.float64]:
        """The sample as real numbers."""
        return self.steps * self.scale


class Tensors:
    """Adds tensors and operators to a file.

    Parameters
    ----------
    description : str
        Stored in the file.
    seed : int
        Of the weights.
    is_unsigned : bool
        Whether tensors of the file are uint8, not int8.
    ranges : Ranges
        Of the activations.
    sample_size : int
        Largest height and width of the images that statistics are taken of.
    """

    def __init__(
        self, description: str, *, seed: int, is_unsigned: bool, ranges: Ranges, sample_size: int
    ) -> None:
        self._file = ModelBuilder(description)
        self._rng = np.random.default_rng(seed)
        self._is_unsigned = is_unsigned
        self._ranges = ranges
        self._sample_size = sample_size
        self._inputs: list[int] = []

    def input(self, height: int, width: int, channels: int) -> Tensor:
        """Add an input of the model: an image of values from -1 to 1."""
        shape = (1, height, width, channels)
        rows, columns = (min(size, self._sample_size) for size in (height, width))
        raw = self._rng.bytes(SAMPLES * rows * columns * channels)
        sample = np.frombuffer(raw, np.int8).reshape(SAMPLES, rows, columns, channels)
        tensor = self._activation(shape, sample, *_INPUT)
        self._inputs.append(tensor.index)
        return tensor

    def file(self, outputs: Sequence[Tensor]) -> bytes:
        """Return the model with these outputs."""
        return self._file.build(self._inputs, [tensor.index for tensor in outputs])

    # ------------------------------------------------------------------------- activations

    def _activation(
        self,
        shape: Sequence[int],
        sample: NDArray[np.int8],
        scale: float,
        zero_point: int,
        number: int | None = None,
    ) -> Tensor:
        """Add an activation whose quantization is known."""
        single = float(np.float32(scale))
        index = self._file.tensor(
            shape, self._type, scale=single, zero_point=zero_point + self._shift
        )
        return Tensor(index, tuple(shape), single, zero_point, sample, number)

    def _ranged(self, shape: Sequence[int], values: NDArray[np.float64]) -> Tensor:
        """Add an activation whose quantization fits a sample of real numbers."""
        number, (low, high) = self._ranges.take(float(values.min()), float(values.max()))
        scale = float(np.float32((high - low or 1.0) / 255))
        zero_point = round(-128 - low / scale)
        return self._activation(
            shape, _quantized(values, scale, zero_point), scale, zero_point, number
        )

    def _prescribed(self, shape: Sequence[int], values: NDArray[np.float64]) -> Tensor:
        """Add an activation of probabilities."""
        return self._activation(shape, _quantized(values, *PROBABILITY), *PROBABILITY)

    def _moved(self, shape: Sequence[int], x: Tensor, sample: NDArray[np.int8]) -> Tensor:
        """Add an activation with the values and the quantization of another."""
        return self._activation(shape, sample, x.scale, x.zero_point, x.range)

    def _rescaled(self, x: Tensor, like: Tensor) -> Tensor:
        """Return a tensor with the quantization of another, by a QUANTIZE if it has not."""
        if (x.scale, x.zero_point) == (like.scale, like.zero_point):
            return x
        sample = _quantized(x.values, like.scale, like.zero_point)
        y = self._activation(x.shape, sample, like.scale, like.zero_point, like.range)
        self._file.operator("QUANTIZE", [x.index], [y.index])
        return y

    # --------------------------------------------------------------------------- constants

    def _drawn_weights(self, shape: Sequence[int]) -> NDArray[np.int8]:
        raw = self._rng.bytes(int(np.prod(shape)))
        return _WEIGHTS[np.frombuffer(raw, np.uint8)].reshape(shape)

    def drawn(self, count: int, low: float, high: float) -> NDArray[np.float64]:
        """Return numbers between two, all as likely."""
        raw = np.frombuffer(self._rng.bytes(count), np.uint8)
        return low + (high - low) / 255 * raw.astype(np.float64)

    def _parameters(self, values: Any) -> int:
        """Add a constant of sizes, axes and similar."""
        array = np.asarray(values, np.int32)
        return self._file.tensor(array.shape, np.int32, data=array)

    def _numbers(self, values: NDArray[np.float64]) -> int:
        """Add a constant of real numbers, as bytes."""
        low, high = min(float(values.min()), 0.0), max(float(values.max()), 0.0)
        scale = float(np.float32((high - low) / 255))
        zero_point = round(-128 - low / scale)
        return self._bytes(_quantized(values, scale, zero_point), scale, zero_point)

    def _bytes(self, data: NDArray[np.int8], scale: Any, zero_point: int, axis: int = 0) -> int:
        stored = (data.astype(np.int16) + 128).astype(np.uint8) if self._is_unsigned else data
        return self._file.tensor(
            data.shape, self._type, scale=scale, zero_point=zero_point + self._shift,
            axis=axis, data=stored,
        )  # fmt: skip

    @property
    def _type(self) -> type[np.generic]:
        return np.uint8 if self._is_unsigned else np.int8

    @property
    def _shift(self) -> int:
        return 128 if self._is_unsigned else 0

    def _table(self, x: Tensor, function: Callable[[float], float]) -> NDArray[np.float64]:
        """Return a function of a sample, by way of its 256 values."""
        steps = range(-128 - x.zero_point, 128 - x.zero_point)
        table = np.array([function(step * x.scale) for step in steps])
        return np.asarray(table[x.sample.astype(np.int64) + 128])


def _quantized(values: NDArray[np.float64], scale: float, zero_point: int) -> NDArray[np.int8]:
    steps = np.rint(values / scale) + zero_point
    return np.asarray(np.clip(steps, -128, 127), np.int8)

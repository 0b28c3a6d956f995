"""The language in which architectures are written: a method for each layer, images are NHWC."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from kiwicha.gallery import samples
from kiwicha.gallery.moves import Moves
from kiwicha.gallery.products import Products
from kiwicha.gallery.tensors import Tensor
from kiwicha.gallery.weighted import FUSED, Kernel, Weighted, limited
from kiwicha.tflite_writer.builder import ACTIVATIONS, PADDINGS

__all__ = ["Network"]

_GRANULARITY = 8
"""Channels of a network of another width are a multiple of it."""


class Network(Weighted, Moves, Products):
    """A network that grows layer by layer; each method adds one and returns its output.

    Activation functions are ``none``, ``relu``, ``relu6``, ``silu``, ``hard_swish``,
    ``hard_sigmoid`` and ``logistic``.

    Parameters
    ----------
    size : int
        Height and width of the input, for architectures to read.
    width : float
        Factor of the channels that architectures state by `wide`.
    **options : Any
        Of `kiwicha.gallery.tensors.Tensors`.
    """

    def __init__(self, *, size: int, width: float, **options: Any) -> None:
        super().__init__(**options)
        self.size = size
        self._width = width

    def wide(self, channels: int) -> int:
        """Return a number of channels at the network's width."""
        if self._width == 1:
            return channels
        return max(_GRANULARITY, round(channels * self._width / _GRANULARITY) * _GRANULARITY)

    # -------------------------------------------------------------------------- convolutions

    def conv(
        self,
        x: Tensor,
        channels: int,
        *,
        kernel: Kernel = 1,
        stride: int = 1,
        dilation: int = 1,
        groups: int = 1,
        padding: str = "SAME",
        activation: str = "none",
    ) -> Tensor:
        """Add a CONV_2D with folded normalization, and an activation function."""
        y = self._convolution(
            x, channels, kernel=kernel, stride=stride, dilation=dilation, groups=groups,
            padding=padding, fused=activation if activation in FUSED else "none",
        )  # fmt: skip
        return y if activation in FUSED else self.activation(y, activation)

    def depthwise(
        self,
        x: Tensor,
        *,
        kernel: Kernel = 3,
        stride: int = 1,
        dilation: int = 1,
        padding: str = "SAME",
        activation: str = "none",
    ) -> Tensor:
        """Add a DEPTHWISE_CONV_2D with folded normalization, and an activation function."""
        y = self._depthwise(
            x, kernel=kernel, stride=stride, dilation=dilation, padding=padding,
            fused=activation if activation in FUSED else "none",
        )  # fmt: skip
        return y if activation in FUSED else self.activation(y, activation)

    # -------------------------------------------------------------------------------- values

    def activation(self, x: Tensor, name: str) -> Tensor:
        """Add an activation function that is an operator, or several, of its own."""
        functions: dict[str, Callable[[Tensor], Tensor]] = {
            "silu": lambda x: self.mul(x, self.logistic(x)),
            "hard_swish": self._hard_swish,
            "hard_sigmoid": self._hard_sigmoid,
            "logistic": self.logistic,
            "relu": self._relu,
        }
        return functions[name](x)

    def logistic(self, x: Tensor) -> Tensor:
        """Add a LOGISTIC."""
        y = self._prescribed(x.shape, self._table(x, lambda v: 1 / (1 + math.exp(-v))))
        self._file.operator("LOGISTIC", [x.index], [y.index])
        return y

    def softmax(self, x: Tensor) -> Tensor:
        """Add a SOFTMAX of the last dimension."""
        powers = self._table(x, math.exp)
        y = self._prescribed(x.shape, powers / powers.sum(axis=-1, keepdims=True))
        self._file.operator("SOFTMAX", [x.index], [y.index], beta=1.0)
        return y

    def add(self, a: Tensor, b: Tensor, *, activation: str = "none") -> Tensor:
        """Add an ADD."""
        return self._pair_of("ADD", a, b, a.values + b.values, activation)

    def mul(self, a: Tensor, b: Tensor) -> Tensor:
        """Add a MUL; one operand may be a single pixel."""
        return self._pair_of("MUL", a, b, a.values * b.values)

    def normalize(self, x: Tensor, *, activation: str = "none") -> Tensor:
        """Add a normalization that folds into no convolution: a MUL and an ADD by channel."""
        means, deviations = samples.statistics(x.steps)
        factors = self.drawn(len(means), 0.75, 1.25) / (deviations * x.scale)
        offsets = self.drawn(len(means), -0.5, 0.5) - means * x.scale * factors
        y = self._ranged(x.shape, x.values * factors)
        self._file.operator("MUL", [x.index, self._numbers(factors)], [y.index])
        return self.with_constant(y, offsets, activation)

    def with_constant(self, x: Tensor, numbers: Any, activation: str = "none") -> Tensor:
        """Add an ADD of constant numbers."""
        constant = self._numbers(numbers)
        y = self._ranged(x.shape, limited(x.values + numbers, activation))
        fused = {"fusedActivationFunction": ACTIVATIONS[activation.upper()]}
        self._file.operator("ADD", [x.index, constant], [y.index], **fused)
        return y

    def _hard_sigmoid(self, x: Tensor) -> Tensor:
        limited = self.with_constant(x, np.array(3.0), "relu6")
        y = self._ranged(x.shape, limited.values / 6)
        self._file.operator("MUL", [limited.index, self._numbers(np.array(1 / 6))], [y.index])
        return y

    def _relu(self, x: Tensor) -> Tensor:
        y = self._ranged(x.shape, limited(x.values, "relu"))
        self._file.operator("RELU", [x.index], [y.index])
        return y

    def _hard_swish(self, x: Tensor) -> Tensor:
        y = self._ranged(x.shape, self._table(x, lambda v: v * min(max(v + 3, 0.0), 6.0) / 6))
        self._file.operator("HARD_SWISH", [x.index], [y.index])
        return y

    def _pair_of(
        self, code: str, a: Tensor, b: Tensor, values: samples.Sample, activation: str = "none"
    ) -> Tensor:
        shape = np.broadcast_shapes(a.shape, b.shape)
        y = self._ranged(shape, limited(values, activation))
        fused = {"fusedActivationFunction": ACTIVATIONS[activation.upper()]}
        self._file.operator(code, [a.index, b.index], [y.index], **fused)
        return y

    # --------------------------------------------------------------------------------- pools

    def max_pool(self, x: Tensor, kernel: int, *, stride: int, padding: str = "SAME") -> Tensor:
        """Add a MAX_POOL_2D."""
        sample = samples.max_pool(x.sample.astype(np.float64), kernel, stride, padding)
        return self._pool("MAX_POOL_2D", x, sample, kernel, stride, padding)

    def average_pool(self, x: Tensor, kernel: int, *, stride: int, padding: str = "SAME") -> Tensor:
        """Add an AVERAGE_POOL_2D."""
        sample = samples.average_pool(x.sample.astype(np.float64), kernel, stride, padding)
        return self._pool("AVERAGE_POOL_2D", x, np.rint(sample), kernel, stride, padding)

    def mean(self, x: Tensor, *, keep: bool = False) -> Tensor:
        """Add a MEAN over height and width; with ``keep`` these stay, as 1."""
        channels = x.shape[3]
        values = np.rint(x.steps.sum(axis=(1, 2), keepdims=keep))
        values *= x.scale / math.prod(x.sample.shape[1:3])
        y = self._ranged((1, 1, 1, channels) if keep else (1, channels), values)
        self._file.operator("MEAN", [x.index, self._parameters([1, 2])], [y.index], keepDims=keep)
        return y

    def _pool(
        self, code: str, x: Tensor, sample: samples.Sample, kernel: int, stride: int, padding: str
    ) -> Tensor:
        height, width = (
            samples.output_size(size, kernel, stride, padding) for size in x.shape[1:3]
        )
        y = self._moved((1, height, width, x.shape[3]), x, sample.astype(np.int8))
        self._file.operator(
            code, [x.index], [y.index], padding=PADDINGS[padding], filterHeight=kernel,
            filterWidth=kernel, strideH=stride, strideW=stride,
        )  # fmt: skip
        return y

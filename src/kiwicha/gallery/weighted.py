"""Layers with weights, each with a batch normalization that is folded into weights and bias."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kiwicha.gallery import samples
from kiwicha.gallery.tensors import Tensor, Tensors
from kiwicha.tflite_writer.builder import ACTIVATIONS, PADDINGS

__all__ = ["FUSED", "Kernel", "Weighted", "limited"]

FUSED = ("none", "relu", "relu6")
"""Activation functions that operators apply to their own results."""
Kernel = int | samples.Pair
_MOST_BIAS = 2**31 - 1


class Weighted(Tensors):
    """Adds layers with weights.

    Weights are random; scales and biases are such that each output channel has, over the samples,
    about the mean and deviation that a trained network's normalization would give it.
    """

    def _convolution(
        self,
        x: Tensor,
        channels: int,
        *,
        kernel: Kernel,
        stride: int,
        dilation: int,
        groups: int,
        padding: str,
        fused: str,
    ) -> Tensor:
        rows, columns = _pair(kernel)
        weights = self._drawn_weights((channels, rows, columns, x.shape[3] // groups))
        sums = samples.convolve(
            x.steps, weights, stride=stride, padding=padding, dilation=dilation, groups=groups
        )
        options = _window_options(stride, padding, dilation)
        shape = _image_shape(x, (rows, columns), stride, padding, dilation, channels)
        return self._weighted("CONV_2D", x, weights, sums, shape, fused, **options)

    def _depthwise(
        self, x: Tensor, *, kernel: Kernel, stride: int, dilation: int, padding: str, fused: str
    ) -> Tensor:
        rows, columns = _pair(kernel)
        channels = x.shape[3]
        weights = self._drawn_weights((1, rows, columns, channels))
        sums = samples.convolve_depthwise(
            x.steps, weights, stride=stride, padding=padding, dilation=dilation
        )
        options = _window_options(stride, padding, dilation) | {"depthMultiplier": 1}
        shape = _image_shape(x, (rows, columns), stride, padding, dilation, channels)
        return self._weighted(
            "DEPTHWISE_CONV_2D", x, weights, sums, shape, fused, axis=3, **options
        )

    def transpose_conv(
        self, x: Tensor, channels: int, *, kernel: int = 2, stride: int = 2
    ) -> Tensor:
        """Add a TRANSPOSE_CONV with SAME padding."""
        weights = self._drawn_weights((channels, kernel, kernel, x.shape[3]))
        sums = samples.transpose_convolve(x.steps, weights, stride=stride)
        shape = (1, x.shape[1] * stride, x.shape[2] * stride, channels)
        options: dict[str, Any] = {
            "padding": PADDINGS["SAME"],
            "strideH": stride,
            "strideW": stride,
        }
        return self._weighted(
            "TRANSPOSE_CONV", x, weights, sums, shape, "none", size=shape, **options
        )

    def dense(self, x: Tensor, outputs: int, *, activation: str = "none") -> Tensor:
        """Add a FULLY_CONNECTED on the last dimension, with one scale for all weights."""
        weights = self._drawn_weights((outputs, x.shape[-1]))
        sums = samples.dense(x.steps, weights)
        shape = (*x.shape[:-1], outputs)
        return self._weighted(
            "FULLY_CONNECTED", x, weights, sums, shape, activation, per_channel=False,
            keepNumDims=len(shape) > 2,
        )  # fmt: skip

    def _weighted(
        self,
        code: str,
        x: Tensor,
        weights: NDArray[np.int8],
        sums: samples.Sample,
        shape: Sequence[int],
        fused: str,
        *,
        axis: int = 0,
        per_channel: bool = True,
        size: Sequence[int] | None = None,
        **options: Any,
    ) -> Tensor:
        """Add an operator with weights; only TRANSPOSE_CONV is told the ``size`` of its output."""
        count = sums.shape[-1]
        means, deviations = samples.statistics(sums)
        gain = self.drawn(count, 0.75, 1.25)
        if not per_channel:
            squares = math.fsum(deviation**2 for deviation in deviations) / count
            deviations, gain = np.full(count, math.sqrt(squares)), np.ones(count)
        offset = self.drawn(count, -0.5, 0.5)
        # From a sum to a real number of the output; the bias is in units of the sums.
        factors = gain / deviations
        bias = np.clip(np.rint(offset / factors - means), -_MOST_BIAS, _MOST_BIAS)
        y = self._ranged(shape, limited((sums + bias) * factors, fused))
        if not per_channel:
            factors = factors[:1]
        elif self._is_unsigned:
            # uint8 has one scale for all channels: small ones use a part of the range only.
            ratios = factors / factors.max()
            places = [1] * weights.ndim
            places[axis] = -1
            weights = np.rint(weights * ratios.reshape(places)).astype(np.int8)
            bias, factors, axis = np.rint(bias * ratios), factors.max(keepdims=True), 0
        stored = self._bytes(weights, factors / x.scale, 0, axis)
        operands = [x.index, stored] if size is None else [self._parameters(size), stored, x.index]
        data = bias.astype(np.int32)
        operands.append(self._file.tensor(data.shape, np.int32, scale=factors, data=data))
        fusion = {"fusedActivationFunction": ACTIVATIONS[fused.upper()]}
        self._file.operator(code, operands, [y.index], **options, **fusion)
        return y


def limited(values: NDArray[np.float64], fused: str) -> NDArray[np.float64]:
    """Return what a fused activation leaves of real numbers."""
    limits = {"none": (None, None), "relu": (0.0, None), "relu6": (0.0, 6.0)}[fused]
    return values if fused == "none" else np.clip(values, *limits)


def _pair(kernel: Kernel) -> samples.Pair:
    return (kernel, kernel) if isinstance(kernel, int) else kernel


def _window_options(stride: int, padding: str, dilation: int) -> dict[str, Any]:
    return {
        "padding": PADDINGS[padding],
        "strideH": stride,
        "strideW": stride,
        "dilationHFactor": dilation,
        "dilationWFactor": dilation,
    }


def _image_shape(
    x: Tensor, kernel: samples.Pair, stride: int, padding: str, dilation: int, channels: int
) -> tuple[int, ...]:
    height, width = (
        samples.output_size(size, k, stride, padding, dilation)
        for size, k in zip(x.shape[1:3], kernel, strict=True)
    )
    return (1, height, width, channels)

"""A chain of convolutions on int16 or int8, whose cycles can be compared."""

from typing import Any

import numpy as np

from kiwicha.tflite_writer.builder import ACTIVATIONS, PADDINGS
from tests.support.models.tflite_builder import ModelBuilder

__all__ = ["convolution_chain", "decoder_chain", "summing_chain"]

_SAME = {"padding": PADDINGS["SAME"], "strideH": 1, "strideW": 1}
_FUSED = {"fusedActivationFunction": ACTIVATIONS["RELU"]}
_SCALES = {np.int16: 2.0**-10, np.int8: 0.05}
_BIASES = {np.int16: np.int64, np.int8: np.int32}
_MOST = 90
_SPREAD = 52
"""Of weights up to `_MOST`."""


class _Chain:
    """Layers with random weights, one after the other, whose results are neither clamped nor alike.

    Parameters
    ----------
    kind : type
        int16 or int8.
    shape : tuple of int
        Of the input.
    """

    def __init__(self, kind: Any, shape: tuple[int, ...]) -> None:
        self.builder = ModelBuilder()
        self.kind, self.shape = kind, shape
        self._rng = np.random.default_rng(7)
        self.first = self.last = self._tensor(shape)

    def _tensor(self, shape: tuple[int, ...]) -> int:
        return self.builder.tensor(shape, self.kind, scale=_SCALES[self.kind])

    def add(self, operator: str, size: int, channels: int) -> None:
        """Add a CONV_2D, a DEPTHWISE_CONV_2D, or a TRANSPOSE_CONV to twice as many rows."""
        *image, inputs = self.shape
        is_transposed = operator == "TRANSPOSE_CONV"
        is_depthwise = operator == "DEPTHWISE_CONV_2D"
        shape = (1, size, size, channels) if is_depthwise else (channels, size, size, inputs)
        axis = 3 if is_depthwise else 0
        taps = size * size * (1 if is_depthwise else inputs)
        data = self._rng.integers(-_MOST, _MOST + 1, shape, np.int8)
        scales = self._rng.uniform(0.7, 1.3, channels) / (_SPREAD * np.sqrt(taps))
        kernel = self.builder.tensor(shape, scale=scales.astype(np.float32), axis=axis, data=data)
        bias = self._rng.integers(-2000, 2000, channels).astype(_BIASES[self.kind])
        products = (np.float32(_SCALES[self.kind]) * scales.astype(np.float32)).astype(np.float32)
        constant = self.builder.tensor(bias.shape, bias.dtype.type, scale=products, data=bias)
        if is_transposed:
            image = [image[0], *(2 * side for side in image[1:])]
        self.shape = (*image, channels)
        output = self._tensor(self.shape)
        options = dict(_SAME)
        operands = [self.last, kernel, constant]
        if is_depthwise:
            options["depthMultiplier"] = channels // inputs
        if is_transposed:
            options |= {"strideH": 2, "strideW": 2}
            size_of = np.array(self.shape, np.int32)
            operands = [
                *(self.builder.tensor((4,), np.int32, data=size_of), kernel),
                *(self.last, constant),
            ]
        self.builder.operator(operator, operands, [output], **options, **_FUSED)
        self.last = output

    def add_sums(self) -> None:
        """Add an AVERAGE_POOL_2D with a border, and the MEAN of what it gives."""
        pooled, mean = self._tensor(self.shape), self._tensor((self.shape[0], self.shape[3]))
        window = {"filterHeight": 3, "filterWidth": 3}
        self.builder.operator("AVERAGE_POOL_2D", [self.last], [pooled], **_SAME, **window)
        axes = self.builder.tensor((2,), np.int32, data=np.array([1, 2], np.int32))
        self.builder.operator("MEAN", [pooled, axes], [mean], keepDims=False)
        self.last = mean


def summing_chain(kind: Any, shape: tuple[int, ...], channels: int) -> bytes:
    """Return a model of CONV_2D, AVERAGE_POOL_2D of 3x3 with a border, and MEAN of the image.

    Parameters
    ----------
    kind : type
        int16 or int8: of its tensors.
    shape : tuple of int
        Of its input.
    channels : int
        Of all that is computed.
    """
    chain = _Chain(kind, shape)
    chain.add("CONV_2D", 3, channels)
    chain.add_sums()
    return chain.builder.build([chain.first], [chain.last])


def decoder_chain(kind: Any, shape: tuple[int, ...], channels: int) -> bytes:
    """Return a model of CONV_2D, TRANSPOSE_CONV and DEPTHWISE_CONV_2D with two outputs a channel.

    Parameters
    ----------
    kind : type
        int16 or int8: of its tensors.
    shape : tuple of int
        Of its input.
    channels : int
        Of the first two layers.
    """
    chain = _Chain(kind, shape)
    chain.add("CONV_2D", 3, channels)
    chain.add("TRANSPOSE_CONV", 3, channels)
    chain.add("DEPTHWISE_CONV_2D", 3, 2 * channels)
    return chain.builder.build([chain.first], [chain.last])


def convolution_chain(kind: Any, shape: tuple[int, ...], channels: int) -> bytes:
    """Return a model of CONV_2D of 3x3, 1x1 and 3x3, with a DEPTHWISE_CONV_2D before the last one.

    Parameters
    ----------
    kind : type
        int16 or int8: of its tensors.
    shape : tuple of int
        Of its input.
    channels : int
        Of all that is computed.
    """
    chain = _Chain(kind, shape)
    chain.add("CONV_2D", 3, channels)
    chain.add("CONV_2D", 1, channels)
    chain.add("DEPTHWISE_CONV_2D", 3, channels)
    chain.add("CONV_2D", 3, channels)
    return chain.builder.build([chain.first], [chain.last])

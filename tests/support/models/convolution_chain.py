"""A chain of convolutions on int16 or int8, whose cycles can be compared."""

from typing import Any

import numpy as np

from kiwicha.tflite_writer.builder import ACTIVATIONS, PADDINGS
from tests.support.models.tflite_builder import ModelBuilder

__all__ = [
    "convolution_chain",
    "decoder_chain",
    "element_layer",
    "mixed_chain",
    "residual_chain",
    "summing_chain",
]

_SAME = {"padding": PADDINGS["SAME"], "strideH": 1, "strideW": 1}
_FUSED = {"fusedActivationFunction": ACTIVATIONS["RELU"]}
_SCALES = {np.int16: 2.0**-10, np.int8: 0.05}
_BIASES = {np.int16: np.int64, np.int8: np.int32}
_PROBABILITIES = {
    np.int16: {"LOGISTIC": 2.0**-15, "TANH": 2.0**-15},
    np.int8: {"LOGISTIC": 2.0**-8, "TANH": 2.0**-7},
}
"""Scales of what functions give."""
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

    def add_pair(self, operator: str, other: int) -> None:
        """Add an ADD, SUB or MUL of the last tensor and another one."""
        scale = _SCALES[self.kind] * (1 if operator == "MUL" else 1.5)
        output = self.builder.tensor(self.shape, self.kind, scale=scale)
        self.builder.operator(operator, [self.last, other], [output])
        self.last = output

    def add_function(self, operator: str, **options: Any) -> None:
        """Add a LOGISTIC or TANH, or a LEAKY_RELU."""
        is_leaky = operator == "LEAKY_RELU"
        zero_point = -128 if operator == "LOGISTIC" and self.kind is np.int8 else 0
        scale = _SCALES[self.kind] if is_leaky else _PROBABILITIES[self.kind][operator]
        output = self.builder.tensor(self.shape, self.kind, scale=scale, zero_point=zero_point)
        self.builder.operator(operator, [self.last], [output], **options)
        self.last = output

    def add_maxima(self, size: int, stride: int) -> None:
        """Add a MAX_POOL_2D."""
        images, *sides, channels = self.shape
        self.shape = (images, *(-(-side // stride) for side in sides), channels)
        output = self._tensor(self.shape)
        window = {"filterHeight": size, "filterWidth": size, "strideH": stride, "strideW": stride}
        self.builder.operator("MAX_POOL_2D", [self.last], [output], **(_SAME | window))
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


def residual_chain(kind: Any, shape: tuple[int, ...], channels: int) -> bytes:
    """Return a CONV_2D, and a residual block of two more and an ADD, as ``convolution_chain``."""
    chain = _Chain(kind, shape)
    chain.add("CONV_2D", 3, channels)
    shortcut = chain.last
    chain.add("CONV_2D", 3, channels)
    chain.add("CONV_2D", 3, channels)
    chain.add_pair("ADD", shortcut)
    return chain.builder.build([chain.first], [chain.last])


def mixed_chain(kind: Any, shape: tuple[int, ...], channels: int) -> bytes:
    """Return layers number by number between convolutions, and a MAX_POOL_2D, likewise."""
    chain = _Chain(kind, shape)
    chain.add("CONV_2D", 3, channels)
    chain.add_function("LEAKY_RELU", alpha=0.1)
    first = chain.last
    chain.add("DEPTHWISE_CONV_2D", 3, channels)
    chain.add_function("LOGISTIC")
    chain.add_pair("MUL", first)
    chain.add_maxima(3, 2)
    last = chain.last
    chain.add("CONV_2D", 1, channels)
    chain.add_function("TANH")
    chain.add_pair("SUB", last)
    return chain.builder.build([chain.first], [chain.last])


def element_layer(kind: Any, shape: tuple[int, ...], operator: str) -> bytes:
    """Return a model of one layer number by number, or of a MAX_POOL_2D of 2x2."""
    chain = _Chain(kind, shape)
    inputs = [chain.first]
    if operator in {"ADD", "SUB", "MUL"}:
        inputs.append(chain.builder.tensor(shape, kind, scale=0.7 * _SCALES[kind]))
        chain.add_pair(operator, inputs[1])
    elif operator == "MAX_POOL_2D":
        chain.add_maxima(2, 2)
    else:
        chain.add_function(operator, **({"alpha": 0.1} if operator == "LEAKY_RELU" else {}))
    return chain.builder.build(inputs, [chain.last])

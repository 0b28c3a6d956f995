"""What layers of int16 multiply, as the engine does it: weights, biases, and exact scales."""

import dataclasses
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.engine.ir.limits import limit, require
from kiwicha.compiler.engine.ir.window import Window
from kiwicha.compiler.engine.ir.window_operations import (
    Convolution,
    DepthwiseConvolution,
    WeightedOperation,
)
from kiwicha.compiler.engine.select.legalize import window_of
from kiwicha.compiler.lower.network import Layer, weights_of
from kiwicha.compiler.tflite.recurrent import LSTM
from kiwicha.contract.program import Kernel
from kiwicha.kernels.conv import Conv
from kiwicha.kernels.short_conv import has_long_biases
from kiwicha.numerics.long_sums import exact_scale
from kiwicha.numerics.requantization import INT32_MAX
from kiwicha.program.weight_streams import Parameters

__all__ = [
    "BYTE_VALUES",
    "WEIGHTED_LIMITS",
    "WEIGHTED_OPERATORS",
    "ShortWeights",
    "short_weights",
    "weighted_operation",
]

WEIGHTED_OPERATORS = ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "TRANSPOSE_CONV")
"""Operators of models that multiply int16 by weights of int8."""
_SCALED = (*WEIGHTED_OPERATORS, LSTM)
BYTE_VALUES = 256
_LARGEST = 1 << 15
_UPPER_BYTES = (-128, 127)


@dataclass(frozen=True, eq=False)
class ShortWeights:
    """What a layer of int16 multiplies, in the engine's terms.

    Parameters
    ----------
    window : Window
        Its geometry.
    is_depthwise : bool
        Channels are separate.
    weights : int16 array
        [O, H, W, I], of separate channels [H, W, C].
    bias : int64 array
        Of each output channel.
    scale : pair of int32 arrays, or None
        Multiplier and shift of each output channel, for sums of 32 bits; None if there are none.
    clamp : tuple of int
        Smallest and largest upper byte of an output.
    """

    window: Window
    is_depthwise: bool
    weights: NDArray[np.int16]
    bias: NDArray[np.int64]
    scale: tuple[NDArray[np.int32], NDArray[np.int32]] | None
    clamp: tuple[int, int] = _UPPER_BYTES

    @property
    def sums(self) -> NDArray[np.int64]:
        """The largest size of each channel's sums."""
        axes = (0, 1) if self.is_depthwise else (1, 2, 3)
        sizes: NDArray[np.int64] = np.abs(self.weights).sum(axis=axes, dtype=np.int64)
        return sizes * _LARGEST + np.abs(self.bias)


@limit(*_SCALED)
def scales_of_shorts(item: ShortWeights) -> str | None:
    """Scales of sums of 64 bits have no bits of less than 2**-31."""
    return "has a scale with bits of less than 2**-31" if item.scale is None else None


@limit(*_SCALED)
def sums_of_shorts(item: ShortWeights) -> str | None:
    """No sum of a layer of int16 needs more than 32 bits, whatever the inputs are."""
    largest = int(item.sums.max(initial=0))
    if item.scale is not None:
        largest = int((item.sums << np.maximum(item.scale[1], 0)).max(initial=0))
    if largest <= INT32_MAX:
        return None
    return f"has sums of int16 that may be as large as {largest:,}; the engine adds 32 bits"


WEIGHTED_LIMITS = (scales_of_shorts, sums_of_shorts)
"""What must hold for what multiplies int16."""


def short_weights(layer: Layer) -> ShortWeights:
    """Return what a layer with a kernel of int16 and weights of int8 multiplies."""
    p: Conv = layer.params
    weights = weights_of(layer)
    is_depthwise = layer.kernel is Kernel.SHORT_DEPTHWISE_CONV
    if is_depthwise:
        weights = weights.reshape(p.kernel_height, p.kernel_width, p.output_channels)
    else:
        shape = (p.output_channels, p.kernel_height, p.kernel_width, p.input_channels)
        weights = weights.reshape(shape)
    if is_depthwise and (p.depth_multiplier > 1 or p.input_channels == 1):
        is_depthwise, weights = False, _of_all_channels(p, weights)
    multiplier, shift = (layer.constants[name].astype(np.int32) for name in ("multiplier", "shift"))
    bias = layer.constants["bias"]
    window = window_of(layer)
    if is_depthwise:
        window, weights = _without_column_dilation(window, weights)
    return ShortWeights(
        window,
        is_depthwise,
        np.ascontiguousarray(weights),
        bias.astype(np.int64),
        exact_scale(multiplier, shift) if has_long_biases(bias) else (multiplier, shift),
        (p.activation_min // BYTE_VALUES, p.activation_max // BYTE_VALUES),
    )


def weighted_operation(
    item: ShortWeights, position: int, planes: int, results: int
) -> WeightedOperation:
    """Return a convolution of int16 as if planes were tensors, for `in_two_passes`.

    Parameters
    ----------
    item : ShortWeights
        What it multiplies.
    position : int
        Of the layer.
    planes, results : int
        Tensors that it reads and writes.

    Raises
    ------
    BrokenLimitError
        If the engine cannot do it exactly.
    """
    require(WEIGHTED_LIMITS, item)
    assert item.scale is not None
    made = DepthwiseConvolution if item.is_depthwise else Convolution
    return made(
        position=position,
        inputs=(planes,),
        output=results,
        window=item.window,
        output_channels=len(item.bias),
        parameters=Parameters(item.bias.astype(np.int32), *item.scale),
        input_zero_point=0,
        output_zero_point=0,
        clamp=item.clamp,
        weights=item.weights,
        is_wide=True,
    )


def _of_all_channels(p: Conv, taps: NDArray[np.int16]) -> NDArray[np.int16]:
    """Return weights [O, H, W, I] with zeros for the channels that an output does not read."""
    full = np.zeros((p.output_channels, *taps.shape[:2], p.input_channels), taps.dtype)
    outputs = np.arange(p.output_channels)
    full[outputs, :, :, outputs // p.depth_multiplier] = taps.transpose(2, 0, 1)
    return full


def _without_column_dilation(
    window: Window, taps: NDArray[np.int16]
) -> tuple[Window, NDArray[np.int16]]:
    """Return the window and the weights with zeros in the columns that dilation skips."""
    step = window.dilation_columns
    rows, columns, channels = taps.shape
    wide = np.zeros((rows, (columns - 1) * step + 1, channels), taps.dtype)
    wide[:, ::step] = taps
    window = dataclasses.replace(window, kernel_columns=wide.shape[1], dilation_columns=1)
    return window, wide

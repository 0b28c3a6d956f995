"""Jobs that compute the same convolution, the best form first."""

import dataclasses
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.engine.ir.layers import Window
from kiwicha.compiler.lower.network import Layer
from kiwicha.contract.engine import GROUP_WORDS, INPUT_LANES, JobKind
from kiwicha.contract.program import Kernel
from kiwicha.kernels.conv import Conv

__all__ = ["forms"]

Form = tuple[JobKind, Window, NDArray[np.signedinteger]]


def forms(layer: Layer, window: Window, weights: NDArray[np.signedinteger]) -> Iterator[Form]:
    """Yield kind of job, geometry and weights: CONV [O, H, W, I], DEPTHWISE [H, W, C].

    Parameters
    ----------
    layer : Layer
        With the portable kernel CONV, DEPTHWISE_CONV or FULLY_CONNECTED.
    window : Window
        Its geometry.
    weights : integers
        In the order of the portable kernel, without zero point.
    """
    p: Conv = layer.params
    if layer.kernel is not Kernel.DEPTHWISE_CONV:
        shape = (p.output_channels, p.kernel_height, p.kernel_width, p.input_channels)
        yield JobKind.CONV, window, weights.reshape(shape)
        return
    taps = weights.reshape(p.kernel_height, p.kernel_width, p.output_channels)
    if p.input_channels > 1 and p.depth_multiplier == 1:
        yield JobKind.DEPTHWISE, *_without_column_dilation(window, taps)
    # More would not fit a group of weights anyhow, and could be very many.
    if window.kernel_rows * window.kernel_columns * p.input_channels <= GROUP_WORDS * INPUT_LANES:
        yield JobKind.CONV, window, _spread(taps, p.input_channels)


def _without_column_dilation(
    window: Window, taps: NDArray[np.signedinteger]
) -> tuple[Window, NDArray[np.signedinteger]]:
    """Return a wider kernel with zeros in the columns that dilation skips."""
    step = window.dilation_columns
    rows, columns, channels = taps.shape
    wide = np.zeros((rows, (columns - 1) * step + 1, channels), taps.dtype)
    wide[:, ::step] = taps
    return dataclasses.replace(window, kernel_columns=wide.shape[1], dilation_columns=1), wide


def _spread(taps: NDArray[np.signedinteger], channels: int) -> NDArray[np.signedinteger]:
    """Return weights for all input channels, zero for all but the one that an output reads."""
    rows, columns, outputs = taps.shape
    full = np.zeros((outputs, rows, columns, channels), taps.dtype)
    sources = np.arange(outputs) // (outputs // channels)
    full[np.arange(outputs), :, :, sources] = taps.transpose(2, 0, 1)
    return full

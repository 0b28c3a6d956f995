"""Forms of a convolution: operations that compute the same, the best first."""

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.engine.ir.limits import (
    DEPTHWISE_LIMITS,
    SPREAD_LIMITS,
    WINDOW_LIMITS,
    Geometry,
    Limit,
    require,
    without_rows,
)
from kiwicha.compiler.engine.ir.operations import Operation
from kiwicha.compiler.engine.ir.window import Window
from kiwicha.compiler.engine.select.convolutions.dilation import (
    can_be_in_phases,
    dilated_convolution,
)
from kiwicha.compiler.engine.select.convolutions.phases import transposed_convolution
from kiwicha.compiler.engine.select.convolutions.weighted import (
    WeightedLayer,
    convolution,
    depthwise_convolution,
)
from kiwicha.compiler.lower.network import Layer, weights_of
from kiwicha.contract.program import Kernel
from kiwicha.kernels.conv import Conv

__all__ = ["Form", "forms"]


@dataclass(frozen=True)
class Form:
    """One way to compute a convolution.

    Parameters
    ----------
    name : str
        How it differs from others; empty for the usual way.
    layer : WeightedLayer
        The layer, with the geometry of this form.
    weights : callable
        Gives the weights in the order of this form, which may be many.
    made : callable
        Makes the operation of layer and weights: one of the functions of `weighted`,
        `transposed_convolution` or `dilated_convolution`.
    limits : tuple of Limit
        What must hold before there are weights.
    """

    name: str
    layer: WeightedLayer
    weights: Callable[[], NDArray[np.int16]]
    made: Callable[[WeightedLayer, NDArray[np.int16]], Operation] = convolution
    limits: tuple[Limit[Geometry], ...] = WINDOW_LIMITS

    def operation(self) -> Operation:
        """Return the operation; a convolution may have more weights than a job can.

        Raises
        ------
        BrokenLimitError
            If the engine cannot do it.
        """
        # Before there are weights: they could be very many.
        require(self.limits, self.layer)
        return self.made(self.layer, self.weights())

    def in_parts_of_rows(self) -> Operation:
        """Return the same for parts of rows only, because whole ones would break a limit."""
        require(without_rows(self.limits), self.layer)
        layer = dataclasses.replace(self.layer, has_long_rows=True)
        return self.made(layer, self.weights())


def forms(call: Layer, layer: WeightedLayer) -> Iterator[Form]:
    """Yield the forms of a layer of which one operation computes all channels.

    Parameters
    ----------
    call : Layer
        With the portable kernel CONV, TRANSPOSE_CONV, DEPTHWISE_CONV or FULLY_CONNECTED.
    layer : WeightedLayer
        The same in the engine's terms.
    """
    p: Conv = call.params
    if call.kernel is not Kernel.DEPTHWISE_CONV:
        shape = (p.output_channels, p.kernel_height, p.kernel_width, p.input_channels)
        is_transposed = call.kernel is Kernel.TRANSPOSE_CONV
        made = transposed_convolution if is_transposed else convolution
        yield Form("", layer, lambda: weights_of(call).reshape(shape), made)
        return

    def taps() -> NDArray[np.int16]:
        return weights_of(call).reshape(p.kernel_height, p.kernel_width, p.output_channels)

    if p.input_channels > 1 and p.depth_multiplier == 1:
        step = layer.window.dilation_columns
        if can_be_in_phases(layer.window):
            yield Form("in phases of columns", layer, taps, dilated_convolution, DEPTHWISE_LIMITS)
        window = _without_column_dilation(layer.window)
        undilated = dataclasses.replace(layer, window=window)
        yield Form(
            "",
            undilated,
            lambda: _with_zeros_between(taps(), step),
            depthwise_convolution,
            DEPTHWISE_LIMITS,
        )
    name = "as a convolution of all channels"
    yield Form(name, layer, lambda: _spread(taps(), p.input_channels), limits=SPREAD_LIMITS)


def _without_column_dilation(window: Window) -> Window:
    """Return the window of a wider kernel, which has zeros in the columns that dilation skips."""
    columns = (window.kernel_columns - 1) * window.dilation_columns + 1
    return dataclasses.replace(window, kernel_columns=columns, dilation_columns=1)


def _with_zeros_between(taps: NDArray[np.int16], step: int) -> NDArray[np.int16]:
    rows, columns, channels = taps.shape
    wide = np.zeros((rows, (columns - 1) * step + 1, channels), taps.dtype)
    wide[:, ::step] = taps
    return wide


def _spread(taps: NDArray[np.int16], channels: int) -> NDArray[np.int16]:
    """Return weights for all input channels, zero for all but the one that an output reads."""
    rows, columns, outputs = taps.shape
    full = np.zeros((outputs, rows, columns, channels), taps.dtype)
    sources = np.arange(outputs) // (outputs // channels)
    full[np.arange(outputs), :, :, sources] = taps.transpose(2, 0, 1)
    return full

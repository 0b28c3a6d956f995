"""Convolutions and depthwise convolutions whose numbers fit the engine, from weights and scales."""

import dataclasses
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.engine.ir.limits import verify
from kiwicha.compiler.engine.ir.window import Window
from kiwicha.compiler.engine.ir.window_operations import (
    Convolution,
    DepthwiseConvolution,
    WeightedOperation,
)
from kiwicha.compiler.optimize.ranges import fold_constant_channels, is_narrow, sum_range
from kiwicha.program.weight_streams import Parameters

__all__ = ["WeightedLayer", "convolution", "depthwise_convolution"]


@dataclass(frozen=True, eq=False, kw_only=True)
class WeightedLayer:
    """A layer with weights in the engine's terms, but for its weights.

    Parameters
    ----------
    position : int
        Of the layer.
    input, output : int
        Tensors it reads and writes.
    window : Window
        Geometry.
    parameters : Parameters
        Of the output channels.
    input_zero_point, output_zero_point : int
        Zero points.
    clamp : tuple of int
        Smallest and largest output.
    weight_zero_point : int
        What brings the weights into int8, if they are not.
    has_long_rows : bool
        As in `JobOperation`.
    """

    position: int
    input: int
    output: int
    window: Window
    parameters: Parameters
    input_zero_point: int
    output_zero_point: int
    clamp: tuple[int, int]
    weight_zero_point: int = 0
    has_long_rows: bool = False

    @property
    def output_channels(self) -> int:
        """Channels of the output."""
        return len(self.parameters.bias)


def convolution(layer: WeightedLayer, weights: NDArray[np.int16]) -> WeightedOperation:
    """Return the convolution with weights [O, H, W, I].

    Raises
    ------
    BrokenLimitError
        If a number does not fit.
    """
    return _finished(
        Convolution(
            position=layer.position,
            inputs=(layer.input,),
            output=layer.output,
            window=layer.window,
            output_channels=layer.output_channels,
            parameters=layer.parameters,
            input_zero_point=layer.input_zero_point,
            output_zero_point=layer.output_zero_point,
            clamp=layer.clamp,
            weights=weights,
            weight_zero_point=layer.weight_zero_point,
            has_long_rows=layer.has_long_rows,
        )
    )


def depthwise_convolution(layer: WeightedLayer, weights: NDArray[np.int16]) -> WeightedOperation:
    """Return the depthwise convolution with weights [H, W, C].

    Raises
    ------
    BrokenLimitError
        If a number does not fit, or sums could overflow.
    """
    window = layer.window
    has_equal_columns = window.kernel_columns % window.stride_columns == 0
    return _finished(
        DepthwiseConvolution(
            position=layer.position,
            inputs=(layer.input,),
            output=layer.output,
            window=window,
            output_channels=layer.output_channels,
            parameters=layer.parameters,
            input_zero_point=layer.input_zero_point,
            output_zero_point=layer.output_zero_point,
            clamp=layer.clamp,
            weights=weights,
            weight_zero_point=layer.weight_zero_point,
            has_long_rows=layer.has_long_rows,
            has_one_word=has_equal_columns and _are_equal(weights),
        )
    )


def _are_equal(weights: NDArray[np.int16]) -> bool:
    """Whether all weights are the same int8 above 0."""
    return bool(0 < weights.min() == weights.max() <= np.iinfo(np.int8).max)


def _finished(operation: WeightedOperation) -> WeightedOperation:
    """Return an operation that fits, constant channels folded, and wide if it must be."""
    verify(operation)
    has_one_word = isinstance(operation, DepthwiseConvolution) and operation.has_one_word
    folded = operation if has_one_word else _folded(operation)
    sums = sum_range(folded.flat_weights, folded.parameters.bias, folded.input_zero_point)
    are_int8 = folded.weights.min() >= -128 and folded.weights.max() <= 127
    return dataclasses.replace(
        folded,
        is_wide=not is_narrow(sums, folded.parameters.shift),
        weight_zero_point=0 if are_int8 else folded.weight_zero_point,
    )


def _folded(operation: WeightedOperation) -> WeightedOperation:
    """Return the operation with channels folded whose output never changes."""
    flat, parameters = fold_constant_channels(
        operation.flat_weights,
        operation.parameters,
        operation.input_zero_point,
        operation.output_zero_point,
        operation.clamp,
    )
    axis = operation.channel_axis
    shape = np.moveaxis(operation.weights, axis, 0).shape
    weights = np.ascontiguousarray(np.moveaxis(flat.reshape(shape), 0, axis))
    return dataclasses.replace(operation, weights=weights, parameters=parameters)

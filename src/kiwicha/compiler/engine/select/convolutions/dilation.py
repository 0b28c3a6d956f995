"""Dilated depthwise convolutions: a depthwise convolution for each phase of their columns."""

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.engine.ir.operations import DividedOperation, Piece
from kiwicha.compiler.engine.ir.window import Window
from kiwicha.compiler.engine.select.convolutions.weighted import (
    WeightedLayer,
    depthwise_convolution,
)
from kiwicha.contract.engine import OUTPUT_BYTES

__all__ = ["can_be_in_phases", "dilated_convolution"]


def can_be_in_phases(window: Window) -> bool:
    """Whether phases are better than a wider kernel, with zeros in the columns that are skipped.

    Of few channels the array computes several outputs of a wider kernel side by side in one job.
    """
    step = window.dilation_columns
    is_dilated = step > 1 and window.kernel_columns > 1 and window.channels > OUTPUT_BYTES
    # Each phase has a column of the image.
    return is_dilated and window.stride_columns == 1 and window.input_columns >= step


def dilated_convolution(layer: WeightedLayer, weights: NDArray[np.int16]) -> DividedOperation:
    """Return the depthwise convolution with weights [H, W, C], a piece for each phase of columns.

    Outputs that are a dilation apart read inputs that are a dilation apart, and no others.

    Raises
    ------
    BrokenLimitError
        If a number does not fit, or sums could overflow.
    """
    whole = depthwise_convolution(layer, weights)
    window = whole.window
    rows, step = range(window.image_rows), window.dilation_columns
    pieces = (
        Piece(rows=rows, operation=whole, columns=range(first, window.output_columns, step))
        for first in range(min(step, window.output_columns))
    )
    return DividedOperation(
        position=layer.position,
        inputs=(layer.input,),
        output=layer.output,
        window=window,
        output_channels=layer.output_channels,
        clamp=layer.clamp,
        pieces=tuple(pieces),
    )

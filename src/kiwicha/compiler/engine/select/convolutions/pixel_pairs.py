"""Convolutions that compute two pixels at a time, where one leaves half of the array idle.

Packed products, and an engine of twice as many outputs, give 16 outputs a cycle. Where a pixel has
8 of them, or 8 more than a multiple of 16, two pixels next to each other are what a wider window
gives: the weights of each are those of the kernel, and 0 for the columns that only the other reads.
"""

import dataclasses

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.engine.ir.operations import DividedOperation, Piece
from kiwicha.compiler.engine.ir.window import padded
from kiwicha.compiler.engine.ir.window_operations import Convolution
from kiwicha.contract.engine import OUTPUT_BYTES, SumFlag
from kiwicha.program.weight_streams import Parameters

__all__ = ["in_pixel_pairs"]

_PIXELS = 2


def in_pixel_pairs(operation: Convolution) -> DividedOperation | None:
    """Return a convolution in pairs of pixels, and perhaps a last column; None if that is no use.

    Parameters
    ----------
    operation : Convolution
        The convolution, whose weights tell which products can be packed.
    """
    window = operation.window
    pitch = padded(operation.output_channels)
    has_half = pitch // OUTPUT_BYTES % _PIXELS == 1
    is_plain = window.dilation_columns == 1 and operation.sums is SumFlag.NONE
    pairs = window.output_columns // _PIXELS
    if not has_half or not is_plain or not pairs:
        return None
    wide = dataclasses.replace(
        window,
        output_columns=pairs,
        kernel_columns=window.kernel_columns + window.stride_columns,
        stride_columns=_PIXELS * window.stride_columns,
    )
    rows = range(window.image_rows)
    pair = dataclasses.replace(
        operation,
        window=wide,
        output_channels=pitch + operation.output_channels,
        parameters=_twice(operation.parameters, pitch),
        weights=_wide_weights(operation, pitch),
        is_packed=False,
    )
    pieces = [Piece(rows, pair, range(0, _PIXELS * pairs, _PIXELS))]
    if window.output_columns % _PIXELS:
        column = dataclasses.replace(
            operation, window=dataclasses.replace(window, output_columns=1)
        )
        pieces.append(Piece(rows, column, range(_PIXELS * pairs, window.output_columns)))
    return DividedOperation(
        position=operation.position,
        inputs=operation.inputs,
        output=operation.output,
        window=window,
        output_channels=operation.output_channels,
        clamp=operation.clamp,
        merged=operation.merged,
        pieces=tuple(pieces),
    )


def _wide_weights(operation: Convolution, pitch: int) -> NDArray[np.int16]:
    """Return the weights of the outputs of both pixels, and of what lies between these."""
    outputs, rows, columns, channels = operation.weights.shape
    stride = operation.window.stride_columns
    wide = np.zeros((pitch + outputs, rows, columns + stride, channels), np.int16)
    wide[:outputs, :, :columns] = operation.weights
    wide[pitch:, :, stride:] = operation.weights
    return wide


def _twice(parameters: Parameters, pitch: int) -> Parameters:
    """Return the parameters of both pixels, and 0 for what lies between these."""
    fields = (parameters.bias, parameters.multiplier, parameters.shift)
    pads = ((0, pitch - len(parameters.bias)),)
    return Parameters(*(np.concatenate([np.pad(values, pads), values]) for values in fields))

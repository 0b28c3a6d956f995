"""Sums over windows of each channel: one job, or parts of the window that add to the same sums."""

import dataclasses
import itertools

import numpy as np

from kiwicha.compiler.engine.ir.operations import DividedOperation, JobOperation, Operation, Piece
from kiwicha.compiler.engine.ir.window import Window
from kiwicha.compiler.engine.ir.window_operations import FEW_SLOTS, WeightedOperation
from kiwicha.compiler.engine.select.convolutions.weighted import (
    WeightedLayer,
    depthwise_convolution,
)
from kiwicha.compiler.optimize.ranges import UNIT_SCALE, is_narrow, sum_range
from kiwicha.contract.engine import (
    GROUP_WORDS,
    MAX_DEPTHWISE_COLUMNS,
    MAX_KERNEL_ROWS,
    SumFlag,
)
from kiwicha.program.weight_streams import Parameters

__all__ = ["parts_of_window", "summed", "uniform", "window_parts"]

_BYTES = (-128, 127)


def window_parts(window: Window) -> int:
    """Return how many jobs the sum over a window takes."""
    return -(-window.kernel_rows // _most_rows(window)) * len(_widths(window))


def summed(layer: WeightedLayer, weight: int = 1) -> Operation:
    """Return what sums the pixels of windows and scales the sums.

    Parameters
    ----------
    layer : WeightedLayer
        The layer.
    weight : int
        All of its weights; its scale counts with them.

    Raises
    ------
    BrokenLimitError
        If the engine cannot do it.
    """
    parts = parts_of_window(layer, weight)
    if len(parts) == 1:
        return parts[0]
    return DividedOperation(
        position=layer.position,
        inputs=(layer.input,),
        output=layer.output,
        window=layer.window,
        output_channels=layer.output_channels,
        clamp=layer.clamp,
        pieces=tuple(Piece(range(layer.window.image_rows), part) for part in parts),
    )


def parts_of_window(layer: WeightedLayer, weight: int = 1) -> list[JobOperation]:
    """Return a job for each part of the window, in a series: see `summed`."""
    window = layer.window
    rows, widths = _most_rows(window), _widths(window)
    if window_parts(window) == 1:
        return [_part(layer, weight, 0, 0, window.kernel_rows, window.kernel_columns)]
    # Until all parts are summed nothing is scaled: no sum counts as a constant output.
    bare = dataclasses.replace(
        layer, parameters=uniform(window.channels, UNIT_SCALE), output_zero_point=0, clamp=_BYTES
    )
    columns = zip(itertools.accumulate([0, *widths]), widths, strict=False)
    places = [
        (row, column, width)
        for row, (column, width) in itertools.product(
            range(0, window.kernel_rows, rows), list(columns)
        )
    ]
    is_wide = _is_wide(layer, weight)
    found: list[JobOperation] = []
    for number, (row, column, width) in enumerate(places):
        is_last = number == len(places) - 1
        sums = SumFlag.CONTINUE if number else SumFlag.NONE
        found.append(
            dataclasses.replace(
                _part(bare, weight, row, column, min(rows, window.kernel_rows - row), width),
                parameters=layer.parameters,
                output_zero_point=layer.output_zero_point,
                clamp=layer.clamp,
                sums=sums if is_last else sums | SumFlag.KEEP,
                is_wide=is_wide and is_last,
            )
        )
    return found


def uniform(channels: int, scale: tuple[int, int]) -> Parameters:
    """Return parameters without a bias, with one multiplier and shift for all channels."""
    return Parameters(*(np.full(channels, value, np.int32) for value in (0, *scale)))


def _part(
    layer: WeightedLayer, weight: int, row: int, column: int, height: int, width: int
) -> WeightedOperation:
    """Return what sums some rows and columns of a window."""
    window = layer.window
    # Sums are kept group by group: all parts must have groups of as many channels as the first one.
    least = FEW_SLOTS * window.stride_columns + 1 if window.slots > MAX_DEPTHWISE_COLUMNS else 1
    part = dataclasses.replace(
        window,
        kernel_rows=height,
        kernel_columns=max(width, least),
        pad_top=window.pad_top - row,
        pad_left=window.pad_left - column,
    )
    weights = np.zeros((height, part.kernel_columns, window.channels), np.int16)
    weights[:, :width] = weight
    return depthwise_convolution(dataclasses.replace(layer, window=part), weights)


def _is_wide(layer: WeightedLayer, weight: int) -> bool:
    """Whether sums of the whole window need more than one pass of the requantizer."""
    elements = layer.window.kernel_rows * layer.window.kernel_columns
    p = layer.parameters
    sums = sum_range(np.full((1, elements), weight, np.int16), p.bias[:1], layer.input_zero_point)
    return not is_narrow(sums, p.shift[:1])


def _most_rows(window: Window) -> int:
    """Return the rows that a part of a window can have."""
    return min(MAX_KERNEL_ROWS, max(GROUP_WORDS // window.stride_columns, 1))


def _widths(window: Window) -> list[int]:
    """Return the columns of the parts of a window: about as many for each."""
    stride, columns = window.stride_columns, window.kernel_columns
    count = -(-window.slots // MAX_DEPTHWISE_COLUMNS)
    share, more = divmod(window.slots, count)
    sizes = [stride * (share + (number < more)) for number in range(count)]
    sizes[-1] -= sum(sizes) - columns
    return sizes

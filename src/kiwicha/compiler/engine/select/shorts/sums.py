"""Average pools, MEAN and SUM of int16: depthwise convolutions of planes, with equal weights."""

import dataclasses
import math
from dataclasses import dataclass

import numpy as np

from kiwicha.compiler.engine.ir.limits import limit, require
from kiwicha.compiler.engine.ir.window import Window
from kiwicha.compiler.engine.ir.window_operations import DepthwiseConvolution
from kiwicha.compiler.engine.select.reductions.means import merged_dimensions, reduction
from kiwicha.compiler.engine.select.reductions.pools import (
    WEIGHTS,
    divisions_of,
    is_global,
    window_of,
)
from kiwicha.compiler.engine.select.shorts.convolutions import Part
from kiwicha.compiler.lower.network import Layer
from kiwicha.compiler.optimize.ranges import exact_division
from kiwicha.contract.engine import GROUP_WORDS, MAX_DEPTHWISE_COLUMNS, MAX_KERNEL_ROWS
from kiwicha.contract.program import Kernel
from kiwicha.kernels.mean import Mean
from kiwicha.kernels.pool import Pool
from kiwicha.numerics.requantization import INT32_MAX
from kiwicha.program.weight_streams import Parameters

__all__ = ["SUM_KERNELS", "SUM_LIMITS", "SUM_OPERATORS", "sums_in_parts"]

SUM_KERNELS = frozenset({Kernel.SHORT_AVERAGE_POOL, Kernel.SHORT_MEAN})
"""Kernels of sums of int16 that an engine with jobs of int16 computes."""
SUM_OPERATORS = ("AVERAGE_POOL_2D", "MEAN", "SUM")
"""What these are in models."""
_BITS = 16
_LARGEST = 1 << (_BITS - 1)
_BYTE_VALUES = 256
_KINDS = ([True], [True, False], [False, True, False])
"""Whether dimensions are reduced: images, pixels and channels."""


@dataclass(frozen=True)
class _Sum:
    """Outputs whose windows have as many elements: a weight for each of them, and a scale."""

    rows: range
    columns: range | None
    count: int
    weight: int
    scale: tuple[int, int] | None


@limit("MEAN", "SUM")
def pixels_of_shorts(kinds: list[bool]) -> str | None:
    """Of int16, MEAN and SUM reduce whole images: what they keep is before or behind that."""
    if kinds in _KINDS:
        return None
    return "reduces dimensions of int16 that are not rows and columns of an image"


@limit(*SUM_OPERATORS)
def sums_of_few_shorts(item: _Sum) -> str | None:
    """No sum of int16 needs more than 32 bits, and a scale divides by its elements exactly."""
    if item.scale is None:
        return f"has a window of {item.count:,} elements of int16, by which no scale divides"
    largest = (item.weight * item.count * _LARGEST) << max(item.scale[1], 0)
    if largest <= INT32_MAX:
        return None
    return f"has sums of int16 that may be as large as {largest:,}; the engine adds 32 bits"


SUM_LIMITS = (pixels_of_shorts, sums_of_few_shorts)
"""What must hold for sums of int16, besides the limits of depthwise jobs."""


def sums_in_parts(layer: Layer, position: int, planes: int, results: int) -> tuple[Part, ...]:
    """Return the convolutions of planes that a layer of sums is.

    Parameters
    ----------
    layer : Layer
        With a kernel of `SUM_KERNELS`.
    position : int
        Of the layer.
    planes, results : int
        What they read, and what they write.

    Raises
    ------
    BrokenLimitError
        If the engine cannot do it.
    """
    is_pool = layer.kernel is Kernel.SHORT_AVERAGE_POOL
    window, clamp, sums = _pool(layer.params) if is_pool else _mean(layer.params)
    parts = []
    for item in sums:
        require((sums_of_few_shorts,), item)
        assert item.scale is not None
        channels = window.channels
        shape = (window.kernel_rows, window.kernel_columns, channels)
        zeros, same = np.zeros(channels, np.int32), np.ones(channels, np.int32)
        operation = DepthwiseConvolution(
            position=position,
            inputs=(planes,),
            output=results,
            window=window,
            output_channels=channels,
            parameters=Parameters(zeros, *(same * number for number in item.scale)),
            input_zero_point=0,
            output_zero_point=0,
            clamp=clamp,
            weights=np.full(shape, item.weight, np.int16),
            is_wide=True,
        )
        parts.append(Part(item.rows, item.columns, operation))
    return tuple(parts)


_Sums = tuple[Window, tuple[int, int], list[_Sum]]
"""The window, the clamp of upper bytes, and sums."""


def _pool(p: Pool) -> _Sums:
    if is_global(p):
        window = _whole(p.input_height, p.input_width, p.channels)
    else:
        window = window_of(p)
    window = window.repeated(p.batches)
    clamp = (p.activation_min // _BYTE_VALUES, p.activation_max // _BYTE_VALUES)
    if is_global(p):
        count = p.kernel_height * p.kernel_width
        return window, clamp, [_divided(range(window.image_rows), None, count)]
    found = [
        _divided(
            item.rows,
            None if item.column is None else range(item.column, item.column + 1),
            item.count,
        )
        for item in divisions_of(p, window)
    ]
    return window, clamp, found


def _divided(rows: range, columns: range | None, count: int) -> _Sum:
    """Return outputs that are divided by a number of elements, halves away from zero."""
    for weight in WEIGHTS if count * _LARGEST <= INT32_MAX else ():
        scale = exact_division(count, 0, weight, _BITS)
        if scale is not None:
            return _Sum(rows, columns, count, weight, scale)
    return _Sum(rows, columns, count, 1, None)


def _mean(p: Mean) -> _Sums:
    dimensions = merged_dimensions(p)
    require((pixels_of_shorts,), [is_reduced for _, is_reduced, _ in dimensions])
    count = math.prod(size for size, is_reduced, _ in dimensions if is_reduced)
    images = dimensions[0][0] if not dimensions[0][1] else 1
    channels = dimensions[-1][0] if not dimensions[-1][1] else 1
    sides = [size for size, flag in zip(p.shape, p.is_reduced, strict=False) if flag and size > 1]
    height, width = sides if len(sides) == len(("rows", "columns")) else (count, 1)
    window = _whole(height, width, channels).repeated(images)
    clamp = (-_LARGEST // _BYTE_VALUES, (_LARGEST - 1) // _BYTE_VALUES)
    scale = (p.multiplier, p.shift)
    return window, clamp, [_Sum(range(window.image_rows), None, count, 1, scale)]


def _whole(height: int, width: int, channels: int) -> Window:
    """Return a window that is the whole image: as it is, if one job can sum it up so."""
    window = dataclasses.replace(
        Window.of_pixels(height, width, channels),
        output_rows=1,
        output_columns=1,
        kernel_rows=height,
        kernel_columns=width,
    )
    fits = width <= MAX_DEPTHWISE_COLUMNS and height <= min(MAX_KERNEL_ROWS, GROUP_WORDS)
    return window if fits else reduction(height * width, channels)

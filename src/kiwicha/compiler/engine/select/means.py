"""Sums of pixels in the engine's terms: means, and what pools share with them."""

import math

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.engine.ir.limits import Limit, limit, require
from kiwicha.compiler.engine.ir.operations import JobOperation
from kiwicha.compiler.engine.ir.window import MAX_STRIDE, Window
from kiwicha.compiler.engine.select.weighted import WeightedLayer, depthwise_convolution
from kiwicha.contract.engine import GROUP_WORDS, MAX_DEPTHWISE_COLUMNS, MAX_KERNEL_ROWS
from kiwicha.kernels.mean import Mean
from kiwicha.program.weight_streams import Parameters

__all__ = ["MEAN_LIMITS", "mean", "reduction", "sums", "uniform"]

Dimensions = list[tuple[int, bool]]
"""Sizes, and whether they are reduced, without leading ones that are images."""


@limit("MEAN", "SUM")
def reduced_dimensions(dimensions: Dimensions) -> str | None:
    """Reduced dimensions are next to each other, as height and width are, and not the last ones."""
    flags = [flag for _, flag in dimensions]
    if any(flags) and flags == sorted(flags, reverse=True):
        return None
    if not any(flags):
        return "reduces only dimensions of 1"
    return "reduces dimensions that are behind others, or apart"


@limit("MEAN", "SUM", "AVERAGE_POOL_2D", columns=MAX_DEPTHWISE_COLUMNS, most=GROUP_WORDS)
def reduced_elements(dimensions: Dimensions) -> str | None:
    """The number of reduced elements is r * c, and r * ceil(c / {columns}) is up to {most}.

    For an average pool this holds if its window is the whole image.
    """
    count = math.prod(size for size, flag in dimensions if flag)
    if reduction(count, 1) is not None:
        return None
    return f"reduces {count:,} elements, which are no r * c that fits a job"


MEAN_LIMITS: tuple[Limit[Dimensions], ...] = (reduced_dimensions, reduced_elements)
"""What must hold for the dimensions of a MEAN or SUM."""


def mean(p: Mean, position: int, source: int, output: int) -> JobOperation:
    """Return a MEAN or SUM; see `pools.max_pool`."""
    dimensions: Dimensions = [
        (size, bool(flag)) for size, flag in zip(p.shape, p.is_reduced, strict=False) if size != 1
    ]
    images = 1
    # Leading dimensions are images, if there are channels behind the reduced ones.
    while dimensions and not dimensions[0][1] and not dimensions[-1][1]:
        images *= dimensions.pop(0)[0]
    require(MEAN_LIMITS, dimensions)
    count = math.prod(size for size, flag in dimensions if flag)
    window = reduction(count, math.prod(size for size, flag in dimensions if not flag))
    assert window is not None
    return sums(
        position,
        (source, output),
        window.repeated(images),
        (p.multiplier, p.shift),
        (-p.input_offset, p.output_offset),
        (-128, 127),
    )


def reduction(count: int, channels: int) -> Window | None:
    """Return the window that sums ``count`` pixels to one.

    More columns than a chain has taps come in phases, as if each output column were so many
    columns behind the one before it; there is none, so that this stride can be any.
    """
    for phases in range(1, MAX_STRIDE + 1):
        first = (phases - 1) * MAX_DEPTHWISE_COLUMNS + 1
        for columns in range(first, first + MAX_DEPTHWISE_COLUMNS):
            rows = count // columns
            fits = rows <= MAX_KERNEL_ROWS and phases * rows <= GROUP_WORDS
            if count % columns == 0 and fits:
                return Window(
                    input_rows=rows,
                    input_columns=columns,
                    channels=channels,
                    output_rows=1,
                    output_columns=1,
                    kernel_rows=rows,
                    kernel_columns=columns,
                    stride_columns=phases,
                )
    return None


def sums(
    position: int,
    tensors: tuple[int, int],
    window: Window,
    scale: tuple[int, int],
    zero_points: tuple[int, int],
    clamp: tuple[int, int],
) -> JobOperation:
    """Return what sums the pixels of windows and scales the sums.

    Parameters
    ----------
    position : int
        Position of the layer.
    tensors : tuple of int
        What it reads and writes.
    window : Window
        Geometry.
    scale : tuple of int
        Multiplier and shift of the sums.
    zero_points : tuple of int
        Of input and output.
    clamp : tuple of int
        Smallest and largest output.

    Raises
    ------
    BrokenLimitError
        If the engine cannot do it.
    """
    layer = WeightedLayer(
        position=position,
        input=tensors[0],
        output=tensors[1],
        window=window,
        parameters=uniform(window.channels, scale),
        input_zero_point=zero_points[0],
        output_zero_point=zero_points[1],
        clamp=clamp,
    )
    return depthwise_convolution(layer, _ones(window))


def _ones(window: Window) -> NDArray[np.int16]:
    return np.ones((window.kernel_rows, window.kernel_columns, window.channels), np.int16)


def uniform(channels: int, scale: tuple[int, int]) -> Parameters:
    """Return parameters without a bias, with one multiplier and shift for all channels."""
    return Parameters(*(np.full(channels, value, np.int32) for value in (0, *scale)))

"""Pools and means in the engine's terms."""

import dataclasses
import math
from collections import Counter
from collections.abc import Iterator
from itertools import groupby

import numpy as np

from kiwicha.compiler.engine.ir.checks import checked, fits_fields
from kiwicha.compiler.engine.ir.layers import MAX_STRIDE, EngineLayer, Patch, Window, padded
from kiwicha.compiler.optimize.ranges import UNIT_SCALE, exact_division
from kiwicha.contract.engine import (
    GROUP_WORDS,
    MAX_DEPTHWISE_COLUMNS,
    MAX_INPUT_ZERO_POINT,
    MAX_KERNEL_ROWS,
    JobFlag,
    JobKind,
)
from kiwicha.kernels.mean import Mean
from kiwicha.kernels.pool import Pool
from kiwicha.program.weight_streams import Parameters

__all__ = ["MAX_PATCHES", "average_pool", "max_pool", "mean"]

MAX_PATCHES = 64
"""Jobs of an average pool with borders, at most; each takes some tens of cycles."""
_MAX_U8 = 2**8 - 1
_MAX_U16 = 2**16 - 1
Stored = tuple[int, ...]


def max_pool(p: Pool, position: int, stored: Stored) -> EngineLayer | None:
    """Return a MAX_POOL_2D, None if the engine cannot do it.

    Parameters
    ----------
    p : Pool
        Its parameters.
    position : int
        Position of the layer.
    stored : tuple of int
        Input and output, as stored.
    """
    window = _window(p).repeated(p.batches)
    if window.kernel_columns > _MAX_U8 or not fits_fields(window, p.channels):
        return None
    return EngineLayer(
        position,
        JobKind.MAX,
        JobFlag.ONES,
        stored[:-1],
        stored[-1],
        window,
        p.channels,
        _parameters(p.channels, UNIT_SCALE),
        MAX_INPUT_ZERO_POINT,
        MAX_INPUT_ZERO_POINT,
        (p.activation_min, p.activation_max),
        np.zeros(0, np.int16),
        np.zeros((0, 2), np.int32),
    )


def average_pool(p: Pool, position: int, stored: Stored) -> EngineLayer | None:
    """Return an AVERAGE_POOL_2D, None if the engine cannot do it; see `max_pool`."""
    count = p.kernel_height * p.kernel_width
    reduction = _reduction(count, p.channels) if _is_global(p) else None
    if reduction is not None:
        return _divided(p, position, stored, reduction.repeated(p.batches), count)
    window = _window(p).repeated(p.batches)
    rows = _inside(p.output_height, p.stride_height, p.pad_top, p.kernel_height, p.input_height)
    columns = _inside(p.output_width, p.stride_width, p.pad_left, p.kernel_width, p.input_width)
    if window.images == 1:
        rows *= p.batches  # as if they were one image
    ((usual, _),) = Counter(columns).most_common(1)
    others = [column for column, inside in enumerate(columns) if inside != usual]
    divisors = [
        # Whole rows first, as if all windows were the usual ones; then the columns that are not.
        (span, column, inside * (usual if column is None else columns[column]))
        for inside, span in _runs(rows)
        for column in (None, *others)
    ]
    if (
        window.kernel_rows > MAX_KERNEL_ROWS
        or window.slots > MAX_DEPTHWISE_COLUMNS
        or len(divisors) > MAX_PATCHES
        or (others and p.output_width * padded(p.channels) > _MAX_U16)
    ):
        return None
    layers = {
        count: _divided(p, position, stored, window, count)
        for count in {count for _, _, count in divisors}
    }
    patches = [
        Patch(span, column, layer)
        for span, column, count in divisors
        if (layer := layers[count]) is not None
    ]
    if len(patches) < len(divisors):
        return None
    main = patches[0].layer
    return dataclasses.replace(main, patches=tuple(patches)) if len(patches) > 1 else main


def _is_global(p: Pool) -> bool:
    return (
        (p.kernel_height, p.kernel_width) == (p.input_height, p.input_width)
        and p.output_height == p.output_width == 1
        and p.pad_top == p.pad_left == 0
    )


def mean(p: Mean, position: int, stored: Stored) -> EngineLayer | None:
    """Return a MEAN or SUM, None if the engine cannot do it; see `max_pool`."""
    dimensions = [
        (size, flag) for size, flag in zip(p.shape, p.is_reduced, strict=False) if size != 1
    ]
    images = 1
    # Leading dimensions are images, if there are channels behind the reduced ones.
    while dimensions and not dimensions[0][1] and not dimensions[-1][1]:
        images *= dimensions.pop(0)[0]
    flags = [flag for _, flag in dimensions]
    # The reduced dimensions must lie in front of the others.
    if not any(flags) or flags != sorted(flags, reverse=True):
        return None
    count = math.prod(size for size, flag in dimensions if flag)
    window = _reduction(count, math.prod(size for size, flag in dimensions if not flag))
    if window is None:
        return None
    offsets = (-p.input_offset, p.output_offset, -128, 127)
    return _sums(position, stored, window.repeated(images), (p.multiplier, p.shift), offsets)


def _window(p: Pool) -> Window:
    return Window(
        p.input_height,
        p.input_width,
        p.channels,
        p.output_height,
        p.output_width,
        p.kernel_height,
        p.kernel_width,
        p.stride_height,
        p.stride_width if p.output_width > 1 else 1,
        pad_top=p.pad_top,
        pad_left=p.pad_left,
    )


def _inside(outputs: int, stride: int, pad: int, kernel: int, size: int) -> list[int]:
    """Return, for each output row or column, how many of its window's lie inside the image."""
    starts = [number * stride - pad for number in range(outputs)]
    return [max(min(start + kernel, size) - max(start, 0), 0) for start in starts]


def _runs(values: list[int]) -> Iterator[tuple[int, range]]:
    """Yield each value with the positions at which it stands in a row."""
    first = 0
    for value, same in groupby(values):
        count = len(list(same))
        yield value, range(first, first + count)
        first += count


def _divided(
    p: Pool, position: int, stored: Stored, window: Window, count: int
) -> EngineLayer | None:
    """Return a layer that divides the sums of its windows by a number."""
    division = exact_division(count, p.offset) if 0 < count <= _MAX_U16 else None
    if division is None:
        return None
    offsets = (-p.offset, -p.offset, p.activation_min, p.activation_max)
    return _sums(position, stored, window, division, offsets)


def _reduction(count: int, channels: int) -> Window | None:
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
                return Window(rows, columns, channels, 1, 1, rows, columns, stride_columns=phases)
    return None


def _sums(
    position: int,
    stored: Stored,
    window: Window,
    scale: tuple[int, int],
    offsets: tuple[int, int, int, int],
) -> EngineLayer | None:
    """Return a layer that sums the pixels of windows and scales the sums."""
    channels = window.channels
    weights = np.ones((window.kernel_rows, window.kernel_columns, channels), np.int16)
    parameters = _parameters(channels, scale)
    return checked(position, JobKind.DEPTHWISE, stored, window, weights, parameters, offsets)


def _parameters(channels: int, scale: tuple[int, int]) -> Parameters:
    return Parameters(*(np.full(channels, value, np.int32) for value in (0, *scale)))

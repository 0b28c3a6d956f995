"""Sums of pixels in the engine's terms: means, and what pools share with them."""

import math

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.engine.ir.limits import WINDOW_LIMITS, Limit, limit, require
from kiwicha.compiler.engine.ir.move_operations import MoveOperation, moved
from kiwicha.compiler.engine.ir.operations import (
    JobOperation,
    Operation,
    OperationSequence,
    internal_tensor,
)
from kiwicha.compiler.engine.ir.strided_copies import Loop, StridedCopy, in_order
from kiwicha.compiler.engine.ir.window import MAX_STRIDE, Image, Window
from kiwicha.compiler.engine.select.convolutions.weighted import (
    WeightedLayer,
    convolution,
    depthwise_convolution,
)
from kiwicha.contract.engine import GROUP_WORDS, MAX_DEPTHWISE_COLUMNS, MAX_KERNEL_ROWS
from kiwicha.kernels.mean import Mean
from kiwicha.program.weight_streams import Parameters

__all__ = ["MEAN_LIMITS", "mean", "reduction", "rows_of_sums", "sums", "uniform"]

Dimension = tuple[int, bool, int]
"""Size, whether it is reduced, and bytes from one element to the next."""


@limit("MEAN", "SUM", "AVERAGE_POOL_2D", columns=MAX_DEPTHWISE_COLUMNS, most=GROUP_WORDS)
def reduced_elements(count: int) -> str | None:
    """The number of reduced elements is r * c, and r * ceil(c / {columns}) is up to {most}.

    For an average pool this holds if its window is the whole image.
    """
    if reduction(count, 1) is not None:
        return None
    return f"reduces {count:,} elements, which are no r * c that fits a job"


MEAN_LIMITS: tuple[Limit[int], ...] = (reduced_elements,)
"""What must hold for the number of elements that a MEAN or SUM reduces to one."""


def mean(p: Mean, position: int, source: int, output: int) -> Operation:
    """Return a MEAN or SUM; see `pools.max_pool`.

    Reduced dimensions become the pixels of an image, and those behind them its channels. Where
    they are behind others, or apart, a move brings them together first.
    """
    dimensions = _dimensions(p)
    count = math.prod(size for size, is_reduced, _ in dimensions if is_reduced)
    require(MEAN_LIMITS, count)
    # Leading dimensions are images, if there are channels behind the reduced ones.
    has_images = not dimensions[0][1] and not dimensions[-1][1]
    leading, others = dimensions[:has_images], dimensions[has_images:]
    images = math.prod(size for size, _, _ in leading)
    window = reduction(count, math.prod(p.shape) // (count * images))
    assert window is not None
    window = window.repeated(images)
    ordered = [*leading, *sorted(others, key=lambda item: not item[1])]
    moves = []
    if ordered != dimensions:
        image = Image(window.input_rows, window.input_columns, window.channels)
        moves = [_gathering(p, ordered, position, source, image)]
        source = moves[0].output
    scaled = sums(
        position,
        (source, output),
        window,
        (p.multiplier, p.shift),
        (-p.input_offset, p.output_offset),
        (-128, 127),
    )
    return OperationSequence.of([*moves, scaled])


def rows_of_sums(p: Mean, position: int, source: int, output: int) -> Operation | None:
    """Return a MEAN or SUM of the last dimensions as a convolution, None if it is none of these.

    Its weights are 1, and its only channel takes whole words, which a move brings together again.
    """
    dimensions = _dimensions(p)
    if [is_reduced for _, is_reduced, _ in dimensions] != [False, True]:
        return None
    (rows, _, _), (count, _, _) = dimensions
    layer = WeightedLayer(
        position=position,
        input=source,
        output=output,
        window=Window.of_pixels(rows, 1, count),
        parameters=uniform(1, (p.multiplier, p.shift)),
        input_zero_point=-p.input_offset,
        output_zero_point=p.output_offset,
        clamp=(-128, 127),
    )
    require(WINDOW_LIMITS, layer)
    return convolution(layer, np.ones((1, 1, 1, count), np.int16))


def _dimensions(p: Mean) -> list[Dimension]:
    """Return the dimensions of more than 1, neighbours of a kind as one."""
    found: list[Dimension] = []
    step = math.prod(p.shape)
    for size, flag in zip(p.shape, p.is_reduced, strict=False):
        step //= size
        if size == 1:
            continue
        is_same = bool(found) and found[-1][1] == bool(flag)
        outer = found.pop()[0] if is_same else 1
        found.append((outer * size, bool(flag), step))
    return found


def _gathering(
    p: Mean, ordered: list[Dimension], position: int, source: int, image: Image
) -> MoveOperation:
    """Return the move that writes elements in an order of dimensions."""
    loops = []
    target = math.prod(p.shape)
    for size, _, step in ordered:
        target //= size
        loops.append(Loop(size, step, target))
    copy = StridedCopy(source, 0, 0, *in_order(loops, 1))
    images = {source: Image.of_shape(p.shape)}
    return moved(position, [copy], images, internal_tensor(position, 0), image)


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

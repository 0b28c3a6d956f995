"""Sums of pixels in the engine's terms: means, and what pools share with them."""

import math

import numpy as np

from kiwicha.compiler.engine.ir.limits import (
    WINDOW_LIMITS,
    Limit,
    exceeded,
    limit,
    require,
)
from kiwicha.compiler.engine.ir.move_operations import MoveOperation, moved
from kiwicha.compiler.engine.ir.operations import Operation, OperationSequence, internal_tensor
from kiwicha.compiler.engine.ir.strided_copies import Loop, StridedCopy, in_order
from kiwicha.compiler.engine.ir.window import MAX_STRIDE, Image, Window
from kiwicha.compiler.engine.select.convolutions.weighted import (
    WeightedLayer,
    convolution,
)
from kiwicha.compiler.engine.select.reductions.sum_parts import summed, uniform, window_parts
from kiwicha.contract.engine import (
    GROUP_WORDS,
    LINE_BYTES,
    MAX_DEPTHWISE_COLUMNS,
    MAX_KERNEL_ROWS,
    MAX_U16,
)
from kiwicha.kernels.mean import Mean

__all__ = [
    "MEAN_LIMITS",
    "columns_of_sums",
    "mean",
    "merged_dimensions",
    "reduction",
    "rows_of_sums",
    "sum_layer",
]

MAX_PARTS = 2048
"""Jobs of a sum, at most; each takes some tens of cycles."""
_FEW_COLUMNS = (1, 2, 3, 4)
"""Of jobs with two groups of channels at a time."""

Dimension = tuple[int, bool, int]
"""Size, whether it is reduced, and bytes from one element to the next."""


@limit("MEAN", "SUM", "AVERAGE_POOL_2D", most=MAX_PARTS)
def reduced_elements(count: int) -> str | None:
    """The reduced elements take up to {most} jobs, whose sums add up.

    For an average pool this holds if its window is the whole image.
    """
    return exceeded(window_parts(reduction(count, 1)), MAX_PARTS, "jobs that sum its elements")


MEAN_LIMITS: tuple[Limit[int], ...] = (reduced_elements,)
"""What must hold for the number of elements that a MEAN or SUM reduces to one."""


def mean(p: Mean, position: int, source: int, output: int) -> Operation:
    """Return a MEAN or SUM; see `pools.max_pool`.

    Reduced dimensions become the pixels of an image, and those behind them its channels. Where
    they are behind others, or apart, a move brings them together first.
    """
    dimensions = merged_dimensions(p)
    count = math.prod(size for size, is_reduced, _ in dimensions if is_reduced)
    require(MEAN_LIMITS, count)
    # Leading dimensions are images, if there are channels behind the reduced ones.
    has_images = not dimensions[0][1] and not dimensions[-1][1]
    leading, others = dimensions[:has_images], dimensions[has_images:]
    images = math.prod(size for size, _, _ in leading)
    window = reduction(count, math.prod(p.shape) // (count * images))
    window = window.repeated(images)
    ordered = [*leading, *sorted(others, key=lambda item: not item[1])]
    moves = []
    if ordered != dimensions:
        image = Image(window.input_rows, window.input_columns, window.channels)
        moves = [_gathering(p, ordered, position, source, image)]
        source = moves[0].output
    return OperationSequence.of([*moves, summed(_layer(p, position, (source, output), window))])


def rows_of_sums(p: Mean, position: int, source: int, output: int) -> Operation | None:
    """Return a MEAN or SUM of the last dimensions as a convolution, None if it is none of these.

    Its weights are 1, and its only channel takes whole words, which a move brings together again.
    """
    dimensions = merged_dimensions(p)
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


def columns_of_sums(p: Mean, position: int, source: int, output: int) -> Operation | None:
    """Return a MEAN or SUM of the first dimensions by columns, None if it is none of these.

    What is not reduced becomes rows of columns, which can be cut into blocks. Rows of a sum lie as
    far apart as there are such rows.
    """
    dimensions = merged_dimensions(p)
    if [is_reduced for _, is_reduced, _ in dimensions] != [True, False]:
        return None
    (count, _, _), (kept, _, _) = dimensions
    columns = kept // LINE_BYTES
    rows = next((k for k in range(-(-kept // MAX_U16), MAX_STRIDE + 1) if columns % k == 0), 0)
    if kept % LINE_BYTES or count > MAX_KERNEL_ROWS or not rows:
        return None
    window = Window(
        input_rows=count * rows,
        input_columns=columns // rows,
        channels=LINE_BYTES,
        output_rows=rows,
        output_columns=columns // rows,
        kernel_rows=count,
        dilation_rows=rows,
    )
    return summed(_layer(p, position, (source, output), window))


def _layer(p: Mean, position: int, tensors: tuple[int, int], window: Window) -> WeightedLayer:
    return sum_layer(
        position,
        tensors,
        window,
        (p.multiplier, p.shift),
        (-p.input_offset, p.output_offset),
        (-128, 127),
    )


def merged_dimensions(p: Mean) -> list[Dimension]:
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


def reduction(count: int, channels: int) -> Window:
    """Return the window that sums ``count`` pixels to one, in one job if that can be.

    More columns than a chain has taps come in phases, as if each output column were so many
    columns behind the one before it; there is none, so that this stride can be any.
    """
    for phases in range(1, MAX_STRIDE + 1):
        first = (phases - 1) * MAX_DEPTHWISE_COLUMNS + 1
        for columns in range(first, first + MAX_DEPTHWISE_COLUMNS):
            rows = count // columns
            fits = rows <= MAX_KERNEL_ROWS and phases * rows <= GROUP_WORDS
            if count % columns == 0 and fits:
                return _whole(rows, columns, channels, phases)
    columns = max(columns for columns in _FEW_COLUMNS if count % columns == 0)
    return _whole(count // columns, columns, channels, 1)


def _whole(rows: int, columns: int, channels: int, phases: int) -> Window:
    """Return a window that is the whole image."""
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


def sum_layer(
    position: int,
    tensors: tuple[int, int],
    window: Window,
    scale: tuple[int, int],
    zero_points: tuple[int, int],
    clamp: tuple[int, int],
) -> WeightedLayer:
    """Return a layer that sums the pixels of windows and scales the sums.

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
    """
    return WeightedLayer(
        position=position,
        input=tensors[0],
        output=tensors[1],
        window=window,
        parameters=uniform(window.channels, scale),
        input_zero_point=zero_points[0],
        output_zero_point=zero_points[1],
        clamp=clamp,
    )

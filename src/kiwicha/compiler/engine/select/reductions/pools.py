"""Average pools in the engine's terms."""

import dataclasses
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from kiwicha.compiler.engine.ir.limits import Limit, broken_row_limit, exceeded, limit, require
from kiwicha.compiler.engine.ir.operations import (
    DividedOperation,
    JobOperation,
    Operation,
    Piece,
)
from kiwicha.compiler.engine.ir.refusals import BrokenLimitError
from kiwicha.compiler.engine.ir.window import Window
from kiwicha.compiler.engine.select.convolutions.weighted import WeightedLayer
from kiwicha.compiler.engine.select.reductions.means import MEAN_LIMITS, reduction, sum_layer
from kiwicha.compiler.engine.select.reductions.sum_parts import (
    parts_of_window,
    summed,
    window_parts,
)
from kiwicha.compiler.optimize.ranges import exact_division
from kiwicha.contract.engine import GROUP_WORDS, MAX_KERNEL_ROWS
from kiwicha.kernels.pool import Pool

__all__ = [
    "MAX_PIECES",
    "POOL_LIMITS",
    "WEIGHTS",
    "Division",
    "average_pool",
    "divisions_of",
    "is_global",
    "window_of",
]

MAX_PIECES = 4096
"""Jobs of an average pool with borders, at most; each takes some tens of cycles."""
WEIGHTS = (1, 2, 3, 5, 7)
"""By what elements are multiplied before they are summed, so that a scale divides exactly."""
MAX_COUNT = 2**20
"""Elements of a window, at most: seven times their sum is an int32."""


@dataclass(frozen=True)
class Division:
    """Outputs of an average pool whose windows have as many elements inside the image."""

    rows: range
    column: int | None
    count: int


@dataclass(frozen=True)
class _Average:
    """An average pool: its parameters, geometry, and what its borders make of it."""

    params: Pool
    window: Window
    divisions: list[Division]


def average_pool(p: Pool, position: int, source: int, output: int) -> Operation:
    """Return an AVERAGE_POOL_2D.

    Parameters
    ----------
    p : Pool
        Its parameters.
    position : int
        Position of the layer.
    source, output : int
        Tensors that it reads and writes.

    Raises
    ------
    BrokenLimitError
        If the engine cannot do it.
    """
    count = p.kernel_height * p.kernel_width
    if is_global(p):
        require(MEAN_LIMITS, count)
        whole = reduction(count, p.channels).repeated(p.batches)
        return summed(*_divided(p, position, (source, output), whole, count))
    window = window_of(p).repeated(p.batches)
    divisions = divisions_of(p, window)
    require(POOL_LIMITS, _Average(p, window, divisions))
    operations = {
        count: _parts(*_divided(p, position, (source, output), window, count))
        for count in sorted({division.count for division in divisions})
    }
    pieces = [
        Piece(
            rows=item.rows,
            columns=None if item.column is None else range(item.column, item.column + 1),
            operation=part,
        )
        for item in divisions
        for part in operations[item.count]
    ]
    if len(pieces) == 1:
        return pieces[0].operation
    return DividedOperation(
        position=position,
        inputs=(source,),
        output=output,
        window=window,
        output_channels=p.channels,
        clamp=(p.activation_min, p.activation_max),
        pieces=tuple(pieces),
    )


def _parts(layer: WeightedLayer, weight: int) -> list[JobOperation]:
    """Return the jobs of a window, which is done in parts of its rows if they are too long."""
    long = dataclasses.replace(layer, has_long_rows=broken_row_limit(layer) is not None)
    return parts_of_window(long, weight)


def divisions_of(p: Pool, window: Window) -> list[Division]:
    """Return what is divided by what: first whole rows as if all windows were the usual ones.

    Then the columns that are not, which overwrite what was wrong.
    """
    rows = _inside(p.output_height, p.stride_height, p.pad_top, p.kernel_height, p.input_height)
    columns = _inside(p.output_width, p.stride_width, p.pad_left, p.kernel_width, p.input_width)
    if window.images == 1:
        rows *= p.batches  # as if they were one image
    ((usual, _),) = Counter(columns).most_common(1)
    others = [column for column, inside in enumerate(columns) if inside != usual]
    return [
        Division(span, column, inside * (usual if column is None else columns[column]))
        for inside, span in _stretches(rows)
        for column in (None, *others)
    ]


@limit("AVERAGE_POOL_2D", most=MAX_KERNEL_ROWS, words=GROUP_WORDS)
def average_rows(item: _Average) -> str | None:
    """A window has up to {most} rows, and up to {words} rows times columns of stride.

    If no row of any window is outside the image, it can have more.
    """
    window = item.window
    inputs, outputs = window.input_rows // window.images, window.image_rows
    reach = (outputs - 1) * window.stride_rows + window.kernel_rows
    if not window.pad_top and reach <= inputs:
        return None
    most = min(MAX_KERNEL_ROWS, GROUP_WORDS // window.stride_columns)
    return exceeded(window.kernel_rows, most, "window rows")


@limit("AVERAGE_POOL_2D", most=MAX_PIECES)
def average_pieces(item: _Average) -> str | None:
    """Borders of a padded pool, and parts of its window, need up to {most} jobs."""
    count = len(item.divisions) * window_parts(item.window)
    return exceeded(count, MAX_PIECES, "jobs for what its borders and its window make of it")


@limit("AVERAGE_POOL_2D", most=MAX_COUNT)
def average_counts(item: _Average) -> str | None:
    """A window covers 1 to {most} elements of the image, and dividing by that number is exact."""
    for division in item.divisions:
        if _scale(division.count, item.params.offset) is None:
            return _no_scale(division.count)
    return None


POOL_LIMITS: tuple[Limit[_Average], ...] = (
    average_rows,
    average_pieces,
    average_counts,
)
"""Limits of average pools whose window is not the whole image."""


def is_global(p: Pool) -> bool:
    """Whether the only window of an image is all of it."""
    return (
        (p.kernel_height, p.kernel_width) == (p.input_height, p.input_width)
        and p.output_height == p.output_width == 1
        and p.pad_top == p.pad_left == 0
    )


def window_of(p: Pool) -> Window:
    """Return the geometry of an image of a pool."""
    return Window(
        input_rows=p.input_height,
        input_columns=p.input_width,
        channels=p.channels,
        output_rows=p.output_height,
        output_columns=p.output_width,
        kernel_rows=p.kernel_height,
        kernel_columns=p.kernel_width,
        stride_rows=p.stride_height,
        stride_columns=p.stride_width if p.output_width > 1 else 1,
        pad_top=p.pad_top,
        pad_left=p.pad_left,
    )


def _inside(outputs: int, stride: int, pad: int, kernel: int, size: int) -> list[int]:
    """Return, for each output row or column, how many of its window's lie inside the image."""
    starts = [number * stride - pad for number in range(outputs)]
    return [max(min(start + kernel, size) - max(start, 0), 0) for start in starts]


def _stretches(values: list[int]) -> Iterator[tuple[int, range]]:
    """Yield each value with the positions at which it stands in a row."""
    first = 0
    for value, same in groupby(values):
        count = len(list(same))
        yield value, range(first, first + count)
        first += count


def _divided(
    p: Pool, position: int, tensors: tuple[int, int], window: Window, count: int
) -> tuple[WeightedLayer, int]:
    """Return the layer that divides the sums of its windows by a number, and its weights."""
    found = _scale(count, p.offset)
    if found is None:
        raise BrokenLimitError(_no_scale(count))
    scale, weight = found
    clamp = (p.activation_min, p.activation_max)
    layer = sum_layer(position, tensors, window, scale, (-p.offset, -p.offset), clamp)
    return layer, weight


def _scale(count: int, offset: int) -> tuple[tuple[int, int], int] | None:
    """Return a multiplier and a shift that divide by a number of elements exactly, and a weight."""
    if not 0 < count <= MAX_COUNT:
        return None
    for weight in WEIGHTS:
        scale = exact_division(count, offset, weight)
        if scale is not None:
            return scale, weight
    return None


def _no_scale(count: int) -> str:
    return f"has a window of {count:,} elements, by which no scale divides exactly"

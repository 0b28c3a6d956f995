"""Which elements along each dimension slicing, resizing and batching operators take."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kiwicha.compiler.tflite.graph import Graph, Operator

__all__ = [
    "Range",
    "from_end",
    "index_runs",
    "nearest",
    "pieces",
    "slice_ranges",
    "strided_ranges",
]


@dataclass(frozen=True)
class Range:
    """Positions along one dimension of a tensor: ``first + k * step`` for k = 0 .. count - 1.

    Parameters
    ----------
    first, count, step : int
        The positions.
    repeat : int
        How often each position is taken, one after the other.
    is_dropped : bool
        The dimension is not one of the output's.
    """

    first: int
    count: int
    step: int = 1
    repeat: int = 1
    is_dropped: bool = False


def from_end(axis: int, rank: int) -> int:
    """Return a dimension that may count from the last one as one that counts from the first."""
    return axis + rank if axis < 0 else axis


def slice_ranges(graph: Graph, operator: Operator) -> list[Range]:
    """Return what SLICE takes of each dimension; a size of -1 means the rest."""
    shape = graph.input(operator).shape
    begins, sizes = (graph.input(operator, position).integers() for position in (1, 2))
    return [
        Range(begin, extent - begin if size == -1 else size)
        for begin, size, extent in zip(begins, sizes, shape, strict=True)
    ]


def strided_ranges(graph: Graph, operator: Operator) -> list[Range | None] | None:
    """Return what STRIDED_SLICE takes of each dimension, None where it adds a new one.

    None instead of a list if it names more dimensions than its input has. Counts may be 0 or less
    and positions out of range.

    Notes
    -----
    Ref: tensorflow/lite/kernels/strided_slice.cc; strided_slice_logic.h of tflite-micro, which
    knows neither an ellipsis nor new dimensions.
    """
    shape, options = graph.input(operator).shape, operator.options
    begins, ends, steps = (graph.input(operator, position).integers() for position in (1, 2, 3))
    ellipsis = options.ellipsis_mask & -options.ellipsis_mask
    named = [
        bit
        for bit in (1 << k for k in range(len(begins)))
        if bit != ellipsis and not options.new_axis_mask & bit
    ]
    rest = len(shape) - len(named)
    if rest < 0:
        return None
    ranges: list[Range | None] = []
    axis = 0
    for number, (begin, end, step) in enumerate(zip(begins, ends, steps, strict=True)):
        bit = 1 << number
        if bit == ellipsis:
            ranges += [Range(0, size) for size in shape[axis : axis + rest]]
            axis += rest
        elif options.new_axis_mask & bit:
            ranges.append(None)
        else:
            ranges.append(_strided_range(operator, bit, shape[axis], begin, end, step))
            axis += 1
    return ranges + [Range(0, size) for size in shape[axis:]]


def _strided_range(
    operator: Operator, bit: int, size: int, begin: int, end: int, step: int
) -> Range:
    options = operator.options
    lowest, highest = (0, size) if step > 0 else (-1, size - 1)
    first = from_end(begin, size)
    first = min(max(first, lowest), highest)
    if options.begin_mask & bit:
        first = 0 if step > 0 else size - 1
    if options.shrink_axis_mask & bit:
        return Range(first, 1, step, is_dropped=True)
    stop = min(max(from_end(end, size), lowest), highest)
    if options.end_mask & bit:
        stop = size if step > 0 else -1
    distance = stop - first if step > 0 else first - stop
    return Range(first, -(-distance // abs(step)) if step else 0, step)


def nearest(operator: Operator, inputs: int, outputs: int) -> list[int]:
    """Return the input position that each output position of RESIZE_NEAREST_NEIGHBOR repeats.

    Notes
    -----
    Ref: tensorflow/lite/kernels/internal/reference/resize_nearest_neighbor.h in tflite-micro, in
    single precision.
    """
    options = operator.options
    is_aligned = bool(options.align_corners)
    if is_aligned and outputs > 1:
        scale = np.float32(inputs - 1) / np.float32(outputs - 1)
    else:
        scale = np.float32(inputs) / np.float32(outputs)
    offset = np.float32(0.5 if options.half_pixel_centers else 0)
    exact = ((np.arange(outputs, dtype=np.float32) + offset) * scale).astype(np.float64)
    rounded = np.floor(exact + 0.5 if is_aligned else exact).astype(np.int64)
    return [int(position) for position in rounded.clip(0, inputs - 1)]


def pieces(positions: Sequence[int]) -> list[Range]:
    """Return positions as ranges, one after the other."""
    lengths: list[list[int]] = []
    for position in positions:
        if lengths and lengths[-1][0] == position:
            lengths[-1][1] += 1
        else:
            lengths.append([position, 1])
    found: list[Range] = []
    for position, repeat in lengths:
        last = found[-1] if found else None
        step = 0 if last is None else position - last.first - (last.count - 1) * last.step
        if last is not None and last.repeat == repeat and (last.count == 1 or step == last.step):
            found[-1] = Range(last.first, last.count + 1, step, repeat)
        else:
            found.append(Range(position, 1, 1, repeat))
    return found


def index_runs(indices: Sequence[int]) -> list[Range]:
    """Return positions as few ranges, in their order, each of one step."""
    runs: list[Range] = []
    for index in indices:
        last = runs[-1] if runs else None
        if last is None:
            runs.append(Range(index, 1))
        elif last.count == 1:
            runs[-1] = Range(last.first, 2, index - last.first)
        elif index == last.first + last.count * last.step:
            runs[-1] = Range(last.first, last.count + 1, last.step)
        else:
            runs.append(Range(index, 1))
    return runs

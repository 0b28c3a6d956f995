"""Largest and smallest bytes along dimensions in the engine's terms, and their positions."""

import dataclasses
import math
from dataclasses import dataclass

import numpy as np

from kiwicha.compiler.engine.ir.limits import Limit, exceeded, limit, require, verify
from kiwicha.compiler.engine.ir.move_operations import MoveOperation, closing_gaps, moved
from kiwicha.compiler.engine.ir.operations import Operation, OperationSequence
from kiwicha.compiler.engine.ir.selection import Candidate, Decision
from kiwicha.compiler.engine.ir.strided_copies import Loop, StridedCopy, in_order
from kiwicha.compiler.engine.ir.window import Image, Window
from kiwicha.compiler.engine.ir.window_operations import MaxPooling
from kiwicha.compiler.engine.select.reductions.max_passes import (
    LARGEST_GROUP,
    add_passes,
    planes,
)
from kiwicha.compiler.engine.select.reductions.step_sequence import StepSequence
from kiwicha.compiler.engine.select.reductions.sum_parts import uniform
from kiwicha.compiler.lower.network import Layer, Network
from kiwicha.compiler.lower.tables import ALL_BYTES
from kiwicha.compiler.optimize.ranges import UNIT_SCALE
from kiwicha.contract.engine import (
    MAX_INPUT_ZERO_POINT,
    MAX_KERNEL_ROWS,
    MAX_POSITIONS,
    OUTPUT_BYTES,
)
from kiwicha.contract.program import Kernel
from kiwicha.kernels.arg_max import ArgMax
from kiwicha.kernels.mean import Mean
from kiwicha.program.weight_streams import Parameters

__all__ = ["EXTREME_KERNELS", "EXTREME_LIMITS", "EXTREME_OPERATORS", "extreme_forms"]

EXTREME_OPERATORS = ("REDUCE_ALL", "REDUCE_ANY", "REDUCE_MAX", "REDUCE_MIN")
"""Reductions that choose one of the bytes that they reduce."""
EXTREME_KERNELS = frozenset({Kernel.ARG_MAX, Kernel.REDUCE_MAX, Kernel.REDUCE_MIN})
"""Kernels of such layers."""
INT8_POSITIONS = 128
"""Positions that are int8 of 0 or more; with more of them a table adds what is missing."""
LEAST_BYTES = 256
"""Bytes that are worth the jobs and the moves."""
ROW_BYTES = 12288
"""Of pixels that are transposed at a time, if they have no rows of their own: twice as many fit the
smallest scratchpad."""
_ANY_BYTE = (-128, 127)
Group = tuple[int, bool]
"""Size of neighbouring dimensions, and whether they are reduced."""
POSITION_SCALE = (2**31 - 1, -8)
"""Multiplier and shift that leave the position: with a bias of -128 the lowest byte, the largest
one, rounds to 0. The multiplier leaves sums as they are, so that there is one rounding only."""


@dataclass(frozen=True)
class Extreme:
    """What is wanted of an int8 [outer, depth, inner]: for each of ``depth`` bytes, one.

    Parameters
    ----------
    outer, depth, inner : int
        Shape.
    is_smallest : bool
        The smallest byte counts, not the largest.
    position_bytes : int
        Size of its position; 0 if the byte itself is wanted.
    """

    outer: int
    depth: int
    inner: int
    is_smallest: bool
    position_bytes: int = 0

    @property
    def kernel(self) -> tuple[int, int] | None:
        """Rows and columns of a window with these bytes; None if there is none."""
        most = MAX_KERNEL_ROWS if self.inner > 1 else 1
        for columns in range(1, most + 1):
            if self.depth % columns == 0 and self.depth // columns <= MAX_KERNEL_ROWS:
                return self.depth // columns, columns
        return None


@limit("ARG_MAX", "ARG_MIN", *EXTREME_OPERATORS, least=LEAST_BYTES)
def many_bytes(item: Extreme) -> str | None:
    """The input has at least {least} bytes; with fewer the CPU is as fast."""
    count = item.outer * item.depth * item.inner
    return f"has {count:,} bytes, with which the CPU is as fast" if count < LEAST_BYTES else None


@limit("ARG_MAX", "ARG_MIN", most=MAX_POSITIONS)
def positions(item: Extreme) -> str | None:
    """There are up to {most} positions in a part.

    A dimension of more is searched in equal parts of 16 or more, which the CPU compares.
    """
    return exceeded(item.depth, MAX_POSITIONS, "positions") if item.position_bytes else None


@limit("ARG_MAX", "ARG_MIN", most=MAX_KERNEL_ROWS)
def window_elements(item: Extreme) -> str | None:
    """The number of positions is r * c, both up to {most}.

    Where the last dimension is one of them, c is 1.
    """
    if item.kernel is not None or not item.position_bytes:
        return None
    return f"reduces {item.depth:,} elements, which are no r * c that fits a job"


EXTREME_LIMITS: tuple[Limit[Extreme], ...] = (many_bytes, positions, window_elements)
"""What must hold for such layers."""


def extreme_forms(network: Network, position: int) -> Decision:
    """Return the forms of an ARG_MAX, ARG_MIN, REDUCE_MAX or REDUCE_MIN.

    Parameters
    ----------
    network : Network
        The model.
    position : int
        Position of a layer with one of `EXTREME_KERNELS`.

    Raises
    ------
    BrokenLimitError
        If the engine cannot do it.
    """
    layer = network.layers[position]
    groups = _groups(layer)
    count = math.prod(size for size, _ in groups)
    item = _extreme_of(layer, groups)
    require(EXTREME_LIMITS, item or Extreme(1, count, 1, is_smallest=False))
    candidates = []
    if item is not None and item.kernel is not None:
        candidates.append(Candidate("", _in_one_window(network, position, item)))
    if layer.kernel is not Kernel.ARG_MAX:
        candidates.append(Candidate("in passes", _in_passes(network, position, groups)))
    return Decision(tuple(candidates))


def _in_passes(network: Network, position: int, groups: list[Group]) -> Operation:
    """Return the largest or smallest bytes, found dimension by dimension and part by part."""
    layer = network.layers[position]
    is_smallest = layer.kernel is Kernel.REDUCE_MIN
    steps = StepSequence(position, layer.tensors["input"])
    # The first dimensions first: they leave the least for what has to be transposed.
    while any(is_reduced for _, is_reduced in groups):
        number = next(k for k, (_, is_reduced) in enumerate(groups) if is_reduced)
        outer, inner = (
            math.prod(size for size, _ in part) for part in (groups[:number], groups[number + 1 :])
        )
        add_passes(steps, outer, groups.pop(number)[0], inner)
        if any(is_reduced for _, is_reduced in groups) and inner % OUTPUT_BYTES:
            steps.append(closing_gaps(steps.steps[-1], steps.tensor, steps.new))
    if is_smallest:
        # In the rows of what reads it, so that both work in stripes together.
        steps.invert_before(MaxPooling)
        steps.invert(steps.steps[-1].output_image)
    last = dataclasses.replace(steps.steps[-1], output=layer.tensors["output"])
    return OperationSequence.of([*steps.steps[:-1], last])


def _in_one_window(network: Network, position: int, item: Extreme) -> Operation:
    """Return what finds them in one window for each.

    The bytes of a window are rows below each other. Where the last dimension is reduced, the pixels
    of a row are transposed to planes before: a row for each channel.
    """
    layer = network.layers[position]
    source, output = layer.tensors["input"], layer.tensors["output"]
    steps = StepSequence(position, source)
    image = _image(network, source, item)
    if item.is_smallest:
        steps.invert(image)
    if item.inner == 1:
        used = image.columns
        steps.append(planes(position, steps.tensor, steps.new, image))
        image = steps.steps[-1].output_image
    else:
        used = item.inner
    pool = _pool(position, (steps.tensor, steps.new), image, item)
    verify(pool)
    steps.append(pool)
    if item.position_bytes and item.depth > INT8_POSITIONS:
        steps.look_up(pool.output_image, ALL_BYTES ^ MAX_INPUT_ZERO_POINT)
    if item.position_bytes or used != pool.output_image.row_bytes:
        steps.append(_outputs(steps.steps[-1], steps.new, used, item.position_bytes))
    if item.is_smallest and not item.position_bytes:
        steps.invert(steps.steps[-1].output_image)
    last = dataclasses.replace(steps.steps[-1], output=output)
    return OperationSequence.of([*steps.steps[:-1], last])


def _groups(layer: Layer) -> list[Group]:
    """Return the dimensions of more than 1, neighbours of a kind as one."""
    if layer.kernel is Kernel.ARG_MAX:
        p: ArgMax = layer.params
        return [(p.outer, False), (p.depth, True), (p.inner, False)]
    q: Mean = layer.params
    found: list[Group] = []
    for size, flag in zip(q.shape, q.is_reduced, strict=False):
        if size == 1:
            continue
        is_same = bool(found) and found[-1][1] == bool(flag)
        found.append(((found.pop()[0] if is_same else 1) * size, bool(flag)))
    return found


def _extreme_of(layer: Layer, groups: list[Group]) -> Extreme | None:
    """Return what a layer wants; None if it reduces dimensions that are apart."""
    if layer.kernel is Kernel.ARG_MAX:
        p: ArgMax = layer.params
        return Extreme(p.outer, p.depth, p.inner, bool(p.flip), 4 * p.words)
    reduced = [number for number, (_, is_reduced) in enumerate(groups) if is_reduced]
    if len(reduced) > 1:
        return None
    (number,) = reduced
    sizes = [size for size, _ in groups]
    return Extreme(
        math.prod(sizes[:number]),
        sizes[number],
        math.prod(sizes[number + 1 :]),
        layer.kernel is Kernel.REDUCE_MIN,
    )


def _image(network: Network, source: int, item: Extreme) -> Image:
    """Return the input as the rows, columns and channels that are read."""
    if item.inner == 1:
        image = Image.of_shape(network.tensors[source].shape)
        if image.channels == item.depth and image.columns >= OUTPUT_BYTES:
            return image
        most = max(ROW_BYTES // item.depth, OUTPUT_BYTES)
        sizes = range(min(item.outer, most, LARGEST_GROUP), 0, -1)
        columns = next(size for size in sizes if item.outer % size == 0)
        return Image(item.outer // columns, columns, item.depth)
    assert item.kernel is not None
    rows, columns = item.kernel
    if columns == 1 and item.inner % OUTPUT_BYTES == 0:
        # One group of channels serves all of them.
        return Image(item.outer * rows, item.inner // OUTPUT_BYTES, OUTPUT_BYTES)
    return Image(item.outer * rows, columns, item.inner)


def _pool(position: int, tensors: tuple[int, int], image: Image, item: Extreme) -> MaxPooling:
    """Return what finds the largest bytes of an image, or their positions."""
    assert item.kernel is not None
    rows, columns = item.kernel
    window = Window(
        input_rows=image.rows,
        input_columns=image.columns,
        channels=image.channels,
        output_rows=image.rows // rows,
        output_columns=image.columns // columns,
        kernel_rows=rows,
        kernel_columns=columns,
        stride_rows=rows,
    )
    parameters = uniform(image.channels, UNIT_SCALE)
    is_int8 = 0 < item.position_bytes and item.depth <= INT8_POSITIONS
    if item.position_bytes:
        scale = uniform(image.channels, POSITION_SCALE)
        bias = np.full(image.channels, MAX_INPUT_ZERO_POINT, np.int32)
        parameters = Parameters(bias, scale.multiplier, scale.shift)
    return MaxPooling(
        position=position,
        inputs=tensors[:1],
        output=tensors[1],
        window=window,
        output_channels=image.channels,
        parameters=parameters,
        output_zero_point=0 if is_int8 else MAX_INPUT_ZERO_POINT,
        clamp=(0, INT8_POSITIONS - 1) if is_int8 else _ANY_BYTE,
        gives_positions=bool(item.position_bytes),
    )


def _outputs(pool: Operation, output: int, used: int, size: int) -> MoveOperation:
    """Return the move of the used bytes of each row, each to the lowest of its ``size`` bytes."""
    image = pool.output_image
    there = Image(image.rows, 1, used * max(size, 1))
    loops = (Loop(image.rows, image.row_bytes, there.row_bytes), Loop(used, 1, max(size, 1)))
    ordered, piece = in_order(loops, 1)
    copies = [StridedCopy(pool.output, 0, 0, ordered, piece)]
    if size:
        copies.insert(0, StridedCopy(None, 0, 0, (), there.bytes))
    return moved(pool.position, copies, {pool.output: image}, output, there)

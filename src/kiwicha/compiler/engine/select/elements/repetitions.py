"""Operands that are repeated along dimensions, as operations before a sum or product.

A move repeats runs of bytes. It writes up to 16 bytes a cycle, but short runs take as long as such
of 16. So runs can become longer in a tensor of their own first; those of constants do when the
model is compiled.
"""

import dataclasses
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from kiwicha.compiler.engine.ir.move_operations import moved
from kiwicha.compiler.engine.ir.operations import Operation, internal_tensor
from kiwicha.compiler.engine.ir.strided_copies import Loop, StridedCopy, in_order
from kiwicha.compiler.engine.ir.window import Image, Window
from kiwicha.compiler.engine.schedule.estimates.operation_costs import move_cycles
from kiwicha.compiler.engine.select.convolutions.weighted import WeightedLayer, convolution
from kiwicha.compiler.engine.select.elements.element_parts import one_scale
from kiwicha.compiler.engine.select.elements.operands import Operands, Relation
from kiwicha.compiler.optimize.ranges import UNIT_SCALE
from kiwicha.compiler.tflite.shapes import row_major_strides
from kiwicha.contract.engine import LINE_BYTES, OUTPUT_BYTES
from kiwicha.kernels.elementwise import Elementwise

__all__ = [
    "Repetition",
    "has_long_constant",
    "is_of_one_channel",
    "repeated",
    "repeated_by_convolution",
    "stored_repeated",
]

LONG_RUN_BYTES = 16 * LINE_BYTES
"""Runs of which longer ones are not much faster."""
LONG_CONSTANT = 1024
"""Elements of a constant from which on one in all pixels can be better than a table for each."""
MOST_STORED_BYTES = 2**18
"""Of a constant that is stored repeated, at most: it makes the Program so much longer."""


@dataclass(frozen=True)
class Repetition:
    """A tensor of the output's shape, and what makes it.

    Parameters
    ----------
    tensor : int
        The tensor.
    steps : tuple of Operation
        What writes it; nothing if it is there.
    constants : mapping of int to bytes
        Its contents, if it is a constant.
    """

    tensor: int
    steps: tuple[Operation, ...] = ()
    constants: Mapping[int, bytes] = field(default_factory=dict)


@dataclass(frozen=True)
class _Runs:
    """How an operand is read: runs of bytes that lie together.

    Parameters
    ----------
    loops : tuple of Loop
        As in `StridedCopy`; steps of 0 of the source repeat runs.
    bytes : int
        Of a run.
    """

    loops: tuple[Loop, ...]
    bytes: int

    @property
    def repeats(self) -> int:
        """How often each run is repeated right behind itself."""
        if not self.loops or self.loops[-1].source or self.loops[-1].target != self.bytes:
            return 1
        return self.loops[-1].count

    def copies(self, source: int, count: int) -> list[StridedCopy]:
        """Return copies from a tensor in which each run is there ``count`` times."""
        loops = self.loops[:-1] if self.repeats > 1 else self.loops
        outer = [dataclasses.replace(loop, source=loop.source * count) for loop in loops]
        times, left = divmod(self.repeats, count)
        size = self.bytes * count
        ordered, piece = in_order([*outer, Loop(times, 0, size)], size)
        found = [StridedCopy(source, 0, 0, ordered, piece)]
        if left:
            ordered, piece = in_order(outer, self.bytes * left)
            found.append(StridedCopy(source, 0, times * size, ordered, piece))
        return found


def repeated(position: int, operands: Operands, number: int) -> Repetition:
    """Return an operand repeated by moves.

    Parameters
    ----------
    position : int
        Position of the layer.
    operands : Operands
        Its operands.
    number : int
        Which of them: 0 or 1.
    """
    runs, tensor = _runs(operands, number), operands.tensors[number]
    constants = {} if tensor.data is None else {tensor.index: tensor.data.tobytes()}
    if not runs.loops:
        return Repetition(tensor.index, (), constants)
    found = [
        _in_runs(position, operands, number, runs, count)
        for count in _counts(runs, tensor.is_constant)
    ]
    return min(found, key=lambda item: sum(map(move_cycles, item.steps)))


def has_long_constant(operands: Operands) -> bool:
    """Whether a constant operand has many elements, and not too many where it is repeated."""
    p: Elementwise = operands.layer.params
    size = operands.other.elements
    is_constant = operands.other.is_constant and not operands.full.is_constant
    is_repeated = size < math.prod(p.shape) or operands.relation is Relation.CHANNELS
    is_long = size >= LONG_CONSTANT and math.prod(p.shape) <= MOST_STORED_BYTES
    return is_constant and is_repeated and is_long


def stored_repeated(position: int, operands: Operands, number: int) -> Repetition:
    """Return a constant operand that is stored as often as it is read.

    Parameters are those of `repeated`.
    """
    p: Elementwise = operands.layer.params
    strides = (p.strides_1, p.strides_2)[number]
    places = np.zeros(p.shape, np.int64)
    for axis, (count, stride) in enumerate(zip(p.shape, strides, strict=True)):
        shape = [1] * len(p.shape)
        shape[axis] = count
        places += (np.arange(count) * stride).reshape(shape)
    tensor = internal_tensor(position, 2 * number)
    values = operands.tensors[number].int8s().reshape(-1)[places]
    return Repetition(tensor, (), {tensor: values.tobytes()})


def is_of_one_channel(operands: Operands, number: int) -> bool:
    """Whether an operand is computed, and repeated for a number of channels, and nothing else."""
    p: Elementwise = operands.layer.params
    runs, tensor = _runs(operands, number), operands.tensors[number]
    channels = p.shape[-1]
    is_one_channel = (runs.bytes, runs.repeats) == (1, channels)
    is_all = tensor.elements * channels == math.prod(p.shape)
    return is_one_channel and is_all and not tensor.is_constant and channels % OUTPUT_BYTES == 0


def repeated_by_convolution(position: int, operands: Operands, number: int) -> Repetition:
    """Return an operand of one channel, repeated for all channels by a convolution.

    It writes eight bytes a cycle. Parameters are those of `repeated`.
    """
    tensor, channels = operands.tensors[number], operands.window.channels
    window = operands.window
    layer = WeightedLayer(
        position=position,
        input=tensor.index,
        output=internal_tensor(position, 2 * number),
        window=Window.of_pixels(window.output_rows, window.output_columns, 1),
        parameters=one_scale(channels, *UNIT_SCALE),
        input_zero_point=0,
        output_zero_point=0,
        clamp=(-128, 127),
    )
    step = convolution(layer, np.ones((channels, 1, 1, 1), np.int16))
    return Repetition(step.output, (step,))


def _runs(operands: Operands, number: int) -> _Runs:
    p: Elementwise = operands.layer.params
    strides = (p.strides_1, p.strides_2)[number]
    loops = map(Loop, p.shape, strides, row_major_strides(p.shape))
    return _Runs(*in_order(loops, 1))


def _counts(runs: _Runs, is_constant: bool) -> Iterator[int]:
    """Yield how often runs can be there in a tensor in between; 1 if there is none."""
    count = 1
    while count == 1 or (count < runs.repeats and count * runs.bytes <= LONG_RUN_BYTES):
        yield count
        count *= 2
    if runs.repeats * runs.bytes <= LONG_RUN_BYTES or not is_constant:
        yield runs.repeats


def _in_runs(position: int, operands: Operands, number: int, runs: _Runs, count: int) -> Repetition:
    """Return an operand repeated, with each run ``count`` times in a tensor in between."""
    window, tensor = operands.window, operands.tensors[number]
    whole = Image(window.output_rows, window.output_columns, window.channels)
    source, image = tensor.index, Image.of_shape(tensor.shape)
    constants = {} if tensor.data is None else {source: tensor.data.tobytes()}
    steps: list[Operation] = []
    if count > 1:
        is_all = tensor.elements * count == whole.bytes
        source = internal_tensor(position, 2 * number)
        wider = whole if is_all else _wider(image, runs.bytes, count)
        if tensor.data is not None:
            run = tensor.int8s().reshape(-1, 1, runs.bytes)
            constants = {source: run.repeat(count, axis=1).tobytes()}
        else:
            loops = (
                Loop(tensor.elements // runs.bytes, runs.bytes, count * runs.bytes),
                Loop(count, 0, runs.bytes),
            )
            copy = StridedCopy(tensor.index, 0, 0, *in_order(loops, runs.bytes))
            steps.append(moved(position, [copy], {tensor.index: image}, source, wider))
        if is_all:
            return Repetition(source, tuple(steps), constants)
        image = wider
    output = internal_tensor(position, 2 * number + 1)
    copies = runs.copies(source, count)
    steps.append(moved(position, copies, {source: image}, output, whole, constants))
    return Repetition(output, tuple(steps))


def _wider(image: Image, run: int, count: int) -> Image:
    """Return the shape of an image in which each run is there ``count`` times."""
    if image.row_bytes % run == 0:
        return Image(image.rows, image.columns, image.channels * count)
    return Image(1, 1, image.bytes * count)

"""Layers of int16 number by number, and largest numbers: operations on planes or on whole numbers.

Beside convolutions of int16 tensors are planes, and such layers leave them so. Where there is none,
they read and write numbers as they lie in the arena.
"""

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.engine.ir.limits import limit, require
from kiwicha.compiler.engine.ir.operations import (
    ComputeOperation,
    DividedOperation,
    Operation,
    OperationSequence,
    Piece,
    internal_tensor,
)
from kiwicha.compiler.engine.ir.refusals import BrokenLimitError
from kiwicha.compiler.engine.ir.selection import Candidate, Decision, Refusal
from kiwicha.compiler.engine.ir.short_elements import ShortElementOperation, ShortMaxPooling
from kiwicha.compiler.engine.ir.window import Image, Window, padded
from kiwicha.compiler.engine.select.elements.element_parts import LARGEST_ROW, one_scale
from kiwicha.compiler.engine.select.legalize import require_common_limits
from kiwicha.compiler.engine.select.reductions.pools import window_of
from kiwicha.compiler.engine.select.shorts.layers import (
    SHORT_KERNELS,
    upper_clamp,
    without_jobs_of_int16,
)
from kiwicha.compiler.engine.select.shorts.planes import SHORT_BYTES, joining, splitting
from kiwicha.compiler.lower.network import Layer, Network
from kiwicha.compiler.tflite.shapes import row_major_strides
from kiwicha.compiler.tflite.tensor import Tensor
from kiwicha.contract.configs import Config
from kiwicha.contract.engine import MAX_U8, MAX_U16
from kiwicha.contract.program import Kernel
from kiwicha.contract.short_elements import (
    ELEMENT_LANES,
    FUNCTION_BITS,
    OPERAND_SHIFT,
    ShortForm,
    ShortOperator,
)
from kiwicha.kernels.elementwise import Elementwise
from kiwicha.kernels.pool import Pool
from kiwicha.kernels.short_functions import ShortFunction, ShortLeakyRelu
from kiwicha.numerics.short_elements import IDENTITY, ElementScales

__all__ = [
    "SHORT_ELEMENT_KERNELS",
    "SHORT_ELEMENT_LIMITS",
    "SHORT_ELEMENT_OPERATORS",
    "short_element_decision",
]

_OPERATORS = {
    Kernel.SHORT_ADD: ShortOperator.ADD,
    Kernel.SHORT_SUB: ShortOperator.SUB,
    Kernel.SHORT_MUL: ShortOperator.MUL,
    Kernel.SHORT_LEAKY_RELU: ShortOperator.LEAKY_RELU,
    Kernel.SHORT_LOGISTIC: ShortOperator.LOGISTIC,
    Kernel.SHORT_TANH: ShortOperator.TANH,
    Kernel.SHORT_MAX_POOL: ShortOperator.MAX,
}
SHORT_ELEMENT_KERNELS = frozenset(_OPERATORS)
"""Kernels that an engine computes with jobs of int16 number by number."""
_PAIRS = ("ADD", "SUB", "MUL")
_FUNCTIONS = ("LOGISTIC", "TANH")
_LEAKS = ("LEAKY_RELU", "RELU", "RELU6")
SHORT_ELEMENT_OPERATORS = (*_PAIRS, *_FUNCTIONS, *_LEAKS, "MAX_POOL_2D")
"""What these are in models."""
_NAMES = ("input_1", "input_2")


@dataclass(frozen=True, eq=False)
class _Operand:
    """A second operand, or the only one.

    Parameters
    ----------
    tensor : Tensor
        What it is.
    has_one_pixel : bool
        It is the same for all pixels: a number for each channel, or one for all.
    """

    tensor: Tensor
    has_one_pixel: bool = False


@dataclass(frozen=True, eq=False)
class _Item:
    """A layer in the engine's terms.

    Parameters
    ----------
    position : int
        Of the layer.
    operator : ShortOperator
        What is computed.
    operands : tuple of _Operand
        Its inputs; the first one has all pixels.
    output : int
        The tensor that it writes.
    window : Window
        Of channels, not of bytes.
    scales : ElementScales
        Of its numbers.
    parts : tuple of (range, range or None, Window)
        MAX: rows and columns whose windows reach as far into the image, and these windows.
    """

    position: int
    operator: ShortOperator
    operands: tuple[_Operand, ...]
    output: int
    window: Window
    scales: ElementScales
    parts: tuple[tuple[range, range | None, Window], ...] = ()

    @property
    def channels(self) -> int:
        """Of each pixel."""
        return self.window.channels


@dataclass(frozen=True, eq=False)
class _Pair:
    """A layer of two tensors."""

    params: Elementwise
    tensors: tuple[Tensor, Tensor]
    operator: ShortOperator

    @property
    def order(self) -> tuple[int, int] | None:
        """The operand with the output's shape, and the other one; None if there is none."""
        orders = ((0, 1), (1, 0))
        for first, second in orders[:1] if self.operator is ShortOperator.SUB else orders:
            if not self.tensors[first].is_constant and self.is_full(first):
                if self.is_full(second) or self._is_pixel(second):
                    return first, second
        return None

    def is_full(self, number: int) -> bool:
        """Whether an operand has the output's shape."""
        sides = zip(self.params.shape, self._strides(number), self._whole, strict=True)
        return all(n == 1 or a == b for n, a, b in sides)

    def _is_pixel(self, number: int) -> bool:
        """Whether an operand has a number for each channel; a constant may have one for all."""
        *rest, channels = zip(self.params.shape, self._strides(number), strict=True)
        is_apart = channels[0] == 1 or channels[1] == 1
        has_one = channels[1] == 0 and self.tensors[number].is_constant
        return all(n == 1 or stride == 0 for n, stride in rest) and (is_apart or has_one)

    def _strides(self, number: int) -> tuple[int, ...]:
        return (self.params.strides_1, self.params.strides_2)[number]

    @property
    def _whole(self) -> tuple[int, ...]:
        return row_major_strides(self.params.shape)


@limit(*_PAIRS)
def operands_of_shorts(item: _Pair) -> str | None:
    """One of two tensors of int16 is computed and has the output's shape; of SUB the first.

    The other one has it, too, or is one pixel, or a constant of one number.
    """
    return None if item.order is not None else "has operands of int16 that are repeated otherwise"


@limit("ADD", "SUB")
def scales_of_operands(p: Elementwise) -> str | None:
    """Operands of int16 have scales of up to 1."""
    is_known = p.left_shift == OPERAND_SHIFT and max(p.shift_1, p.shift_2) <= 0
    return None if is_known else "has operands of int16 with scales of more than 1"


@limit(*_FUNCTIONS)
def arguments_of_shorts(p: ShortFunction) -> str | None:
    """Arguments of int16 are not scaled by less than 2**-17."""
    return None if p.shift <= FUNCTION_BITS else "has arguments of int16 with a very small scale"


@limit("LEAKY_RELU")
def leaks_of_shorts(p: ShortLeakyRelu) -> str | None:
    """The factor of negative numbers of int16 is 0 or more."""
    return None if p.leak_sign == 1 else "has a negative factor for numbers of int16"


@limit("MAX_POOL_2D", most=MAX_U8)
def window_of_shorts(p: Pool) -> str | None:
    """Sides of windows of int16 have up to {most} rows or columns, and some are in the image."""
    size = max(p.kernel_height, p.kernel_width)
    if size > MAX_U8:
        return f"has a window of {size:,} rows or columns of int16"
    sides = _sides(window_of(p).repeated(p.batches))
    is_inside = all(count > 0 for side in sides for _, _, count in side)
    return None if is_inside else "has a window of int16 that is outside the image"


@limit(*SHORT_ELEMENT_OPERATORS, most=MAX_U16)
def steps_of_shorts(item: _Item) -> str | None:
    """From a pixel of int16 to the next that a job reads there are up to {most} bytes."""
    size = SHORT_BYTES * padded(item.channels) * item.window.stride_columns
    return None if size <= MAX_U16 else f"has pixels of int16 that are {size:,} bytes apart"


SHORT_ELEMENT_LIMITS = (
    operands_of_shorts,
    scales_of_operands,
    arguments_of_shorts,
    leaks_of_shorts,
    window_of_shorts,
    steps_of_shorts,
)
"""What must hold for such layers, besides a clamp of whole upper bytes."""


def short_element_decision(network: Network, position: int, config: Config) -> Decision:
    """Return how an engine computes a layer of int16 number by number, or why not.

    Parameters
    ----------
    network : Network
        The model.
    position : int
        Position of a layer of `SHORT_ELEMENT_KERNELS`.
    config : Config
        With an engine.
    """
    layer = network.layers[position]
    if not config.has_short_elements:
        return without_jobs_of_int16(layer)
    try:
        require_common_limits(network, position)
        item = _item(network, layer, position)
        require((steps_of_shorts,), item)
    except BrokenLimitError as error:
        return Decision((), (Refusal("", error.why),))
    planes = Candidate("in planes", _in_planes(item))
    whole = _whole(item)
    if whole is None:
        return Decision((planes,))
    numbers = Candidate("", whole)
    is_beside = _is_beside_planes(network, position)
    return Decision((planes, numbers) if is_beside else (numbers, planes))


def _is_beside_planes(network: Network, position: int) -> bool:
    """Whether layers with planes give what a layer reads, or read what it gives, at some distance.

    Between it and these there are only layers that could have planes as well.
    """
    readers: dict[int, list[int]] = {}
    writers: dict[int, int] = {}
    for number, layer in enumerate(network.layers):
        for name, tensor in layer.tensors.items():
            if name == "output":
                writers[tensor] = number
            else:
                readers.setdefault(tensor, []).append(number)
    seen, left = {position}, [position]
    while left:
        layer = network.layers[left.pop()]
        if layer.kernel in SHORT_KERNELS:
            return True
        for name, tensor in layer.tensors.items():
            others = [writers[tensor]] if name != "output" and tensor in writers else []
            others += readers.get(tensor, []) if name == "output" else []
            for number in others:
                kernel = network.layers[number].kernel
                if number not in seen and kernel in SHORT_KERNELS | SHORT_ELEMENT_KERNELS:
                    seen.add(number)
                    left.append(number)
    return False


def _item(network: Network, layer: Layer, position: int) -> _Item:
    assert layer.kernel is not None
    operator = _OPERATORS[layer.kernel]
    output = network.tensors[layer.tensors["output"]]
    p = layer.params
    parts: tuple[tuple[range, range | None, Window], ...] = ()
    if isinstance(p, Pool):
        require((window_of_shorts,), p)
        window = window_of(p).repeated(p.batches)
        parts = tuple(_parts(window))
    else:
        window = _window(output.shape)
    if isinstance(p, Elementwise):
        operands, scales = _pair(network, layer, operator)
    else:
        operands = (_Operand(network.tensors[layer.tensors["input"]]),)
        scales = _scales(p)
    return _Item(position, operator, operands, output.index, window, scales, parts)


def _window(shape: tuple[int, ...]) -> Window:
    """Return the geometry: all dimensions but the last two as rows, as convolutions have it."""
    *others, channels = (1, *shape)
    rows = int(np.prod(others[:-1] if len(shape) > SHORT_BYTES else others))
    columns = others[-1] if len(shape) > SHORT_BYTES else 1
    if rows == 1 and SHORT_BYTES * columns * channels > LARGEST_ROW:
        rows, columns = columns, 1  # rows can be cut into stripes
    return Window.of_pixels(rows, columns, channels)


def _scales(p: ShortFunction | ShortLeakyRelu | Pool) -> ElementScales:
    """Return the scales of a layer of one tensor."""
    if isinstance(p, ShortFunction):
        require((arguments_of_shorts,), p)
        return ElementScales(first=(p.multiplier << (FUNCTION_BITS - p.shift), 0))
    if isinstance(p, Pool):
        return ElementScales(clamp=upper_clamp(p.activation_min, p.activation_max))
    require((leaks_of_shorts,), p)
    return ElementScales(
        second=(p.leak_multiplier, p.leak_shift),
        output=(p.multiplier, p.shift),
        clamp=upper_clamp(np.iinfo(np.int16).min, p.activation_max),
    )


def _pair(
    network: Network, layer: Layer, operator: ShortOperator
) -> tuple[tuple[_Operand, ...], ElementScales]:
    """Return the operands of a layer of two tensors, and their scales."""
    p: Elementwise = layer.params
    first, second = (network.tensors[layer.tensors[name]] for name in _NAMES)
    item = _Pair(p, (first, second), operator)
    require((operands_of_shorts,), item)
    assert item.order is not None
    if operator is not ShortOperator.MUL:
        require((scales_of_operands,), p)
    full, other = item.order
    operands = (
        _Operand(item.tensors[full]),
        _Operand(item.tensors[other], not item.is_full(other)),
    )
    scales = [(p.multiplier_1, p.shift_1), (p.multiplier_2, p.shift_2)]
    return operands, ElementScales(
        *(scales[full], scales[other], (p.output_multiplier, p.output_shift)),
        upper_clamp(p.activation_min, p.activation_max),
    )


_Reach = tuple[range, int, int]
"""Outputs along a side, as if with another padding and kernel, which stay inside."""


def _sides(w: Window) -> tuple[list[_Reach], list[_Reach]]:
    """Return how far windows reach into an image, along rows and along columns."""
    height = w.input_rows // w.images
    return (
        _reaches(w.image_rows, w.stride_rows, w.kernel_rows, w.pad_top, height),
        _reaches(
            *(w.output_columns, w.stride_columns, w.kernel_columns), w.pad_left, w.input_columns
        ),
    )


def _parts(window: Window) -> Iterator[tuple[range, range | None, Window]]:
    """Yield outputs of a MAX_POOL_2D whose windows reach as far into the image."""
    rows, columns = _sides(window)
    for some_rows, pad_top, kernel_rows in rows:
        for some_columns, pad_left, kernel_columns in columns:
            part = dataclasses.replace(
                window,
                kernel_rows=kernel_rows,
                kernel_columns=kernel_columns,
                pad_top=pad_top,
                pad_left=pad_left,
            )
            yield some_rows, some_columns if len(columns) > 1 else None, part


def _reaches(outputs: int, stride: int, kernel: int, pad: int, inputs: int) -> list[_Reach]:
    """Return how far windows reach into an image along a side."""
    found: list[_Reach] = []
    for output in range(outputs):
        start = output * stride - pad
        first, end = max(start, 0), min(start + kernel, inputs)
        reach = output * stride - first, end - first
        if found and found[-1][1:] == reach:
            found[-1] = (range(found[-1][0].start, output + 1), *reach)
        else:
            found.append((range(output, output + 1), *reach))
    return found


def _in_planes(item: _Item) -> Operation:
    """Return the moves of a layer's inputs to planes, what it computes, and that from planes."""
    window = item.window
    inside = Image(window.input_rows, window.input_columns, item.channels)
    outside = Image(window.output_rows, window.output_columns, item.channels)
    moves: list[Operation] = []
    inputs: list[int] = []
    constants: dict[int, bytes] = {}
    for operand in item.operands:
        planes = internal_tensor(item.position, len(inputs))
        inputs.append(planes)
        if operand.tensor.is_constant:
            constants[planes] = _planes_of(operand, item)
        elif inputs[0] != planes and operand.tensor.index == item.operands[0].tensor.index:
            inputs[-1] = inputs[0]
        else:
            image = Image(1, 1, item.channels) if operand.has_one_pixel else inside
            moves.append(splitting(item.position, operand.tensor.index, image, planes))
    results = internal_tensor(item.position, len(item.operands))
    channels = SHORT_BYTES * padded(item.channels)
    return OperationSequence.of([
        *moves,
        _computed(item, ShortForm.PLANES, tuple(inputs), results, channels, constants),
        joining(item.position, results, outside, item.output),
    ])


def _whole(item: _Item) -> Operation | None:
    """Return what computes a layer on numbers as they lie; None if beats do not fit its pixels."""
    is_flat = item.operator is not ShortOperator.MAX
    is_flat &= not any(operand.has_one_pixel for operand in item.operands)
    if not is_flat and item.channels % ELEMENT_LANES:
        return None
    inputs: list[int] = []
    constants: dict[int, bytes] = {}
    for operand in item.operands:
        tensor = operand.tensor.index
        if operand.tensor.is_constant:
            tensor = internal_tensor(item.position, len(inputs))
            constants[tensor] = _numbers_of(operand, item).astype("<i2").tobytes()
        inputs.append(tensor)
    channels = SHORT_BYTES * item.channels
    return _computed(item, ShortForm.WHOLE, tuple(inputs), item.output, channels, constants)


def _numbers_of(operand: _Operand, item: _Item) -> NDArray[np.int16]:
    """Return the numbers of a constant operand, [pixels, channels]."""
    numbers = np.asarray(operand.tensor.integers(), np.int16).reshape(-1)
    count = item.channels if operand.has_one_pixel else item.window.output_pixels * item.channels
    return np.broadcast_to(numbers, (count,)).reshape(-1, item.channels)


def _planes_of(operand: _Operand, item: _Item) -> bytes:
    """Return the planes of a constant operand."""
    numbers = _numbers_of(operand, item).astype("<i2")
    octets = numbers.view(np.uint8).reshape(*numbers.shape, SHORT_BYTES)
    planes = np.zeros((len(numbers), SHORT_BYTES, padded(item.channels)), np.uint8)
    planes[..., : item.channels] = octets.transpose(0, 2, 1)
    return planes.tobytes()


def _computed(
    item: _Item,
    form: ShortForm,
    inputs: tuple[int, ...],
    output: int,
    channels: int,
    constants: dict[int, bytes],
) -> ComputeOperation:
    """Return what computes a layer on tensors of one form, whose pixels have so many bytes."""
    window = dataclasses.replace(item.window, channels=channels)
    common: dict[str, Any] = {
        "position": item.position,
        "inputs": inputs,
        "output": output,
        "output_channels": channels,
        "clamp": item.scales.clamp,
    }
    unscaled: dict[str, Any] = {"parameters": one_scale(1, *IDENTITY), "output_zero_point": 0}
    if item.operator is not ShortOperator.MAX:
        has_one_pixel = any(operand.has_one_pixel for operand in item.operands)
        return ShortElementOperation(
            **common,
            **unscaled,
            window=window,
            constants=constants,
            is_by_channel=form is ShortForm.PLANES or has_one_pixel,
            operator=item.operator,
            form=form,
            scales=item.scales,
            has_one_pixel=has_one_pixel,
        )
    pieces = tuple(
        Piece(
            rows=rows,
            columns=columns,
            operation=ShortMaxPooling(
                **common,
                **unscaled,
                window=dataclasses.replace(part, channels=channels),
                form=form,
            ),
        )
        for rows, columns, part in item.parts
    )
    if len(pieces) == 1:
        return pieces[0].operation
    return DividedOperation(**common, window=window, pieces=pieces)

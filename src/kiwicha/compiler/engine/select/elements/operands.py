"""What an element-wise layer's operands are to each other: which of them the engine can combine."""

import dataclasses
import enum
import math
from collections.abc import Sequence
from dataclasses import dataclass

from kiwicha.compiler.engine.ir.limits import limit
from kiwicha.compiler.engine.ir.window import Window
from kiwicha.compiler.engine.select.elements.element_parts import element_window
from kiwicha.compiler.lower.network import Layer, Network
from kiwicha.compiler.optimize.byte_tables import SUMS
from kiwicha.compiler.tflite.shapes import row_major_strides
from kiwicha.compiler.tflite.tensor import Tensor
from kiwicha.contract.program import Kernel
from kiwicha.kernels.elementwise import Elementwise, is_plain

__all__ = [
    "OPERAND_LIMITS",
    "Operands",
    "Relation",
    "by_rows",
    "in_short_rows",
    "operands_of",
]

_NAMES = ("input_1", "input_2")
BY_CHANNEL_KERNELS = frozenset({*SUMS, Kernel.MUL, Kernel.PRELU})
"""Kernels of which one job combines a tensor and a constant for each channel."""
MOST_SHORT_ROW = 512
LEAST_SHORT_ROW = 16
"""Bytes of rows that are short, at most and at least."""


class Relation(enum.Enum):
    """What a second operand is to the first, which has the output's shape if it is not repeated."""

    NUMBER = "one constant number"
    SAME_SHAPE = "a computed tensor of the same shape"
    ONE_PIXEL = "a computed tensor of a single pixel, which meets all pixels"
    CHANNELS = "a constant number for each channel"
    REPEATED = "any other: one of them, or both, are repeated"


@dataclass(frozen=True, eq=False)
class Operands:
    """The two operands of a layer.

    Parameters
    ----------
    layer : Layer
        The layer.
    tensors : tuple of Tensor
        Its inputs, in its order.
    order : tuple of int
        Number of the operand with the output's shape, and of the other one; any if operands are
        repeated.
    relation : Relation or None
        None if the engine cannot combine them.
    window : Window
        Geometry of the layer: pixels of the channels that a second operand of one pixel has.
    """

    layer: Layer
    tensors: tuple[Tensor, Tensor]
    order: tuple[int, int]
    relation: Relation | None
    window: Window

    @property
    def full(self) -> Tensor:
        """The operand with the output's shape."""
        return self.tensors[self.order[0]]

    @property
    def other(self) -> Tensor:
        """The other one."""
        return self.tensors[self.order[1]]


def operands_of(network: Network, layer: Layer) -> Operands:
    """Return the operands of a layer with a kernel on two tensors, and how they are related."""
    first, second = (network.tensors[layer.tensors[name]] for name in _NAMES)
    output = network.tensors[layer.tensors["output"]]
    window = element_window(network, layer)
    for order in ((0, 1), (1, 0)):
        relation = _relation(layer, (first, second), order, output)
        if relation is not None:
            return Operands(layer, (first, second), order, relation, window)
    must_be_first = layer.kernel is Kernel.PRELU
    is_computed = not (first.is_constant and (second.is_constant or must_be_first))
    relation = Relation.REPEATED if is_computed else None
    return Operands(layer, (first, second), (0, 1), relation, window)


def by_rows(operands: Operands) -> Operands | None:
    """Return operands of which one is the same for all rows, as if such a row were one pixel.

    None if they have no such rows.
    """
    p: Elementwise = operands.layer.params
    strides = (p.strides_1, p.strides_2)
    whole = row_major_strides(p.shape)
    orders = ((0, 1), (1, 0))
    for order in orders[:1] if operands.layer.kernel is Kernel.PRELU else orders:
        full, other = (operands.tensors[k] for k in order)
        if full.is_constant or not _reads(strides[order[0]], whole, p.shape):
            continue
        if other.is_constant and operands.layer.kernel not in BY_CHANNEL_KERNELS:
            continue
        for axis in range(1, len(p.shape)):
            row = (*(0 for _ in p.shape[:axis]), *whole[axis:])
            if _reads(strides[order[1]], row, p.shape):
                relation = Relation.CHANNELS if other.is_constant else Relation.ONE_PIXEL
                rows, channels = math.prod(p.shape[:axis]), math.prod(p.shape[axis:])
                window = Window.of_pixels(rows, 1, channels)
                found = dataclasses.replace(operands, order=order, relation=relation, window=window)
                return found if rows > 1 else None
    return None


def in_short_rows(operands: Operands) -> Operands | None:
    """Return operands with another geometry, of many rows and not of long ones.

    They are repeated to what has no gaps, so that rows can end anywhere. None if there are no rows
    of a number of bytes that divides all of them.
    """
    size = operands.window.output_pixels * operands.window.channels
    lengths = range(MOST_SHORT_ROW, LEAST_SHORT_ROW - 1, -1)
    length = next((length for length in lengths if size % length == 0), None)
    if length is None or length >= operands.window.output_columns * operands.window.channels:
        return None
    return dataclasses.replace(operands, window=Window.of_pixels(size // length, 1, length))


def _relation(
    layer: Layer, tensors: tuple[Tensor, Tensor], order: tuple[int, int], output: Tensor
) -> Relation | None:
    """Return what the second of two operands, in an order, is to the first."""
    p: Elementwise = layer.params
    full, other = (tensors[k] for k in order)
    if full.is_constant:
        return None
    if other.is_constant and other.elements == 1:
        return Relation.NUMBER if full.elements == output.elements else None
    if layer.kernel is Kernel.PRELU and order != (0, 1):
        return None
    strides = [(p.strides_1, p.strides_2)[k] for k in order]
    channel = (*(0 for _ in p.shape[:-1]), 1)
    is_full = _reads(strides[0], row_major_strides(p.shape), p.shape)
    is_by_channel = is_full and _reads(strides[1], channel, p.shape)
    if other.is_constant:
        has_bias = layer.kernel in BY_CHANNEL_KERNELS
        return Relation.CHANNELS if is_by_channel and has_bias else None
    if is_plain(p):
        return Relation.SAME_SHAPE
    return Relation.ONE_PIXEL if is_by_channel else None


def _reads(strides: Sequence[int], wanted: Sequence[int], shape: Sequence[int]) -> bool:
    """Whether strides are the wanted ones, where a dimension has more than one element."""
    pairs = zip(shape, strides, wanted, strict=True)
    return all(size == 1 or stride == expected for size, stride, expected in pairs)


@limit("ADD", "SUB", "MUL", "MAXIMUM", "MINIMUM", "PRELU", "SQUARED_DIFFERENCE")
def pair_operands(operands: Operands) -> str | None:
    """Operands are two computed tensors, or a computed tensor and a constant, of any shapes.

    Of PRELU the first one is computed.
    """
    if operands.relation is not None:
        return None
    shown = (
        f"{'a constant' if tensor.is_constant else 'a computed tensor'} of "
        f"{'x'.join(map(str, tensor.shape)) or '1'}"
        for tensor in operands.tensors
    )
    return f"combines {' and '.join(shown)}"


OPERAND_LIMITS = (pair_operands,)
"""What must hold for the operands of an element-wise layer."""

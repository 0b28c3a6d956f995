"""Images of any other size, in two passes: between columns, and then between rows.

What lies between two columns is exact: a sum of products, of up to 18 bits, in two or four bytes
that lie in rows of their own. An output row is a sum of what tables give for the bytes of two such
rows, whose int32 stay exact until the last one is added.
"""

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.engine.ir.element_operations import RowAddition
from kiwicha.compiler.engine.ir.limits import Limit, exceeded, limit, require
from kiwicha.compiler.engine.ir.move_operations import MoveOperation, moved
from kiwicha.compiler.engine.ir.operations import (
    DividedOperation,
    Operation,
    OperationSequence,
    Piece,
    internal_tensor,
)
from kiwicha.compiler.engine.ir.strided_copies import Loop, StridedCopy, in_order
from kiwicha.compiler.engine.ir.window import Image, Window, padded
from kiwicha.compiler.engine.select.convolutions.weighted import (
    WeightedLayer,
    depthwise_convolution,
)
from kiwicha.compiler.engine.select.reductions.sum_parts import uniform
from kiwicha.compiler.engine.select.resize.dimensions import Dimension
from kiwicha.compiler.engine.select.resize.fractions import dimensions
from kiwicha.compiler.engine.select.resize.resized_image import ResizedImage
from kiwicha.compiler.lower.network import Layer
from kiwicha.compiler.lower.tables import ALL_BYTES
from kiwicha.compiler.optimize.ranges import UNIT_SCALE
from kiwicha.compiler.tflite.slices import pieces as ranges_of
from kiwicha.contract.engine import MAX_KEPT_SUMS, MAX_U16, OUTPUT_BYTES, SumFlag

__all__ = ["PASS_LIMITS", "in_two_passes", "pass_bytes"]

_OPERATOR = "RESIZE_BILINEAR"
_MAX_WEIGHT = 2**8 - 1
_SIDES = 2
"""Pixels that an output lies between, in each dimension."""
_OUTPUT_ROWS = 2
_ROW_BYTES = MAX_U16 // _SIDES // OUTPUT_BYTES * OUTPUT_BYTES
_BYTE = 8
_UPPER_BYTE = 1 << (31 - _BYTE), 0
"""Scale that gives the byte above the lowest one, rounded half up."""
_LOWER_BYTE = 1 << (_BYTE - 1), 32 - _BYTE
"""Scale that gives the lowest byte: the other bits are shifted out."""


@limit(_OPERATOR, most=_ROW_BYTES, whole=OUTPUT_BYTES)
def resized_row_bytes(size: int) -> str | None:
    """In two passes, a row of the output has up to {most} bytes, channels rounded up to {whole}.

    Wider images are done in blocks of their columns.
    """
    return exceeded(size, _ROW_BYTES, "bytes of an output row")


@limit(_OPERATOR, most=MAX_KEPT_SUMS)
def resized_channels(channels: int) -> str | None:
    """In two passes, an image has up to {most} channels."""
    return exceeded(channels, MAX_KEPT_SUMS, "channels")


PASS_LIMITS: tuple[Limit[int], ...] = (resized_row_bytes, resized_channels)
"""Limits of images in two passes."""


@dataclass(frozen=True)
class _Plane:
    """A byte of sums of products with a part of the weights.

    Parameters
    ----------
    weights : ndarray of int16 [outputs, 2]
        That part, for each output column.
    scale : tuple of int
        Multiplier and shift that give the byte.
    value : int
        What one of it counts.
    """

    weights: NDArray[np.int16]
    scale: tuple[int, int]
    value: int


def in_two_passes(layer: Layer, position: int) -> Operation:
    """Return a RESIZE_BILINEAR as a move, a pass between columns, and one between rows.

    Parameters
    ----------
    layer : Layer
        The layer.
    position : int
        Its position.

    Raises
    ------
    BrokenLimitError
        If the engine cannot do it.
    """
    image = ResizedImage(position, layer, *dimensions(layer))
    require([resized_row_bytes], image.row_bytes)
    require([resized_channels], padded(image.params.channels))
    planes = _planes(image.columns)
    sides = _sides(image)
    between_columns = _between_columns(image, sides.output, planes)
    return OperationSequence.of([
        sides,
        between_columns,
        _between_rows(image, between_columns.output, planes),
    ])


def pass_bytes(layer: Layer, position: int) -> int:
    """Return about what two passes of a RESIZE_BILINEAR need of a scratchpad in smallest stripes.

    Raises
    ------
    BrokenLimitError
        If the engine cannot do it, however large a scratchpad is.
    """
    image = ResizedImage(position, layer, *dimensions(layer))
    require([resized_channels], padded(image.params.channels))
    # Two rows with both sides beside the next two, two with all planes, and two of the output.
    sides = _SIDES * min(2 * _SIDES, image.all_rows)
    return (sides + _SIDES * len(_planes(image.columns)) + _OUTPUT_ROWS) * image.row_bytes


def _sides(image: ResizedImage) -> MoveOperation:
    """Return the move to rows of all left pixels, and then all right ones, column by column."""
    p, pitch = image.params, padded(image.params.channels)
    source = image.layer.tensors["input"]
    copies = []
    for side in range(_SIDES):
        column = 0
        for part in ranges_of(image.columns.pixels[:, side].tolist()):
            loops = (
                Loop(image.all_rows, p.input_width * p.channels, _SIDES * image.row_bytes),
                Loop(part.count, part.step * p.channels, part.repeat * pitch),
                Loop(part.repeat, 0, pitch),
            )
            place = side * image.row_bytes + column * pitch
            copies.append(
                StridedCopy(source, part.first * p.channels, place, *in_order(loops, p.channels))
            )
            column += part.count * part.repeat
    return moved(
        image.position,
        copies,
        {source: Image(image.all_rows, p.input_width, p.channels)},
        internal_tensor(image.position, 0),
        Image(image.all_rows, _SIDES, image.row_bytes),
    )


def _planes(columns: Dimension) -> list[_Plane]:
    """Return the bytes that together are what lies between two columns."""
    weights, shift = columns.weights, 0
    while int(weights.max()) >> shift > _MAX_WEIGHT + 1:
        shift += 1
    # The largest weight may be one more than fits: then the lower part has it.
    upper = np.minimum(weights >> shift, _MAX_WEIGHT)
    lower = weights - (upper << shift)
    found = list(_bytes_of(upper, 1 << shift))
    return [*found, *_bytes_of(lower, 1)] if lower.any() else found


def _bytes_of(weights: NDArray[np.int64], value: int) -> Iterator[_Plane]:
    """Yield the bytes of sums of products with some weights, each of which counts ``value``."""
    narrow = weights.astype(np.int16)
    if weights.sum(axis=1).max() == 1:
        yield _Plane(narrow, UNIT_SCALE, value)
        return
    yield _Plane(narrow, _UPPER_BYTE, value << _BYTE)
    yield _Plane(narrow, _LOWER_BYTE, value)


def _between_columns(image: ResizedImage, source: int, planes: list[_Plane]) -> DividedOperation:
    """Return the depthwise convolution whose channels are all bytes of a row: a row for a plane."""
    count = len(planes)
    window = Window(
        input_rows=image.all_rows,
        input_columns=_SIDES,
        channels=image.row_bytes,
        output_rows=count * image.all_rows,
        output_columns=1,
        kernel_rows=count,
        kernel_columns=_SIDES,
        stride_rows=count,
        stride_columns=_SIDES,
        is_transposed=True,
    )
    output = internal_tensor(image.position, 1)
    part = dataclasses.replace(
        window, output_rows=image.all_rows, kernel_rows=1, stride_rows=1, is_transposed=False
    )
    found = []
    for number, plane in enumerate(planes):
        layer = WeightedLayer(
            position=image.position,
            input=source,
            output=output,
            window=part,
            parameters=uniform(image.row_bytes, plane.scale),
            input_zero_point=0,
            output_zero_point=0,
            clamp=(-128, 127),
            weight_zero_point=-128,
        )
        operation = depthwise_convolution(layer, _byte_weights(image, plane))
        found.append(Piece(range(number, window.output_rows, count), operation))
    return DividedOperation(
        position=image.position,
        inputs=(source,),
        output=output,
        window=window,
        output_channels=image.row_bytes,
        clamp=(-128, 127),
        pieces=tuple(found),
    )


def _byte_weights(image: ResizedImage, plane: _Plane) -> NDArray[np.int16]:
    """Return the weights [1, sides, bytes of a row]; those of gaps between pixels are 0."""
    channels = image.params.channels
    pixels = np.zeros((_SIDES, image.columns.outputs, padded(channels)), np.int16)
    pixels[:, :, :channels] = plane.weights.T[:, :, np.newaxis]
    return pixels.reshape(1, _SIDES, -1)


def _between_rows(image: ResizedImage, source: int, planes: list[_Plane]) -> DividedOperation:
    """Return the sums of two rows each, plane by plane."""
    p, count = image.params, len(planes)
    window = Window(
        input_rows=count * image.all_rows,
        input_columns=1,
        channels=image.row_bytes,
        output_rows=p.batches * p.output_height,
        output_columns=p.output_width,
        images=p.batches,
        row_reads=tuple(
            (count * min(pixels), count * (max(pixels) + 1))
            for pixels in image.rows.pixels.tolist()
        ),
    )
    return DividedOperation(
        position=image.position,
        inputs=(source,),
        output=image.layer.tensors["output"],
        window=window,
        output_channels=p.channels,
        clamp=(-128, 127),
        pieces=tuple(_row_pieces(image, source, planes, window)),
    )


def _row_pieces(
    image: ResizedImage, source: int, planes: list[_Plane], window: Window
) -> Iterator[Piece]:
    """Yield the jobs of each output row, a series of as many as there are planes."""
    scale, unit = _scale(image)
    one_row = dataclasses.replace(window, output_rows=1, images=1, row_reads=())
    for number, (pixels, weights) in enumerate(
        zip(image.rows.pixels.tolist(), image.rows.weights, strict=True)
    ):
        for plane, part in enumerate(planes):
            last = plane == len(planes) - 1
            sums = SumFlag.NONE if last else SumFlag.KEEP
            numbers = ALL_BYTES.astype(np.int64)[:, np.newaxis] * weights * part.value * unit
            operation = RowAddition(
                position=image.position,
                inputs=(source,),
                output=image.layer.tensors["output"],
                window=one_row,
                output_channels=image.params.channels,
                clamp=(-128, 127),
                parameters=uniform(1, scale),
                output_zero_point=0,
                sums=sums | (SumFlag.CONTINUE if plane else SumFlag.NONE),
                is_wide=last,
                tables=numbers.astype(np.int32),
                rows=(pixels[0] * len(planes) + plane, pixels[1] * len(planes) + plane),
            )
            yield Piece(range(number, number + 1), operation)


def _scale(image: ResizedImage) -> tuple[tuple[int, int], int]:
    """Return multiplier and shift that divide the sums, and what a unit of a sum counts in them."""
    whole = image.rows.one * image.columns.one
    bits = whole.bit_length() - 1
    if whole != 1 << bits or (image.params.offset and bits):
        # Half goes up, or there is none.
        return (round(2**31 / whole), 0), 1
    # Twice the sum by 2**30 is the sum; then half goes away from zero.
    return (2**30, -bits), 2

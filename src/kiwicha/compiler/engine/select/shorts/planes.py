"""Tensors of int16 as planes: in each pixel all lower bytes, and behind them all upper ones.

Pixels of a few bytes would be short segments of convolutions. Of these each row has two planes:
that of lower bytes is one row of the image of planes, that of upper ones the next.
"""

import dataclasses

from kiwicha.compiler.engine.ir.move_operations import MoveOperation, moved
from kiwicha.compiler.engine.ir.strided_copies import Loop, StridedCopy, in_order
from kiwicha.compiler.engine.ir.window import Image, Window, padded
from kiwicha.contract.engine import OUTPUT_BYTES

__all__ = [
    "SHORT_BYTES",
    "are_rows",
    "joining",
    "joining_rows",
    "planes_image",
    "row_windows",
    "shorts_image",
    "splitting",
    "splitting_of",
    "splitting_rows",
]

SHORT_BYTES = 2


def are_rows(window: Window) -> bool:
    """Whether planes that a move makes are rows: of pixels of a few channels.

    Phases of a transposed convolution begin at any row; for them they are not.
    """
    return window.channels < OUTPUT_BYTES and not window.is_transposed


def planes_image(image: Image) -> Image:
    """Return the image of the planes of a tensor, given its own with channels of int16."""
    return Image(image.rows, image.columns, SHORT_BYTES * padded(image.channels))


def shorts_image(image: Image) -> Image:
    """Return the image of a tensor as bytes, likewise."""
    return Image(image.rows, image.columns, SHORT_BYTES * image.channels)


def splitting(position: int, source: int, image: Image, output: int) -> MoveOperation:
    """Return the move of a tensor of int16 to its planes.

    Parameters
    ----------
    position : int
        Of the layer.
    source : int
        The tensor.
    image : Image
        Its rows, columns and channels.
    output : int
        The planes.
    """
    channels, size = image.channels, padded(image.channels)
    pixels = image.rows * image.columns
    loops = (
        Loop(pixels, SHORT_BYTES * channels, SHORT_BYTES * size),
        Loop(SHORT_BYTES, 1, size),
        Loop(channels, SHORT_BYTES, 1),
    )
    ordered, piece = in_order(loops, 1)
    copies = [StridedCopy(source, 0, 0, ordered, piece)]
    if size > channels:
        # What no channel has is never read with a weight, but all bytes are written.
        gaps, piece = in_order([Loop(SHORT_BYTES * pixels, 0, size)], size - channels)
        copies.append(StridedCopy(None, 0, channels, gaps, piece))
    images = {source: shorts_image(image)}
    return moved(position, copies, images, output, planes_image(image))


def splitting_rows(position: int, source: int, image: Image, output: int) -> MoveOperation:
    """Return the move of a tensor to planes that are rows; parameters as of `splitting`."""
    size = image.row_bytes
    loops = (
        Loop(image.rows, SHORT_BYTES * size, SHORT_BYTES * size),
        Loop(SHORT_BYTES, 1, size),
        Loop(size, SHORT_BYTES, 1),
    )
    ordered, piece = in_order(loops, 1)
    copy = StridedCopy(source, 0, 0, ordered, piece)
    there = Image(SHORT_BYTES * image.rows, image.columns, image.channels)
    return moved(position, [copy], {source: shorts_image(image)}, output, there)


def splitting_of(window: Window, position: int, source: int, output: int) -> MoveOperation:
    """Return the move of a tensor to the planes that a window reads; others as of `splitting`."""
    image = Image(window.input_rows, window.input_columns, window.channels)
    split = splitting_rows if are_rows(window) else splitting
    return split(position, source, image, output)


def row_windows(window: Window) -> tuple[Window, Window, Window]:
    """Return the windows on lower rows, on upper rows, and on what both need, of rows of planes."""
    reach = (window.kernel_rows - 1) * window.dilation_rows
    lower = dataclasses.replace(
        window,
        input_rows=SHORT_BYTES * window.input_rows,
        stride_rows=SHORT_BYTES * window.stride_rows,
        dilation_rows=SHORT_BYTES * window.dilation_rows,
        pad_top=SHORT_BYTES * window.pad_top,
    )
    upper = dataclasses.replace(lower, pad_top=lower.pad_top - 1)
    both = dataclasses.replace(lower, kernel_rows=SHORT_BYTES * (reach + 1), dilation_rows=1)
    return lower, upper, both


def joining(position: int, source: int, image: Image, output: int) -> MoveOperation:
    """Return the move of planes to the tensor of int16; parameters as of `splitting`."""
    channels, size = image.channels, padded(image.channels)
    loops = (
        Loop(image.rows * image.columns, SHORT_BYTES * size, SHORT_BYTES * channels),
        Loop(channels, 1, SHORT_BYTES),
        Loop(SHORT_BYTES, size, 1),
    )
    ordered, piece = in_order(loops, 1)
    copy = StridedCopy(source, 0, 0, ordered, piece)
    return moved(position, [copy], {source: planes_image(image)}, output, shorts_image(image))


def joining_rows(position: int, source: int, image: Image, output: int) -> MoveOperation:
    """Return the move of planes that are rows; parameters as of `splitting`."""
    size = image.row_bytes
    loops = (
        Loop(image.rows, SHORT_BYTES * size, SHORT_BYTES * size),
        Loop(size, 1, SHORT_BYTES),
        Loop(SHORT_BYTES, size, 1),
    )
    ordered, piece = in_order(loops, 1)
    copy = StridedCopy(source, 0, 0, ordered, piece)
    there = Image(SHORT_BYTES * image.rows, image.columns, image.channels)
    return moved(position, [copy], {source: there}, output, shorts_image(image))

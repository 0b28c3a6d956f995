"""Convolutions of images with few channels, whose rows are joined before.

A segment is what a window reads of one input row: of a single channel few bytes, which leave most
lanes of a word idle. A move joins some rows to one, column by column, so that they become channels
of it. A window then has fewer kernel rows with longer segments.
"""

import dataclasses
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.engine.ir.move_operations import MoveOperation, moved
from kiwicha.compiler.engine.ir.operations import internal_tensor
from kiwicha.compiler.engine.ir.strided_copies import Loop, StridedCopy, in_order
from kiwicha.compiler.engine.ir.window import Image, Window
from kiwicha.compiler.engine.ir.window_operations import Convolution

__all__ = ["MOST_ROWS", "joined_rows"]

MOST_ROWS = 8
"""Rows that are joined, at most: with more of them a row is longer than what a window saves."""
_FIRST_NUMBER = 64
"""Of the tensors of a layer, the one that this makes."""


def joined_rows(operation: Convolution) -> Iterator[tuple[MoveOperation, Convolution]]:
    """Yield what joins rows of the input, and the convolution of that, for any number of rows.

    Parameters
    ----------
    operation : Convolution
        The convolution.
    """
    window = operation.window
    if window.images > 1 or window.is_transposed or window.dilation_rows > 1:
        return
    for count in range(2, min(MOST_ROWS, window.kernel_rows) + 1):
        # A joined row begins so many rows behind the one before it.
        for step in (n for n in range(1, count + 1) if count % n == 0):
            if window.stride_rows % step == 0:
                yield _joined(operation, count, step)


def _joined(operation: Convolution, count: int, step: int) -> tuple[MoveOperation, Convolution]:
    window = operation.window
    above = _rows_above(window, count, step)
    image = Image(-(-(window.input_rows + above) // step), window.input_columns, 0)
    image = dataclasses.replace(image, channels=count * window.channels)
    tensor = internal_tensor(operation.position, _FIRST_NUMBER)
    (source,) = operation.inputs
    move = moved(
        operation.position,
        _copies(operation, image, count, step),
        {source: operation.input_image(source)},
        tensor,
        image,
    )
    weights = _joined_weights(operation.weights, count)
    return move, dataclasses.replace(
        operation,
        inputs=(tensor,),
        weights=weights,
        window=dataclasses.replace(
            window,
            input_rows=image.rows,
            channels=image.channels,
            kernel_rows=weights.shape[1],
            stride_rows=window.stride_rows // step,
            dilation_rows=count // step,
            pad_top=(window.pad_top - above) // step,
        ),
    )


def _rows_above(window: Window, count: int, step: int) -> int:
    """Return the rows above the image with which the first joined row that reaches it begins."""
    most = min(window.pad_top, count - 1)
    return most - (most - window.pad_top) % step


def _copies(operation: Convolution, image: Image, count: int, step: int) -> list[StridedCopy]:
    """Return the copies of joined rows with all of their rows, and of each of the others."""
    window = operation.window
    (source,) = operation.inputs
    rows, columns, channels = window.input_rows, window.input_columns, window.channels
    above = _rows_above(window, count, step)
    row_bytes = columns * channels

    def copy(first: int, number: int, start: int, used: int) -> StridedCopy:
        """Copy to ``number`` joined rows the ``used`` ones of their rows from ``start`` on."""
        loops = (
            Loop(number, step * row_bytes, image.row_bytes),
            Loop(used, row_bytes, channels),
            Loop(columns, channels, image.channels),
        )
        ordered, piece = in_order(loops, channels)
        origin = (first * step - above + start) * row_bytes
        target = first * image.row_bytes + start * channels
        return StridedCopy(source, origin, target, ordered, piece)

    def fill(first: int, start: int, used: int) -> StridedCopy:
        """Fill rows of a joined row that lie outside the image."""
        ordered, piece = in_order((Loop(columns, 0, image.channels),), used * channels)
        target = first * image.row_bytes + start * channels
        return StridedCopy(None, 0, target, ordered, piece, operation.input_zero_point)

    firsts = [number * step - above for number in range(image.rows)]
    whole = [n for n, row in enumerate(firsts) if row >= 0 and row + count <= rows]
    found = [copy(whole[0], len(whole), 0, count)] if whole else []
    for number in sorted({*range(image.rows)} - {*whole}):
        start = max(-firsts[number], 0)
        end = min(rows - firsts[number], count)
        found.append(copy(number, 1, start, end - start))
        found += [fill(number, 0, start)] if start else []
        found += [fill(number, end, count - end)] if end < count else []
    return found


def _joined_weights(weights: NDArray[np.int16], count: int) -> NDArray[np.int16]:
    """Return weights [O, H, W, I] with so many kernel rows side by side in the channels."""
    outputs, rows, columns, channels = weights.shape
    whole = np.zeros((outputs, -(-rows // count) * count, columns, channels), np.int16)
    whole[:, :rows] = weights
    split = whole.reshape(outputs, -1, count, columns, channels)
    return np.ascontiguousarray(split.transpose(0, 1, 3, 2, 4)).reshape(
        outputs, -1, columns, count * channels
    )

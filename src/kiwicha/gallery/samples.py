"""What layers do to samples of their inputs, in numpy.

Samples are float64 arrays [batch, height, width, channels]. Sums of products are those of integers
and exact, so that they are the same on every machine, whatever the order of the additions.
"""

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Pair",
    "Sample",
    "average_pool",
    "convolve",
    "convolve_depthwise",
    "dense",
    "max_pool",
    "output_size",
    "resized",
    "statistics",
    "transpose_convolve",
]

Sample = NDArray[np.float64]
Weights = NDArray[np.int8]
Pair = tuple[int, int]
_EXACT = 512
"""Products of steps and weights whose sum is exact in float32: 512 x 255 x 127 < 2**24."""


def output_size(size: int, kernel: int, stride: int, padding: str, dilation: int = 1) -> int:
    """Return the height or width that a window leaves of an image."""
    if padding == "SAME":
        return -(-size // stride)
    return -(-(size - (kernel - 1) * dilation) // stride)


def _windows(
    x: Sample, kernel: Pair, stride: int, padding: str, fill: float = 0.0, dilation: int = 1
) -> Iterator[tuple[int, int, Sample]]:
    """Yield row and column in the kernel, and what all windows have there."""
    sizes = [
        output_size(size, k, stride, padding, dilation)
        for size, k in zip(x.shape[1:3], kernel, strict=True)
    ]
    amounts = [
        max((out - 1) * stride + (k - 1) * dilation + 1 - size, 0) if padding == "SAME" else 0
        for out, size, k in zip(sizes, x.shape[1:3], kernel, strict=True)
    ]
    borders = [(0, 0), *((amount // 2, amount - amount // 2) for amount in amounts), (0, 0)]
    padded = np.pad(x, borders, constant_values=fill)
    for row in range(kernel[0]):
        for column in range(kernel[1]):
            top, left = row * dilation, column * dilation
            yield (
                row,
                column,
                padded[
                    :,
                    top : top + (sizes[0] - 1) * stride + 1 : stride,
                    left : left + (sizes[1] - 1) * stride + 1 : stride,
                ],
            )


def convolve(
    x: Sample, weights: Weights, *, stride: int, padding: str, dilation: int, groups: int
) -> Sample:
    """Return the sums of a CONV_2D; weights are [outputs, rows, columns, inputs of a group]."""
    outputs, rows, columns, _ = weights.shape
    total: Sample | None = None
    for row, column, part in _windows(x, (rows, columns), stride, padding, dilation=dilation):
        pairs = zip(
            np.split(part, groups, axis=-1), np.split(weights[:, row, column], groups), strict=True
        )
        products = [dense(piece, block) for piece, block in pairs]
        now = products[0] if groups == 1 else np.concatenate(products, axis=-1)
        total = now if total is None else total + now
    assert total is not None
    assert total.shape[-1] == outputs
    return total


def convolve_depthwise(
    x: Sample, weights: Weights, *, stride: int, padding: str, dilation: int
) -> Sample:
    """Return the sums of a DEPTHWISE_CONV_2D; weights are [1, rows, columns, channels]."""
    _, rows, columns, _ = weights.shape
    parts = [
        part * weights[0, row, column].astype(np.float64)
        for row, column, part in _windows(x, (rows, columns), stride, padding, dilation=dilation)
    ]
    return np.asarray(np.sum(parts, axis=0))


def transpose_convolve(x: Sample, weights: Weights, *, stride: int) -> Sample:
    """Return the sums of a TRANSPOSE_CONV with SAME padding and a kernel of the stride or more."""
    outputs, rows, columns, _ = weights.shape
    batch, height, width, _ = x.shape
    whole = np.zeros((batch, (height - 1) * stride + rows, (width - 1) * stride + columns, outputs))
    for row in range(rows):
        for column in range(columns):
            part = dense(x, weights[:, row, column])
            whole[
                :,
                row : row + (height - 1) * stride + 1 : stride,
                column : column + (width - 1) * stride + 1 : stride,
            ] += part
    top, left = (rows - stride) // 2, (columns - stride) // 2
    return whole[:, top : top + height * stride, left : left + width * stride]


def dense(x: Sample, weights: Weights) -> Sample:
    """Return the sums of a FULLY_CONNECTED; weights are [outputs, inputs]."""
    rows = x.reshape(-1, x.shape[-1]).astype(np.float32)
    total = np.zeros((len(rows), len(weights)))
    for first in range(0, x.shape[-1], _EXACT):
        block = slice(first, first + _EXACT)
        total += rows[:, block] @ weights[:, block].astype(np.float32).T
    return np.asarray(total.reshape(*x.shape[:-1], len(weights)))


def max_pool(x: Sample, kernel: int, stride: int, padding: str) -> Sample:
    """Return the largest element of each window."""
    parts = [part for _, _, part in _windows(x, (kernel, kernel), stride, padding, -math.inf)]
    return np.asarray(np.max(parts, axis=0))


def average_pool(x: Sample, kernel: int, stride: int, padding: str) -> Sample:
    """Return the average of the elements of each window that are in the image."""
    sums, counts = (
        sum((part for _, _, part in _windows(y, (kernel, kernel), stride, padding)), start=0.0)
        for y in (x, np.ones_like(x))
    )
    return np.asarray(sums / counts)


def resized(x: NDArray[np.int8], height: int, width: int) -> NDArray[np.int8]:
    """Return images of another size, with the nearest pixels."""
    rows = np.arange(height) * x.shape[1] // height
    columns = np.arange(width) * x.shape[2] // width
    return x[:, rows][:, :, columns]


def statistics(sums: Sample) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return mean, rounded, and standard deviation of integers, by the last dimension.

    A deviation is at least a quarter of the usual one: samples of few elements may be constant.
    """
    rows = sums.reshape(-1, sums.shape[-1]).astype(np.int64)
    means = np.rint(rows.sum(axis=0) / len(rows))
    squares = (rows - means.astype(np.int64)) ** 2
    variances = squares.sum(axis=0) / len(rows)
    # An exact sum of integers here, too: the floor must not depend on the order of additions.
    usual = math.sqrt(int(squares.sum()) / squares.size)
    return means, np.maximum(np.sqrt(variances), max(usual / 4, 1.0))

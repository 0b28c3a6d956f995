"""Windows of convolutions and pools: what they see of an image, and how many elements."""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Window", "elements_seen", "padded", "windows"]


class Window(Protocol):
    """The parameters of a convolution or pool."""

    @property
    def input_height(self) -> int:
        """Rows of the input."""

    @property
    def input_width(self) -> int:
        """Columns of the input."""

    @property
    def output_height(self) -> int:
        """Rows of the output."""

    @property
    def output_width(self) -> int:
        """Columns of the output."""

    @property
    def kernel_height(self) -> int:
        """Rows of a window."""

    @property
    def kernel_width(self) -> int:
        """Columns of a window."""

    @property
    def stride_height(self) -> int:
        """Rows from window to window."""

    @property
    def stride_width(self) -> int:
        """Columns from window to window."""

    @property
    def pad_top(self) -> int:
        """Rows above the input."""

    @property
    def pad_left(self) -> int:
        """Columns left of the input."""


def padded(
    x: NDArray[Any],
    p: Window,
    value: int,
    dilation: tuple[int, int] = (1, 1),
) -> NDArray[Any]:
    """Return an image with ``value`` around it for every tap that lies outside."""
    dilation_height, dilation_width = dilation
    rows = (p.output_height - 1) * p.stride_height + (p.kernel_height - 1) * dilation_height + 1
    columns = (p.output_width - 1) * p.stride_width + (p.kernel_width - 1) * dilation_width + 1
    below = max(rows - p.pad_top - p.input_height, 0)
    right = max(columns - p.pad_left - p.input_width, 0)
    return np.pad(
        x, ((0, 0), (p.pad_top, below), (p.pad_left, right), (0, 0)), constant_values=value
    )


def windows(x: NDArray[Any], p: Window, dilation: tuple[int, int] = (1, 1)) -> NDArray[Any]:
    """Return a view [N, output_height, output_width, kernel_height, kernel_width, C] of ``x``."""
    batch, row, column, channel = x.strides
    return np.lib.stride_tricks.as_strided(
        x,
        (
            x.shape[0],
            p.output_height,
            p.output_width,
            p.kernel_height,
            p.kernel_width,
            x.shape[3],
        ),
        (
            batch,
            row * p.stride_height,
            column * p.stride_width,
            row * dilation[0],
            column * dilation[1],
            channel,
        ),
        writeable=False,
    )


def elements_seen(
    outputs: int, inputs: int, *, kernel: int, stride: int, dilation: int, pad: int
) -> int:
    """Return how many elements all windows of one dimension see, those in several counted again."""
    starts = np.arange(outputs) * stride - pad
    first = np.maximum(-(starts // dilation), 0)
    end = np.minimum((inputs - 1 - starts) // dilation + 1, kernel)
    return int(np.maximum(end - first, 0).sum())

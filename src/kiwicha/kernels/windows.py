"""Windows of convolutions and pools: what they see of an image, and how many elements."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.program import Conv, Pool

__all__ = ["elements_seen", "padded", "windows"]


def padded(
    x: NDArray[Any],
    p: Conv | Pool,
    value: int,
    dilation_height: int = 1,
    dilation_width: int = 1,
) -> NDArray[Any]:
    """Return an image with ``value`` around it for every tap that lies outside."""
    rows = (p.output_height - 1) * p.stride_height + (p.kernel_height - 1) * dilation_height + 1
    columns = (p.output_width - 1) * p.stride_width + (p.kernel_width - 1) * dilation_width + 1
    below = max(rows - p.pad_top - p.input_height, 0)
    right = max(columns - p.pad_left - p.input_width, 0)
    return np.pad(
        x, ((0, 0), (p.pad_top, below), (p.pad_left, right), (0, 0)), constant_values=value
    )


def windows(x: NDArray[Any], p: Conv | Pool) -> NDArray[Any]:
    """Return a view [N, output_height, output_width, kernel_height, kernel_width, C] of ``x``."""
    dilation = (p.dilation_height, p.dilation_width) if isinstance(p, Conv) else (1, 1)
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

"""Long rows upright: images of one row as images of one column, whose stripes are short.

That costs nothing: bytes lie as they lay before. A kernel of one row becomes one of one column.
"""

import dataclasses
from typing import Any

from kiwicha.compiler.engine.ir.window import padded
from kiwicha.compiler.engine.select.elements.element_parts import LARGEST_ROW
from kiwicha.compiler.lower.network import Layer
from kiwicha.contract.engine import MAX_U16
from kiwicha.contract.program import Kernel

__all__ = ["has_long_rows", "is_too_long", "upright"]

_WINDOW_KERNELS = frozenset({
    *(Kernel.CONV, Kernel.DEPTHWISE_CONV, Kernel.TRANSPOSE_CONV),
    *(Kernel.SHORT_CONV, Kernel.SHORT_DEPTHWISE_CONV),
    *(Kernel.AVERAGE_POOL, Kernel.MAX_POOL),
})
_FIELDS = (
    ("input_height", "input_width"),
    ("output_height", "output_width"),
    ("kernel_height", "kernel_width"),
    ("stride_height", "stride_width"),
    ("dilation_height", "dilation_width"),
    ("pad_top", "pad_left"),
)
"""Of rows, and of columns."""
_LONG = 4
"""Such a part of the longest row is long: other tensors and stripes are beside it."""


def upright(layer: Layer) -> Layer | None:
    """Return a layer with short rows; None if its rows are not what makes it large.

    Parameters
    ----------
    layer : Layer
        With windows; its images have one row, or its windows are single pixels.
    """
    p: Any = layer.params
    if layer.kernel not in _WINDOW_KERNELS or p.input_width == 1:
        return None
    names = [pair for pair in _FIELDS if hasattr(p, pair[0])]
    if p.input_height == p.output_height == p.kernel_height == 1 and p.pad_top == 0:
        turned = {row: getattr(p, column) for row, column in names}
        turned |= {column: getattr(p, row) for row, column in names}
        return dataclasses.replace(layer, params=dataclasses.replace(p, **turned))
    is_pixel = p.kernel_height == p.kernel_width == 1 and p.pad_top == p.pad_left == 0
    if is_pixel and p.stride_height == p.stride_width == 1:
        pixels = p.input_height * p.input_width
        sizes = {"input_height": pixels, "input_width": 1}
        sizes |= {"output_height": pixels, "output_width": 1}
        return dataclasses.replace(layer, params=dataclasses.replace(p, **sizes))
    return None


def is_too_long(layer: Layer) -> bool:
    """Whether a job cannot step over rows of a layer's input."""
    return _row_bytes(layer) > MAX_U16


def has_long_rows(layer: Layer) -> bool:
    """Whether there may be no room for rows of a layer's input, which are its images."""
    return layer.params.input_height == 1 and _row_bytes(layer) * _LONG > LARGEST_ROW


def _row_bytes(layer: Layer) -> int:
    p: Any = layer.params
    channels: int = p.input_channels if hasattr(p, "input_channels") else p.channels
    return int(p.input_width) * padded(channels)

"""Layers of windows for the engine, of which every number fits its field."""

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.engine.ir.layers import EngineLayer, Window, padded, segment_shape
from kiwicha.compiler.optimize.ranges import (
    NARROW_BITS,
    fold_constant_channels,
    is_narrow,
    largest_sum,
    sum_range,
)
from kiwicha.contract.engine import (
    GROUP_WORDS,
    MAX_DEPTHWISE_COLUMNS,
    MAX_KERNEL_ROWS,
    JobFlag,
    JobKind,
)
from kiwicha.program.weight_streams import Parameters

__all__ = ["checked", "fits_fields"]

_MAX_U8 = 2**8 - 1
_MAX_U16 = 2**16 - 1
_MAX_OFFSET = 2**15
_HALF_CHAIN = 4
_NO_TABLES = np.zeros((0, 2), np.int32)


def checked(
    position: int,
    kind: JobKind,
    stored: tuple[int, ...],
    window: Window,
    weights: NDArray[np.int16],
    parameters: Parameters,
    offsets: tuple[int, int, int, int],
    weight_zero_point: int = 0,
) -> EngineLayer | None:
    """Return the layer if every number fits its field and the sums their registers.

    Parameters
    ----------
    position : int
        Of the layer.
    kind : JobKind
        CONV or DEPTHWISE.
    stored : tuple of int
        Tensors it reads and, last, the one it writes.
    window : Window
        Geometry.
    weights : int16
        What is multiplied: [O, H, W, I] or [H, W, C].
    parameters : Parameters
        Of the output channels.
    offsets : tuple of int
        Zero point of the input and of the output, smallest and largest output.
    weight_zero_point : int
        What brings the weights into int8, if they are not.
    """
    input_zero_point, output_zero_point, *clamp = offsets
    is_conv = kind is JobKind.CONV
    channels = weights.shape[0] if is_conv else weights.shape[2]
    flat = weights.reshape(channels, -1) if is_conv else weights.reshape(-1, channels).T
    if not fits_fields(window, channels) or not (
        _fits_conv(window)
        if is_conv
        else _fits_depthwise(window)
        and largest_sum(flat, input_zero_point) < 1 << (NARROW_BITS - 1)
    ):
        return None
    has_equal_columns = window.kernel_columns % window.stride_columns == 0
    flags = JobFlag(0)
    if not is_conv and has_equal_columns and (weights == 1).all():
        flags |= JobFlag.ONES
    else:
        flat, parameters = fold_constant_channels(
            flat, parameters, input_zero_point, output_zero_point, (clamp[0], clamp[1])
        )
        folded = flat if is_conv else flat.T
        weights = np.ascontiguousarray(folded).reshape(weights.shape)
    if not is_conv and window.slots > _HALF_CHAIN:
        flags |= JobFlag.TAPS_8
    if not is_narrow(sum_range(flat, parameters.bias, input_zero_point), parameters.shift):
        flags |= JobFlag.WIDE
    return EngineLayer(
        position,
        kind,
        flags,
        stored[:-1],
        stored[-1],
        window,
        channels,
        parameters,
        input_zero_point,
        output_zero_point,
        (clamp[0], clamp[1]),
        weights,
        _NO_TABLES,
        weight_zero_point=0 if _are_int8(weights) else weight_zero_point,
    )


def _are_int8(values: NDArray[np.int16]) -> bool:
    return bool(values.min() >= -128 and values.max() <= 127)


def fits_fields(window: Window, channels: int) -> bool:
    """Whether the numbers that all kinds of windows share fit their fields."""
    pitch = padded(window.channels)
    return (
        window.kernel_rows <= MAX_KERNEL_ROWS
        and max(window.stride_rows, window.stride_columns, window.dilation_rows) <= _MAX_U8
        and window.input_columns * pitch <= _MAX_U16
        and max(window.stride_columns, window.dilation_columns) * pitch <= _MAX_U16
        and padded(channels) <= _MAX_U16
        and window.pad_left * pitch <= _MAX_OFFSET
        and window.pad_top * window.input_columns * pitch <= 1 << 18
    )


def _fits_conv(window: Window) -> bool:
    segments, words = segment_shape(window, padded(window.channels))
    return segments <= _MAX_U8 and window.kernel_rows * segments * words <= GROUP_WORDS


def _fits_depthwise(window: Window) -> bool:
    return (
        (window.dilation_columns == 1 or window.kernel_columns == 1)
        and window.slots <= MAX_DEPTHWISE_COLUMNS
        and window.pad_left // window.stride_columns < window.slots
        and window.stride_columns * window.kernel_rows <= GROUP_WORDS
    )

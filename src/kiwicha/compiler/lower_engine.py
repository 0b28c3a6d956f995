"""From a `Layer` to an `EngineLayer`, where every number fits the engine."""

import math

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.engine_bounds import (
    NARROW_BITS,
    exact_division,
    fold_constant_channels,
    is_narrow,
    largest_sum,
    sum_range,
)
from kiwicha.compiler.engine_layers import EngineLayer, Window, padded, run_shape
from kiwicha.compiler.engine_tables import PAIR_KERNELS, engine_tables
from kiwicha.compiler.layers import Layer, Network, weights_of
from kiwicha.engine_packing import Parameters
from kiwicha.isa import Conv, Kernel, Mean, Pool
from kiwicha.isa_engine import (
    GROUP_WORDS,
    MAX_DEPTHWISE_COLUMNS,
    MAX_KERNEL_ROWS,
    JobFlag,
    JobKind,
)

__all__ = ["engine_layer"]

_MAX_U8 = 2**8 - 1
_MAX_U16 = 2**16 - 1
_MAX_OFFSET = 2**15
_HALF_CHAIN = 4
_NO_WEIGHTS = np.zeros(0, np.int16)
_NO_TABLES = np.zeros((0, 2), np.int32)


def engine_layer(network: Network, position: int, *, has_tables: bool = True) -> EngineLayer | None:
    """Return a layer in the engine's terms, None if the engine cannot do it.

    Parameters
    ----------
    network : Network
        The model.
    position : int
        Position of the layer.
    has_tables : bool
        The engine does ADD and TABLE.
    """
    layer = network.layers[position]
    if layer.more or layer.ranges:
        return None
    if layer.kernel in {Kernel.CONV, Kernel.DEPTHWISE_CONV, Kernel.FULLY_CONNECTED}:
        return _window_layer(network, position)
    if layer.kernel is Kernel.AVERAGE_POOL:
        return _average_pool(network, position)
    if layer.kernel is Kernel.MEAN:
        return _mean(network, position)
    if layer.kernel in {*PAIR_KERNELS, Kernel.LOOKUP} and has_tables:
        return _table_layer(network, position)
    return None


def _stored(network: Network, layer: Layer, *names: str) -> tuple[int, ...] | None:
    """Return the tensors behind some references, None if one is a constant."""
    tensors = [network.storage(layer.tensors[name]) for name in names]
    return None if any(t.is_constant for t in tensors) else tuple(t.index for t in tensors)


def _window_layer(network: Network, position: int) -> EngineLayer | None:
    layer = network.layers[position]
    p: Conv = layer.params
    stored = _stored(network, layer, "input", "output")
    is_dense = layer.kernel is Kernel.FULLY_CONNECTED
    if stored is None or (p.batches != 1 and not is_dense):
        return None
    window = Window(
        p.input_height,
        p.batches if is_dense else p.input_width,
        p.input_channels,
        p.output_height,
        p.batches if is_dense else p.output_width,
        p.kernel_height,
        p.kernel_width,
        p.stride_height,
        p.stride_width,
        p.dilation_height,
        p.dilation_width,
        p.pad_top,
        p.pad_left,
    )
    weights = weights_of(layer)
    kind = JobKind.CONV
    if layer.kernel is Kernel.DEPTHWISE_CONV and p.input_channels == 1:
        # With one input channel every output channel sees the same window: a convolution.
        weights = weights.transpose(3, 1, 2, 0)
    elif layer.kernel is Kernel.DEPTHWISE_CONV:
        if p.depth_multiplier != 1:
            return None
        kind = JobKind.DEPTHWISE
        weights = weights.reshape(p.kernel_height, p.kernel_width, p.output_channels)
    else:
        shape = (p.output_channels, p.kernel_height, p.kernel_width, p.input_channels)
        weights = weights.reshape(shape)
    parameters = Parameters(
        *(layer.constants[name].astype(np.int32) for name in ("bias", "multiplier", "shift"))
    )
    return _checked(
        position,
        kind,
        stored,
        window,
        weights,
        parameters,
        (-p.input_offset, p.output_offset, p.activation_min, p.activation_max),
        -p.weight_offset,
    )


def _average_pool(network: Network, position: int) -> EngineLayer | None:
    layer = network.layers[position]
    p: Pool = layer.params
    stored = _stored(network, layer, "input", "output")
    has_borders = (
        p.pad_top
        or p.pad_left
        or (p.output_height - 1) * p.stride_height + p.kernel_height > p.input_height
        or (p.output_width - 1) * p.stride_width + p.kernel_width > p.input_width
    )
    count = p.kernel_height * p.kernel_width
    division = None if has_borders or count > _MAX_U16 else exact_division(count, p.offset)
    if stored is None or p.batches != 1 or division is None:
        return None
    is_global = (p.kernel_height, p.kernel_width) == (p.input_height, p.input_width)
    if is_global:
        window = _reduction(count, p.channels)
    else:
        window = Window(
            p.input_height,
            p.input_width,
            p.channels,
            p.output_height,
            p.output_width,
            p.kernel_height,
            p.kernel_width,
            p.stride_height,
            p.stride_width if p.output_width > 1 else 1,
        )
    if window is None:
        return None
    offsets = (-p.offset, -p.offset, p.activation_min, p.activation_max)
    return _sums(position, stored, window, 0, division, offsets)


def _mean(network: Network, position: int) -> EngineLayer | None:
    layer = network.layers[position]
    p: Mean = layer.params
    stored = _stored(network, layer, "input", "output")
    dimensions = [
        (size, flag) for size, flag in zip(p.shape, p.is_reduced, strict=False) if size != 1
    ]
    flags = [flag for _, flag in dimensions]
    # The reduced dimensions must lie in front of the others.
    if stored is None or not any(flags) or flags != sorted(flags, reverse=True):
        return None
    count = math.prod(size for size, flag in dimensions if flag)
    window = _reduction(count, math.prod(size for size, flag in dimensions if not flag))
    if window is None:
        return None
    offsets = (-p.input_offset, p.output_offset, -128, 127)
    return _sums(position, stored, window, 0, (p.multiplier, p.shift), offsets)


def _reduction(count: int, channels: int) -> Window | None:
    """Return the window that sums ``count`` pixels to one."""
    for columns in range(1, MAX_DEPTHWISE_COLUMNS + 1):
        rows = count // columns
        if count % columns == 0 and rows <= MAX_KERNEL_ROWS:
            return Window(rows, columns, channels, 1, 1, rows, columns)
    return None


def _sums(
    position: int,
    stored: tuple[int, ...],
    window: Window,
    bias: int,
    scale: tuple[int, int],
    offsets: tuple[int, int, int, int],
) -> EngineLayer | None:
    """Return a layer that sums the pixels of windows and scales the sums."""
    channels = window.channels
    weights = np.ones((window.kernel_rows, window.kernel_columns, channels), np.int16)
    parameters = Parameters(*(np.full(channels, value, np.int32) for value in (bias, *scale)))
    return _checked(position, JobKind.DEPTHWISE, stored, window, weights, parameters, offsets)


def _checked(
    position: int,
    kind: JobKind,
    stored: tuple[int, ...],
    window: Window,
    weights: NDArray[np.int16],
    parameters: Parameters,
    offsets: tuple[int, int, int, int],
    weight_zero_point: int = 0,
) -> EngineLayer | None:
    """Return the layer if every number fits its field and the sums their registers."""
    input_zero_point, output_zero_point, *clamp = offsets
    is_conv = kind is JobKind.CONV
    channels = weights.shape[0] if is_conv else weights.shape[2]
    flat = weights.reshape(channels, -1) if is_conv else weights.reshape(-1, channels).T
    if not _fits(window, channels) or not (
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


def _fits(window: Window, channels: int) -> bool:
    """Whether the numbers that both kinds share fit their fields."""
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
    runs, words = run_shape(window, padded(window.channels))
    return runs <= _MAX_U8 and window.kernel_rows * runs * words <= GROUP_WORDS


def _fits_depthwise(window: Window) -> bool:
    return (
        (window.dilation_columns == 1 or window.kernel_columns == 1)
        and window.slots <= MAX_DEPTHWISE_COLUMNS
        and window.pad_left // window.stride_columns < window.slots
        and window.stride_columns * window.kernel_rows <= GROUP_WORDS
    )


def _table_layer(network: Network, position: int) -> EngineLayer | None:
    found = engine_tables(network, network.layers[position])
    if found is None:
        return None
    *_, rows, columns, channels = (1, 1, 1, *found.shape)
    rows *= math.prod(found.shape[:-3])
    bias = np.zeros(1, np.int32)
    multiplier, shift = (np.full(1, value, np.int32) for value in found.scale)
    return EngineLayer(
        position,
        JobKind.ADD if len(found.inputs) > 1 else JobKind.TABLE,
        JobFlag(0) if found.is_narrow else JobFlag.WIDE,
        found.inputs,
        found.output,
        Window(rows, columns, channels, rows, columns),
        channels,
        Parameters(bias, multiplier, shift),
        0,
        found.output_zero_point,
        found.clamp,
        _NO_WEIGHTS,
        found.tables,
    )

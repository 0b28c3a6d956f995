"""From a `Layer` to an `EngineLayer`, where every number fits the engine."""

import math

import numpy as np

from kiwicha.compiler.engine_bounds import exact_division
from kiwicha.compiler.engine_checks import checked
from kiwicha.compiler.engine_forms import forms
from kiwicha.compiler.engine_layers import EngineLayer, Window
from kiwicha.compiler.engine_pairs import LARGEST_ROW, pair_layer, pixel_rows
from kiwicha.compiler.engine_tables import PAIR_KERNELS, engine_tables
from kiwicha.compiler.layers import Layer, Network, weights_of
from kiwicha.engine_packing import Parameters
from kiwicha.isa import Conv, Elementwise, Kernel, Mean, Pool
from kiwicha.isa_engine import MAX_DEPTHWISE_COLUMNS, MAX_KERNEL_ROWS, JobFlag, JobKind

__all__ = ["engine_layer"]

_MAX_U16 = 2**16 - 1
_NO_WEIGHTS = np.zeros(0, np.int16)


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
    found = None
    if layer.kernel in {*PAIR_KERNELS, Kernel.LOOKUP} and has_tables:
        found = _table_layer(network, position) or pair_layer(network, position)
    if found is None and layer.kernel is Kernel.MUL:
        found = _channel_product(network, position)
    return found


def _stored(network: Network, layer: Layer, *names: str) -> tuple[int, ...] | None:
    """Return the tensors behind some references, None if one is a constant."""
    tensors = [network.storage(layer.tensors[name]) for name in names]
    return None if any(t.is_constant for t in tensors) else tuple(t.index for t in tensors)


def _window_layer(network: Network, position: int) -> EngineLayer | None:
    layer = network.layers[position]
    p: Conv = layer.params
    stored = _stored(network, layer, "input", "output")
    is_dense = layer.kernel is Kernel.FULLY_CONNECTED
    if stored is None:
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
    if not is_dense:
        window = window.repeated(p.batches)
    parameters = Parameters(
        *(layer.constants[name].astype(np.int32) for name in ("bias", "multiplier", "shift"))
    )
    offsets = (-p.input_offset, p.output_offset, p.activation_min, p.activation_max)
    found = (
        checked(position, kind, stored, form, weights, parameters, offsets, -p.weight_offset)
        for kind, form, weights in forms(layer, window, weights_of(layer))
    )
    return next((item for item in found if item is not None), None)


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
    if stored is None or division is None:
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
    return _sums(position, stored, window.repeated(p.batches), 0, division, offsets)


def _mean(network: Network, position: int) -> EngineLayer | None:
    layer = network.layers[position]
    p: Mean = layer.params
    stored = _stored(network, layer, "input", "output")
    dimensions = [
        (size, flag) for size, flag in zip(p.shape, p.is_reduced, strict=False) if size != 1
    ]
    images = 1
    # Leading dimensions are images, if there are channels behind the reduced ones.
    while dimensions and not dimensions[0][1] and not dimensions[-1][1]:
        images *= dimensions.pop(0)[0]
    flags = [flag for _, flag in dimensions]
    # The reduced dimensions must lie in front of the others.
    if stored is None or not any(flags) or flags != sorted(flags, reverse=True):
        return None
    count = math.prod(size for size, flag in dimensions if flag)
    window = _reduction(count, math.prod(size for size, flag in dimensions if not flag))
    if window is None:
        return None
    offsets = (-p.input_offset, p.output_offset, -128, 127)
    return _sums(position, stored, window.repeated(images), 0, (p.multiplier, p.shift), offsets)


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
    return checked(position, JobKind.DEPTHWISE, stored, window, weights, parameters, offsets)


def _channel_product(network: Network, position: int) -> EngineLayer | None:
    """Return a MUL by a constant for each channel, which is a depthwise layer of 1x1 kernels."""
    layer = network.layers[position]
    p: Elementwise = layer.params
    operands = {"input_1": (p.offset_1, p.strides_1), "input_2": (p.offset_2, p.strides_2)}
    constants = [n for n in operands if network.storage(layer.tensors[n]).is_constant]
    if len(constants) != 1:
        return None
    (variable,) = operands.keys() - constants
    source = network.storage(layer.tensors[variable])
    values = network.storage(layer.tensors[constants[0]]).int8s().reshape(-1)
    offset, strides = operands[constants[0]]
    *outer, columns, channels = p.shape
    is_repeated = all(
        size == 1 or not stride for size, stride in zip(p.shape[:-1], strides, strict=False)
    )
    if not is_repeated or len(values) != channels or source.elements != math.prod(p.shape):
        return None
    rows = math.prod(outer)
    scale = p.output_multiplier, p.output_shift
    return checked(
        position,
        JobKind.DEPTHWISE,
        (source.index, network.storage(layer.tensors["output"]).index),
        Window(rows, columns, channels, rows, columns),
        (values.astype(np.int16) + np.int16(offset)).reshape(1, 1, channels),
        Parameters(*(np.full(channels, value, np.int32) for value in (0, *scale))),
        (-operands[variable][0], p.output_offset, p.activation_min, p.activation_max),
        -offset,
    )


def _table_layer(network: Network, position: int) -> EngineLayer | None:
    found = engine_tables(network, network.layers[position])
    if found is None:
        return None
    rows, columns, channels = pixel_rows(found.shape)
    if rows == 1 and columns * channels > LARGEST_ROW:
        rows, columns = columns, 1  # rows can be cut into stripes
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

"""From a `Layer` to an `EngineLayer`, where every number fits the engine."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from kiwicha.compiler.engine.ir.checks import checked
from kiwicha.compiler.engine.ir.layers import EngineLayer, Window
from kiwicha.compiler.engine.select.elementwise import LARGEST_ROW, pair_layer, pixel_rows
from kiwicha.compiler.engine.select.forms import forms
from kiwicha.compiler.engine.select.pools import average_pool, max_pool, mean
from kiwicha.compiler.lower.network import Layer, Network, weights_of
from kiwicha.compiler.optimize.byte_tables import PAIR_KERNELS, engine_tables
from kiwicha.contract.engine import JobFlag, JobKind
from kiwicha.contract.program import Kernel
from kiwicha.kernels.conv import Conv
from kiwicha.kernels.elementwise import Elementwise
from kiwicha.program.weight_streams import Parameters

__all__ = ["WindowCall", "engine_layer", "window_call", "window_of"]

_NO_WEIGHTS = np.zeros(0, np.int16)

_POOLS: dict[Kernel, Callable[[Any, int, tuple[int, ...]], EngineLayer | None]] = {
    Kernel.AVERAGE_POOL: average_pool,
    Kernel.MAX_POOL: max_pool,
    Kernel.MEAN: mean,
}


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
    if layer.kernel in _POOLS:
        stored = _stored(network, layer, "input", "output")
        return None if stored is None else _POOLS[layer.kernel](layer.params, position, stored)
    found = None
    if layer.kernel in {*PAIR_KERNELS, Kernel.LOOKUP} and has_tables:
        found = _table_layer(network, position) or pair_layer(network, position)
    if found is None and layer.kernel is Kernel.MUL:
        found = _channel_product(network, position)
    return found


def _stored(network: Network, layer: Layer, *names: str) -> tuple[int, ...] | None:
    """Return the tensors behind some references, None if one is a constant."""
    tensors = [network.tensors[layer.tensors[name]] for name in names]
    return None if any(t.is_constant for t in tensors) else tuple(t.index for t in tensors)


@dataclass(frozen=True, eq=False)
class WindowCall:
    """What a layer with weights is for the engine, but for its weights.

    Parameters
    ----------
    stored : tuple of int
        Tensors it reads and, last, the one it writes.
    window : Window
        Geometry.
    parameters : Parameters
        Of the output channels.
    offsets : tuple of int
        Zero point of the input and of the output, smallest and largest output.
    weight_zero_point : int
        What brings the weights into int8, if they are not.
    """

    stored: tuple[int, ...]
    window: Window
    parameters: Parameters
    offsets: tuple[int, int, int, int]
    weight_zero_point: int


def window_call(network: Network, position: int) -> WindowCall | None:
    """Return what a layer with weights is for the engine, None if an operand is a constant."""
    layer = network.layers[position]
    p: Conv = layer.params
    stored = _stored(network, layer, "input", "output")
    if stored is None:
        return None
    parameters = Parameters(
        *(layer.constants[name].astype(np.int32) for name in ("bias", "multiplier", "shift"))
    )
    offsets = (-p.input_offset, p.output_offset, p.activation_min, p.activation_max)
    return WindowCall(stored, window_of(layer), parameters, offsets, -p.weight_offset)


def _window_layer(network: Network, position: int) -> EngineLayer | None:
    layer, call = network.layers[position], window_call(network, position)
    if call is None:
        return None
    rest = call.parameters, call.offsets, call.weight_zero_point
    found = (
        checked(position, kind, call.stored, form, weights, *rest)
        for kind, form, weights in forms(layer, call.window, weights_of(layer))
    )
    return next((item for item in found if item is not None), None)


def window_of(layer: Layer) -> Window:
    """Return the geometry of a CONV, DEPTHWISE_CONV or FULLY_CONNECTED, of all its images."""
    p: Conv = layer.params
    is_dense = layer.kernel is Kernel.FULLY_CONNECTED
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
    return window if is_dense else window.repeated(p.batches)


def _channel_product(network: Network, position: int) -> EngineLayer | None:
    """Return a MUL by a constant for each channel, which is a depthwise layer of 1x1 kernels."""
    layer = network.layers[position]
    p: Elementwise = layer.params
    operands = {"input_1": (p.offset_1, p.strides_1), "input_2": (p.offset_2, p.strides_2)}
    constants = [n for n in operands if network.tensors[layer.tensors[n]].is_constant]
    if len(constants) != 1:
        return None
    (variable,) = operands.keys() - constants
    source = network.tensors[layer.tensors[variable]]
    values = network.tensors[layer.tensors[constants[0]]].int8s().reshape(-1)
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
        (source.index, layer.tensors["output"]),
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

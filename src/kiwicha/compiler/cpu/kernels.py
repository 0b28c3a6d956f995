"""From a `Network` to `Tile`s: the kernel and its blocking for one configuration."""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kiwicha.compiler.cpu.costs import cpu_cycles
from kiwicha.compiler.engine.codegen.weight_coding import with_coded_streams
from kiwicha.compiler.engine.schedule.schedule import Schedule
from kiwicha.compiler.engine.select.partition import partition
from kiwicha.compiler.lower.network import Layer, Network, Values
from kiwicha.compiler.tflite.shapes import is_plain
from kiwicha.contract.cfu import PIXELS, Config
from kiwicha.contract.engine import EngineCall
from kiwicha.contract.goal import Goal
from kiwicha.contract.layout import Ref
from kiwicha.contract.program import KERNEL_PARAMS, Conv, Kernel, ResizeBilinear, Where
from kiwicha.errors import CapacityError
from kiwicha.program.image import Step
from kiwicha.program.kernel_weights import WORD_BYTES, pack_conv, pack_depthwise, padded_channels

__all__ = ["Tile", "tile"]

DOT_TILE_BYTES = 3584
"""Activations and weights of one pass of a 1x1 convolution: what stays in a data cache of 4 KiB."""
WINDOW_TILE_BYTES = 3072
"""The same for a convolution that copies its windows, which also reads the input meanwhile."""
MAX_DOT_PIXELS = 256
MAX_WINDOW_PIXELS = 64


@dataclass(frozen=True, eq=False)
class Tile:
    """One kernel call.

    Parameters
    ----------
    layer : int
        Position of the layer it belongs to.
    kernel : Kernel
        What is called.
    params : Struct
        Its parameters, all references still empty.
    tensors : mapping of str to int
        Reference fields of ``params`` that hold tensors of the graph.
    constants : mapping of str to array
        Reference fields of ``params`` that hold constants, in the order the kernel wants.
    scratch_bytes : int
        Working memory.
    ranges : mapping of str to (int, int)
        Of tensors that are not meant as a whole: first byte and number of bytes.
    schedule : Schedule or None
        What the engine does, for a step of the engine; ``layer`` is then its first layer.
    """

    layer: int
    kernel: Kernel
    params: Any
    tensors: Mapping[str, int]
    constants: Mapping[str, Values]
    scratch_bytes: int = 0
    ranges: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    schedule: Schedule | None = None

    @property
    def layers(self) -> tuple[int, ...]:
        """Positions of all layers that the call computes."""
        if self.schedule is None:
            return (self.layer,)
        return self.schedule.run.positions


def tile(
    network: Network, config: Config, *, has_tables: bool = False, goal: Goal = Goal.CYCLES
) -> tuple[Tile, ...]:
    """Return the kernel calls of a model, in order of execution.

    Parameters
    ----------
    network : Network
        The model.
    config : Config
        What it will run on.
    has_tables : bool
        The engine does element-wise jobs.
    goal : Goal
        What counts first where weights can be coded.

    Raises
    ------
    CapacityError
        If an operator is not in the configuration's firmware.
    """

    def on_cpu(position: int) -> int:
        calls = network.layers[position].calls
        steps = (_tile(position, call, config) for call in calls)
        return sum(cpu_cycles(Step(step.kernel, position, step.params)) for step in steps)

    found: list[Schedule] = []
    if config.engine_macs:
        found = partition(network, config, has_tables=has_tables, cpu_cycles=on_cpu)
    schedules = [
        with_coded_streams(item, config.engine_macs, goal, config.requantizer_cycles)
        if config.has_codec
        else item
        for item in found
    ]
    first_layers = {item.run.layers[0].position: item for item in schedules}
    on_engine = {position for item in schedules for position in item.run.positions}
    tiles = []
    for position, layer in enumerate(network.layers):
        if position in first_layers:
            tiles.append(_engine_tile(position, first_layers[position], config))
        elif position not in on_engine:
            _require_room(layer, config)
            tiles += [_tile(position, call, config) for call in layer.calls]
    _verify(tiles, config)
    return tuple(tiles)


def _require_room(layer: Layer, config: Config) -> None:
    """Refuse what a configuration's firmware leaves out."""
    is_float = isinstance(layer.params, ResizeBilinear) and layer.params.is_float
    if is_float and not config.has_float_interpolation:
        raise CapacityError(
            f"operator {layer.operator} {layer.name} must be compiled for baseline or an engine, "
            f"not for {config.name}, whose firmware has no room for weights in float32"
        )


def _engine_tile(position: int, schedule: Schedule, config: Config) -> Tile:
    return Tile(
        position,
        Kernel.ENGINE,
        EngineCall(
            image=Ref(),
            job_count=len(schedule.jobs),
            transfer_count=len(schedule.transfers),
            macs=config.engine_macs,
            scratchpad_bytes=config.scratchpad_bytes,
            overlapped_steps=0,
        ),
        {f"arena {tensor}": tensor for tensor in schedule.arena_tensors},
        {},
        schedule=schedule,
    )


def _verify(tiles: Sequence[Tile], config: Config) -> None:
    for item in tiles:
        assert isinstance(item.params, KERNEL_PARAMS[item.kernel])
        assert config.has_simd or item.kernel.where is not Where.SIMD
        assert config.engine_macs or item.kernel.where is not Where.ENGINE


def _tile(position: int, layer: Layer, config: Config) -> Tile:
    assert layer.kernel is not None
    item = Tile(
        position,
        layer.kernel,
        layer.params,
        layer.tensors,
        layer.constants,
        ranges=layer.ranges,
    )
    if not config.has_simd:
        return item
    if layer.kernel is Kernel.DEPTHWISE_CONV:
        return _tile_depthwise(item)
    if layer.kernel in {Kernel.CONV, Kernel.FULLY_CONNECTED}:
        return _tile_dot(item)
    if layer.kernel is Kernel.ADD and is_plain(item.params):
        return dataclasses.replace(item, kernel=Kernel.SIMD_ADD)
    if layer.kernel is Kernel.MAX_POOL and item.params.channels % WORD_BYTES == 0:
        return dataclasses.replace(item, kernel=Kernel.SIMD_MAX_POOL)
    return item


def _tile_depthwise(item: Tile) -> Tile:
    params: Conv = item.params
    if params.input_channels == 1:
        # With one input channel every output channel sees the same window: a convolution.
        weights = np.ascontiguousarray(item.constants["weights"].transpose(3, 1, 2, 0))
        return _tile_dot(
            dataclasses.replace(
                item,
                kernel=Kernel.CONV,
                params=dataclasses.replace(params, depth_multiplier=1),
                constants={**item.constants, "weights": weights},
            )
        )
    if params.depth_multiplier != 1 or params.input_channels % WORD_BYTES:
        return item
    if params.weight_offset > np.iinfo(np.int8).max:
        return item  # It is a weight, too.
    packed = pack_depthwise(item.constants["weights"].astype(np.int8, copy=False))
    return dataclasses.replace(
        item,
        kernel=Kernel.SIMD_DEPTHWISE_CONV,
        constants=_padded(item, packed),
    )


def _tile_dot(item: Tile) -> Tile:
    """Choose the kernel of a convolution or fully connected layer."""
    params: Conv = item.params
    window = params.kernel_height * params.kernel_width * params.input_channels
    is_aligned = params.input_channels % WORD_BYTES == 0
    scratch_bytes = 0
    if is_aligned and item.kernel is Kernel.FULLY_CONNECTED:
        kernel, pixels = Kernel.SIMD_FULLY_CONNECTED, _dot_pixels(params, window)
    elif is_aligned and _is_pointwise(params):
        kernel, pixels = Kernel.SIMD_CONV_1X1, _dot_pixels(params, window)
    else:
        kernel, pixels = Kernel.SIMD_CONV, _window_pixels(params, window)
        scratch_bytes = pixels * WORD_BYTES * -(-window // WORD_BYTES)
    packed = pack_conv(item.constants["weights"].astype(np.int8, copy=False))
    return dataclasses.replace(
        item,
        kernel=kernel,
        params=dataclasses.replace(params, tile_pixels=pixels),
        constants=_padded(item, packed),
        scratch_bytes=scratch_bytes,
    )


def _is_pointwise(params: Conv) -> bool:
    return (
        params.kernel_height == params.kernel_width == 1
        and params.stride_height == params.stride_width == 1
        and params.pad_top == params.pad_left == 0
        and params.output_height == params.input_height
        and params.output_width == params.input_width
    )


def _dot_pixels(params: Conv, window: int) -> int:
    """Return the pixels of which a pass over all weights keeps the activations in the cache."""
    total = params.batches * params.output_height * params.output_width
    fitting = (DOT_TILE_BYTES - PIXELS * window) // window
    most = MAX_WINDOW_PIXELS if params.weight_offset else MAX_DOT_PIXELS
    return max(PIXELS, min(_floor(fitting), most, -(-total // PIXELS) * PIXELS))


def _window_pixels(params: Conv, window: int) -> int:
    weight_bytes = PIXELS * window
    if params.input_channels % WORD_BYTES or params.dilation_width != 1:
        copied = WORD_BYTES * -(-window // WORD_BYTES)
        return max(
            PIXELS, min(_floor((WINDOW_TILE_BYTES - weight_bytes) // copied), MAX_WINDOW_PIXELS)
        )
    fitting = [
        pixels
        for pixels in range(PIXELS, MAX_WINDOW_PIXELS + 1, PIXELS)
        if _input_bytes(params, pixels) + weight_bytes <= DOT_TILE_BYTES
    ]
    return max(fitting, default=PIXELS)


def _input_bytes(params: Conv, pixels: int) -> int:
    """Return the input bytes that the windows of ``pixels`` neighbouring outputs touch."""
    if pixels <= params.output_width:
        columns = pixels * params.stride_width + params.kernel_width
        return params.kernel_height * columns * params.input_channels
    rows = math.ceil(pixels / params.output_width) * params.stride_height + params.kernel_height
    return rows * params.input_width * params.input_channels


def _floor(pixels: int) -> int:
    return pixels // PIXELS * PIXELS


def _padded(item: Tile, weights: Values) -> dict[str, Values]:
    """Return the constants with packed weights, and whole groups of channels in the others."""
    constants = {"weights": weights}
    for name in ("bias", "multiplier", "shift"):
        values = item.constants[name]
        missing = padded_channels(len(values)) - len(values)
        constants[name] = np.concatenate([values, np.zeros(missing, values.dtype)])
    return constants

"""Random engine jobs with results of 16 bits: of both bytes of int16, one convolution each."""

import dataclasses
from functools import partial

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.engine import (
    MAX_KEPT_SUMS,
    OUTPUT_BYTES,
    EngineJob,
    JobFlag,
    JobKind,
    SumFlag,
)
from kiwicha.numerics import requantization as numerics
from tests.gateware.engine.random_jobs import input_of, random_layer
from tests.gateware.engine.window_jobs import Layer, fills, job_of, layer_sums
from tests.gateware.engine.works import Bytes, Ints, Work, places

__all__ = ["short_series"]

_LOWEST = -128
"""Zero point of lower bytes, which have no sign."""


def short_series(
    rng: np.random.Generator, macs: int, kind: JobKind, memory_bytes: int
) -> list[Work]:
    """Return the jobs of a layer of int16, whose bytes lie apart: of lower bytes, then of upper."""
    is_depthwise = kind == JobKind.DEPTHWISE
    while True:
        layer = random_layer(rng, macs, is_depthwise=is_depthwise)
        if layer is None or layer.is_ones:
            continue
        layer, distance = _with_lowers(rng, layer)
        pixels = layer.output_rows * layer.output_columns
        input_bytes = layer.rows * layer.columns * layer.input_pitch
        output_bytes = layer.output_bytes + abs(distance)
        has_room = 2 * input_bytes + output_bytes <= memory_bytes - 80
        if has_room and pixels * layer.groups * layer.group_channels <= MAX_KEPT_SUMS:
            break
    lower, upper, target = places(rng, [input_bytes, input_bytes, output_bytes], memory_bytes - 8)
    target = range(target.start // OUTPUT_BYTES * OUTPUT_BYTES, target.stop)
    first = target.start + max(-distance, 0)
    layers = [
        dataclasses.replace(layer, input_zero_point=zero_point, is_wide=is_last)
        for is_last, zero_point in ((False, _LOWEST), (True, 0))
    ]
    jobs = [
        job_of(part, source.start, first)
        for part, source in zip(layers, (lower, upper), strict=True)
    ]
    jobs[0] = _changed(jobs[0], JobFlag.LOWER, sums=SumFlag.KEEP)
    sums = SumFlag.CONTINUE | SumFlag.SHIFTED
    jobs[1] = _changed(jobs[1], JobFlag.SHORT, sums=sums, input_2_address=distance % 2**32)
    kept: list[Ints] = []
    return [
        Work(jobs[0], fills(layers[0]), [lower], range(0), partial(_keep, kept, layers[0], lower)),
        Work(
            jobs[1],
            fills(layers[1]),
            [upper],
            range(target.start, target.start + output_bytes),
            partial(_finish, kept, layers[1], upper, first, distance),
        ),
    ]


def _changed(job: EngineJob, flags: JobFlag, **fields: int) -> EngineJob:
    return dataclasses.replace(job, flags=JobFlag(job.flags) | flags, output_zero_point=0, **fields)


def _with_lowers(rng: np.random.Generator, layer: Layer) -> tuple[Layer, int]:
    """Return a layer with room for lower bytes in each pixel or behind all, and where they lie."""
    size = -(-layer.channels // OUTPUT_BYTES) * OUTPUT_BYTES
    axes = (1, 2) if layer.is_depthwise else (1, 2, 3)
    sizes = np.abs(layer.weights - layer.weight_zero_point).sum(axis=axes).reshape(-1)
    scales = rng.uniform(0.5, 8, len(sizes)) / (sizes + 1)
    scaled = [numerics.quantize_multiplier(float(scale)) for scale in scales]
    multiplier, shift = (np.array(column, np.int64) for column in zip(*scaled, strict=True))
    if rng.integers(2):
        # Scales of sums of 64 bits: 15 bits, rounded once.
        multiplier = np.minimum((multiplier + (1 << 15)) >> 16, 2**15 - 1) << (16 + shift).clip(0)
        shift = np.zeros_like(shift)
    bias = rng.integers(-(2**24), 2**24, len(sizes))
    pitch = layer.output_pitch
    if rng.integers(2):
        pitch, distance = 2 * size + OUTPUT_BYTES * int(rng.integers(2)), size
    else:
        distance = layer.output_bytes
    # Upper bytes come before lower ones or behind them.
    distance *= int(rng.choice((-1, 1)))
    layer = dataclasses.replace(
        layer,
        output_pitch=pitch,
        parameters=np.array([bias, multiplier, shift]),
        clamp=(int(rng.choice((-128, -128, 0, -20))), int(rng.choice((127, 127, 50)))),
    )
    return layer, distance


def _keep(kept: list[Ints], layer: Layer, source: range, memory: Bytes) -> None:
    octets = input_of(layer, source, memory)
    kept[:] = [layer_sums(layer, (octets & 0xFF) - 128) + layer.parameters[0]]


def _finish(
    kept: list[Ints], layer: Layer, source: range, first: int, distance: int, memory: Bytes
) -> None:
    sums = kept[0] + 256 * layer_sums(layer, input_of(layer, source, memory))
    _, multiplier, shift = layer.parameters
    values = numerics.requantize_to_shorts(
        numerics.wrap_int32(sums), multiplier, shift, *layer.clamp
    )
    # Channels behind the last one have weights and parameters of 0.
    unit = min(layer.outputs, OUTPUT_BYTES)
    behind = -layer.channels % unit
    nothing = np.clip(0, 256 * layer.clamp[0], 256 * layer.clamp[1] + 255)
    pixels = np.pad(values, ((0, 0), (0, 0), (0, behind)), constant_values=int(nothing))
    for number, pixel in enumerate(pixels.reshape(-1, pixels.shape[2])):
        place = first + number * layer.output_pitch + number // values.shape[1] * layer.output_gap
        _write(memory, place, pixel >> 8)
        _write(memory, place + distance, pixel)


def _write(memory: Bytes, place: int, values: NDArray[np.int64]) -> None:
    memory[place : place + len(values)] = (values & 0xFF).astype(np.uint8)

"""Random series of engine jobs: each adds to sums that the one before it has left."""

import dataclasses
from functools import partial

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.engine import BLOCK_KINDS, ELEMENT_KINDS, MAX_KEPT_SUMS, JobKind, SumFlag
from tests.gateware.engine.fused_jobs import random_fused
from tests.gateware.engine.random_elements import element_series
from tests.gateware.engine.random_jobs import (
    input_of,
    packable_weights,
    random_layer,
    random_parameters,
    random_weights,
    random_work,
    write,
)
from tests.gateware.engine.short_jobs import short_series
from tests.gateware.engine.window_jobs import Layer, expected_output, fills, job_of, layer_sums
from tests.gateware.engine.works import Bytes, Ints, Work, places

__all__ = ["random_series", "random_works"]

_SERIES = 3
"""One of so many jobs of windows, or of elements, is a series, and one of so many ADD jobs is for a
job of windows."""


def random_works(
    rng: np.random.Generator,
    macs: int,
    kind: JobKind,
    memory_bytes: int,
    *,
    has_fused: bool = True,
    has_int16: bool = False,
) -> list[Work]:
    """Return a job of that kind, as `random_work` does, or a series that belongs together.

    Parameters
    ----------
    rng : numpy.random.Generator
    macs, memory_bytes : int
        Products per cycle, and bytes of the scratchpad.
    kind : JobKind
        Of the first job.
    has_fused : bool
        Whether the engine adds behind convolutions.
    has_int16 : bool
        Whether it has jobs of int16: then half of the layers with weights are of these.
    """
    if has_int16 and kind in BLOCK_KINDS and rng.integers(2):
        return short_series(rng, macs, kind, memory_bytes)
    if kind in {JobKind.CONV, JobKind.DEPTHWISE} and rng.integers(_SERIES) == 0:
        return random_series(rng, macs, kind, memory_bytes)
    if kind == JobKind.ADD and has_fused and rng.integers(_SERIES) == 0:
        return random_fused(rng, macs, memory_bytes)
    if kind in ELEMENT_KINDS and rng.integers(_SERIES) == 0:
        return element_series(rng, macs, memory_bytes)
    return [random_work(rng, macs, kind, memory_bytes)]


def random_series(
    rng: np.random.Generator, macs: int, kind: JobKind, memory_bytes: int
) -> list[Work]:
    """Return jobs on tensors of the same size, whose sums together are an output."""
    count = int(rng.integers(2, 4))
    while True:
        layer = random_layer(rng, macs, is_depthwise=kind == JobKind.DEPTHWISE)
        if layer is None or layer.is_ones:
            continue
        pixels = layer.output_rows * layer.output_columns
        input_bytes = layer.rows * layer.columns * layer.input_pitch
        output_bytes = layer.output_bytes
        has_room = count * input_bytes + output_bytes <= memory_bytes - 64 - 8 * count
        if has_room and pixels * layer.groups * layer.group_channels <= MAX_KEPT_SUMS:
            break
    layers = _with_other_weights(rng, layer, count)
    *sources, target = places(rng, [input_bytes] * count + [output_bytes], memory_bytes - 8)
    first = target.start // 8 * 8
    kept: list[Ints] = []
    works = []
    for number, (part, source) in enumerate(zip(layers, sources, strict=True)):
        is_last = number == count - 1
        sums = SumFlag.CONTINUE if number else SumFlag.NONE
        sums |= SumFlag.NONE if is_last else SumFlag.KEEP
        job = dataclasses.replace(job_of(part, source.start, first), sums=sums)
        change = partial(_add, kept, part, source, first if is_last else None, number)
        output = range(first, first + output_bytes) if is_last else range(0)
        works.append(Work(job, fills(part), [source], output, change))
    return works


def _with_other_weights(rng: np.random.Generator, layer: Layer, count: int) -> list[Layer]:
    """Return such layers; the parameters of the last one fit the sums of all."""
    chosen = [
        packable_weights(rng, layer.weights.shape)
        if layer.is_packed
        else random_weights(rng, layer.weights.shape)
        for _ in range(count)
    ]
    axes = (1, 2) if layer.is_depthwise else (1, 2, 3)
    sizes: NDArray[np.int64] = sum(
        (np.abs(weights - zero).sum(axis=axes).reshape(-1) for weights, zero, _ in chosen),
        np.zeros(layer.channels, np.int64),
    )
    parameters, is_wide = random_parameters(rng, sizes)
    layers = [
        dataclasses.replace(
            layer,
            weights=weights,
            weight_zero_point=zero_point,
            is_unsigned=is_unsigned,
            parameters=random_parameters(rng, sizes)[0],
            is_wide=bool(rng.integers(2)),
        )
        for weights, zero_point, is_unsigned in chosen
    ]
    # The first one's biases are those of all.
    layers[0].parameters[0] = parameters[0]
    if layer.is_packed:
        for part in layers[1:]:
            layers[0].parameters[0] -= part.products_of_zero
    layers[-1] = dataclasses.replace(layers[-1], parameters=parameters, is_wide=is_wide)
    return layers


def _add(
    kept: list[Ints], layer: Layer, source: range, target: int | None, number: int, memory: Bytes
) -> None:
    """Do what one job of a series does: ``kept`` are the sums of those before it."""
    sums = layer_sums(layer, input_of(layer, source, memory))
    if number == 0:
        kept.clear()
        sums = sums + layer.parameters[0]
    if layer.is_packed and number:
        # What the zero point adds is in the sums of packed products, and in the first bias.
        sums = sums + layer.products_of_zero
    kept.append(sums)
    if target is not None:
        total = np.sum(kept, axis=0)
        write(layer, expected_output(layer, total), target, memory)

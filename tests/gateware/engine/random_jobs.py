"""Random engine jobs with the bytes that must come of them."""

import dataclasses
import math
from functools import partial

import numpy as np

from kiwicha.contract.engine import (
    DEEP_GROUP_WORDS,
    DEEP_MACS,
    ELEMENT_KINDS,
    GROUP_WORDS,
    INPUT_LANES,
    OUTPUT_BYTES,
    PACKED_WEIGHT_LIMIT,
    TABLE_ENTRIES,
    JobKind,
    has_gathered,
    has_packed,
    outputs_of,
)
from kiwicha.numerics import requantization as numerics
from kiwicha.program.packed_weights import are_packable, is_first
from tests.gateware.engine.element_jobs import element_fills
from tests.gateware.engine.max_jobs import Pool, expected_maxima, max_fills, max_job
from tests.gateware.engine.move_jobs import move_job, random_move
from tests.gateware.engine.random_elements import element_work
from tests.gateware.engine.recurrence_jobs import recurrence_work
from tests.gateware.engine.short_element_jobs import short_element_work
from tests.gateware.engine.softmax_jobs import Softmax, random_softmax, softmax_job
from tests.gateware.engine.unit_jobs import is_for_unit, unit_fills, unit_job
from tests.gateware.engine.window_jobs import (
    Layer,
    expected_output,
    fills,
    job_of,
    layer_sums,
)
from tests.gateware.engine.works import Bytes, Ints, Work, places

__all__ = [
    "input_of",
    "packable_weights",
    "random_layer",
    "random_parameters",
    "random_weights",
    "random_work",
    "softmax_work",
    "write",
]

_CHANNELS = (1, 3, 8, 10, 12, 24)
_DENSE_CHANNELS = (2, 3, 5, 6, 7)
"""Of inputs whose segments are rarely whole words."""
_MAX_OPERATIONS = 6000
_NARROW = 2**24


def random_work(rng: np.random.Generator, macs: int, kind: JobKind, memory_bytes: int) -> Work:
    """Return a job that fits into a scratchpad of that size and takes few thousand cycles."""
    if kind in ELEMENT_KINDS:
        return element_work(rng, macs, kind, memory_bytes)
    if kind == JobKind.MAX:
        return _max_work(rng, macs, memory_bytes)
    if kind == JobKind.SOFTMAX:
        softmax = random_softmax(rng, min(memory_bytes // 4, 600))
        return softmax_work(rng, softmax, macs, memory_bytes)
    if kind in _WEIGHTLESS:
        return _WEIGHTLESS[kind](rng, memory_bytes)
    is_of_unit = kind == JobKind.DEPTHWISE_UNIT
    while True:
        is_depthwise = is_of_unit or kind == JobKind.DEPTHWISE
        layer = random_layer(rng, macs, is_depthwise=is_depthwise)
        if layer is None or (is_of_unit and not is_for_unit(layer)):
            continue
        input_bytes = layer.rows * layer.columns * layer.input_pitch
        output_bytes = layer.output_bytes
        if input_bytes + output_bytes > memory_bytes - 64:
            continue
        source, target = places(rng, [input_bytes, output_bytes], memory_bytes)
        target = range(target.start // 8 * 8, target.start // 8 * 8 + output_bytes)
        return Work(
            (unit_job if is_of_unit else job_of)(layer, source.start, target.start),
            (unit_fills if is_of_unit else fills)(layer),
            [source],
            target,
            partial(_apply_layer, layer, source, target.start),
        )


def input_of(layer: Layer, source: range, memory: Bytes) -> Ints:
    """Return the input [rows, columns, channels] of a layer."""
    x = memory[source.start : source.stop].astype(np.int8).astype(np.int64)
    x = x.reshape(layer.rows, layer.columns, layer.input_pitch)
    return x[:, :, : layer.channels if layer.is_depthwise else layer.weights.shape[3]]


def _apply_layer(layer: Layer, source: range, target: int, memory: Bytes) -> None:
    sums = layer_sums(layer, input_of(layer, source, memory)) + layer.parameters[0]
    write(layer, expected_output(layer, sums), target, memory)


def write(layer: Layer | Pool, values: Ints, target: int, memory: Bytes) -> None:
    """Write an output [rows, columns, channels], and what comes behind its last channel."""
    # Channels behind the last one, up to a whole beat or eight, have weights and parameters of 0.
    unit = min(layer.outputs, OUTPUT_BYTES)
    beats = -(-layer.channels // unit)
    nothing = min(max(layer.output_zero_point, layer.clamp[0]), layer.clamp[1])
    pixels = np.full((*values.shape[:2], beats * unit), nothing)
    pixels[:, :, : layer.channels] = values
    gap = layer.output_gap if isinstance(layer, Layer) else 0
    for number, pixel in enumerate(pixels.reshape(-1, pixels.shape[2])):
        first = target + number * layer.output_pitch + number // values.shape[1] * gap
        memory[first : first + len(pixel)] = pixel.astype(np.int8).view(np.uint8)


def _move_work(rng: np.random.Generator, memory_bytes: int) -> Work:
    """Return a MOVE."""
    while True:
        move = random_move(rng)
        spans = move.spans()
        if sum(len(span) + 8 for span in spans) <= memory_bytes:
            break
    found = places(rng, [len(span) for span in spans], memory_bytes)
    source, target = (place.start - span.start for place, span in zip(found, spans, strict=True))
    return Work(
        move_job(move, source, target),
        [],
        [found[0]],
        found[1],
        lambda memory: move.apply(memory, source, target),
        move,
    )


_WEIGHTLESS = {
    JobKind.MOVE: _move_work,
    JobKind.RECURRENT: recurrence_work,
    JobKind.SHORT_ELEMENTS: short_element_work,
}
"""Jobs without a weight stream."""


def softmax_work(rng: np.random.Generator, softmax: Softmax, macs: int, memory_bytes: int) -> Work:
    """Return a SOFTMAX of some rows anywhere, sometimes in place."""
    source, target = places(rng, softmax.sizes, memory_bytes)
    if softmax.pitches[0] == softmax.pitches[1] and rng.integers(2):
        source = target
    # A second table without distances has no part in it, nor have parameters.
    unused = rng.integers(-(2**31), 2**31, TABLE_ENTRIES)
    second = unused if softmax.distances is None else softmax.distances
    tables = np.array([softmax.table, second])
    parameters = rng.integers(-1000, 1000, (3, 1, outputs_of(macs)))
    return Work(
        softmax_job(softmax, source.start, target.start, macs),
        element_fills(macs, parameters, tables),
        [source],
        target,
        lambda memory: softmax.apply(memory, source.start, target.start),
    )


def _max_work(rng: np.random.Generator, macs: int, memory_bytes: int) -> Work:
    """Return a MAX."""
    while True:
        kernel = (int(rng.integers(1, 6)), int(rng.integers(1, 6)))
        stride = (int(rng.integers(1, 4)), int(rng.integers(1, 4)))
        size = (int(rng.integers(1, 13)), int(rng.integers(1, 13)))
        pads = [int(rng.integers(0, k)) for k in kernel]
        ends = [int(rng.integers(0, k)) for k in kernel]
        gives_positions = bool(rng.integers(2))
        if gives_positions:
            pads[0] = ends[0] = 0
        output = [(size[k] + pads[k] + ends[k] - kernel[k]) // stride[k] + 1 for k in range(2)]
        channels = int(rng.choice(_CHANNELS))
        input_pitch = channels if rng.integers(2) else -(-channels // 8) * 8
        output_pitch = (-(-channels // 8) + int(rng.integers(2))) * 8
        input_bytes = size[0] * size[1] * input_pitch
        output_bytes = output[0] * output[1] * output_pitch
        work = math.prod((*kernel, *output, -(-channels // outputs_of(macs))))
        if (
            min(output) >= 1
            and input_bytes + output_bytes <= memory_bytes - 64
            and work <= _MAX_OPERATIONS
        ):
            break
    # As bytes: a position counts 256.
    largest = 2 * math.prod(kernel) if gives_positions else 1
    parameters, is_wide = random_parameters(rng, np.full(channels, largest))
    pool = Pool(
        outputs=outputs_of(macs),
        size=size,
        input_pitch=input_pitch,
        output_pitch=output_pitch,
        kernel=kernel,
        stride=stride,
        pads=(pads[0], pads[1]),
        output_size=(output[0], output[1]),
        parameters=parameters,
        weight_zero_point=int(rng.choice((0, int(rng.integers(-128, 128))))),
        output_zero_point=int(rng.integers(-128, 128)),
        clamp=(int(rng.choice((-128, -20))), int(rng.choice((127, 50)))),
        is_wide=is_wide,
        gives_positions=gives_positions,
    )
    source, target = places(rng, [input_bytes, output_bytes], memory_bytes)
    target = range(target.start // 8 * 8, target.start // 8 * 8 + output_bytes)

    def apply(memory: Bytes) -> None:
        x = memory[source.start : source.stop].astype(np.int8).astype(np.int64)
        x = x.reshape(*size, input_pitch)[:, :, :channels]
        write(pool, expected_maxima(pool, x), target.start, memory)

    job = max_job(pool, source.start, target.start)
    return Work(job, max_fills(pool), [source], target, apply)


def random_layer(rng: np.random.Generator, macs: int, *, is_depthwise: bool) -> Layer | None:
    """Return a layer, or None if the choice is not possible."""
    stride = (int(rng.integers(1, 4)), int(rng.integers(1, 4)))
    has_8_taps = is_depthwise and bool(rng.integers(2))
    taps = 8 if has_8_taps or macs == DEEP_MACS else 4
    rows = int(rng.choice((1, 2, 3, 5, int(rng.integers(1, 17)))))
    columns = int(rng.integers(1, 9))
    if is_depthwise and columns > taps * stride[1]:
        return None
    dilation = (
        int(rng.choice((1, 1, 2, 3))),
        1 if is_depthwise else int(rng.choice((1, 1, 2))),
    )
    extent = ((rows - 1) * dilation[0] + 1, (columns - 1) * dilation[1] + 1)
    map_size = (int(rng.integers(1, 13)), int(rng.integers(1, 13)))
    pads = [int(rng.integers(0, size)) for size in extent]
    ends = [int(rng.integers(0, size)) for size in extent]
    outputs = [(map_size[k] + pads[k] + ends[k] - extent[k]) // stride[k] + 1 for k in range(2)]
    if min(outputs) < 1:
        return None
    channels = int(rng.choice(_CHANNELS))
    is_gathered = has_gathered(macs) and not is_depthwise and bool(rng.integers(4) == 0)
    inputs = int(rng.choice(_DENSE_CHANNELS if is_gathered else _CHANNELS))
    inputs = channels if is_depthwise else inputs
    is_dense = is_gathered or (inputs < INPUT_LANES and bool(rng.integers(2)))
    input_pitch = inputs if is_dense else -(-inputs // 8) * 8
    is_ones = is_depthwise and columns % stride[1] == 0 and bool(rng.integers(3) == 0)
    shape = (1 if is_depthwise else channels, rows, columns, inputs)
    is_packed = has_packed(macs) and not is_depthwise and bool(rng.integers(4))
    weights, zero_point, is_unsigned = (
        packable_weights(rng, shape) if is_packed else random_weights(rng, shape)
    )
    if is_ones:
        weights = np.full_like(weights, zero_point + 1)
        if zero_point == (255 if is_unsigned else 127):
            return None
    axes = (1, 2) if is_depthwise else (1, 2, 3)
    sizes = np.abs(weights - zero_point).sum(axis=axes).reshape(-1)
    parameters, is_wide = random_parameters(rng, sizes)
    layer = Layer(
        macs=macs,
        is_depthwise=is_depthwise,
        rows=map_size[0],
        columns=map_size[1],
        input_pitch=input_pitch,
        output_pitch=(-(-channels // 8) + int(rng.integers(2))) * 8,
        stride=stride,
        dilation=dilation,
        pads=(pads[0], pads[1]),
        output_rows=outputs[0],
        output_columns=outputs[1],
        weights=weights,
        parameters=parameters,
        input_zero_point=int(rng.choice((-128, 0, 127, int(rng.integers(-128, 128))))),
        weight_zero_point=zero_point,
        is_unsigned=is_unsigned,
        output_zero_point=int(rng.integers(-128, 128)),
        clamp=(int(rng.choice((-128, -20))), int(rng.choice((127, 50)))),
        is_wide=is_wide,
        has_8_taps=has_8_taps,
        is_ones=is_ones,
        is_packed=is_packed,
        output_gap=8 * int(rng.choice((0, 0, 1, 5))),
    )
    if is_gathered:
        if not layer.can_gather:
            return None
        layer = dataclasses.replace(layer, is_gathered=True)
    words = rows * stride[1] if is_depthwise else layer.window_words
    work = words * outputs[0] * outputs[1] * layer.groups
    most = DEEP_GROUP_WORDS if is_packed and macs == DEEP_MACS else GROUP_WORDS
    return layer if words <= most and work <= _MAX_OPERATIONS else None


def random_weights(rng: np.random.Generator, shape: tuple[int, ...]) -> tuple[Ints, int, bool]:
    """Return weights, their zero point and whether they are unsigned."""
    is_unsigned = bool(rng.integers(4) == 0)
    low = 0 if is_unsigned else -128
    zero_point = int(rng.integers(low, low + 256)) if is_unsigned or rng.integers(4) == 0 else 0
    if rng.integers(4) == 0:
        return rng.choice(np.array([low, low + 255]), shape), zero_point, is_unsigned
    return rng.integers(low, low + 256, shape), zero_point, is_unsigned


def packable_weights(rng: np.random.Generator, shape: tuple[int, ...]) -> tuple[Ints, int, bool]:
    """Return weights that fit beside others, their zero point and whether they are unsigned.

    Some of first channels have nine bits.
    """
    limit = PACKED_WEIGHT_LIMIT
    if rng.integers(4) == 0:
        return rng.choice(np.array([-limit, limit]), shape), 0, False
    if rng.integers(2):
        return rng.integers(-limit, limit + 1, shape), 0, False
    low, zero_point = (0, int(rng.integers(256))) if rng.integers(2) else (-128, 0)
    low, high = max(low, zero_point - limit), min(low + 255, zero_point + limit)
    weights = rng.integers(low, high + 1, shape)
    is_unsigned = zero_point > 0
    large = np.where(zero_point > limit, 0, 255) if is_unsigned else -128
    for channel in np.flatnonzero(is_first(len(weights))):
        changed = weights.copy()
        changed[channel].flat[rng.integers(changed[channel].size)] = large
        reduced = (changed - zero_point).reshape(len(weights), -1)
        weights = changed if are_packable(reduced) else weights
    return weights, zero_point, is_unsigned


def random_parameters(rng: np.random.Generator, sizes: Ints) -> tuple[Ints, bool]:
    """Return [bias, multiplier, shift] by channel, and whether they need the wide mode.

    ``sizes`` are the sums of absolute weights. Most results are neither clamped nor all alike. A
    third of all have one multiplier and one shift.
    """
    bias = rng.integers(-2000, 2000, len(sizes)) * rng.choice((0, 1, 500))
    scales = rng.uniform(0.5, 8, len(sizes)) / (sizes + 1)
    if rng.integers(3) == 0:
        scales[:] = scales.min()
    scaled = [numerics.quantize_multiplier(float(scale)) for scale in scales]
    multiplier, shift = (np.array(column, np.int64) for column in zip(*scaled, strict=True))
    if rng.integers(5) == 0:
        # Small multipliers behind a left shift.
        left = int(rng.integers(1, 9))
        multiplier, shift = multiplier >> left, shift + left
    largest = (sizes * 255 + np.abs(bias)) << np.maximum(shift, 0)
    is_wide = bool((largest >= _NARROW).any() or rng.integers(5) == 0)
    return np.array([bias, multiplier, shift]), is_wide

"""Models that keep something between inferences: ring buffers, sums, delays, exchanged values."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.support.models.streaming_builder import StreamingBuilder

__all__ = ["STREAMING", "Streaming", "sets"]


@dataclass(frozen=True)
class Streaming:
    """A model, and shape and type of its only input."""

    model: bytes
    shape: tuple[int, ...]
    kind: Any = np.int8


SCALE: dict[str, Any] = {"scale": 0.5, "zero_point": -3}


def sets(model: Streaming, count: int, seed: int = 0) -> list[tuple[NDArray[Any]]]:
    """Return inputs of several inferences in a row."""
    rng, limits = np.random.default_rng(seed), np.iinfo(model.kind)
    return [
        (rng.integers(limits.min, limits.max + 1, model.shape).astype(model.kind),)
        for _ in range(count)
    ]


def _values(rng: random.Random, shape: Sequence[int]) -> NDArray[np.int8]:
    if rng.random() < 0.5:
        return np.full(shape, rng.randrange(-128, 128), np.int8)
    return np.random.default_rng(rng.randrange(2**32)).integers(-128, 128, shape).astype(np.int8)


def _slice(
    builder: StreamingBuilder, source: int, begin: Sequence[int], size: Sequence[int]
) -> int:
    output = builder.tensor(size, **SCALE)
    parameters = [builder.tensor((len(v),), np.int32, data=np.int32(v)) for v in (begin, size)]
    builder.operator("SLICE", [source, *parameters], [output])
    return output


def _conv(builder: StreamingBuilder, source: int, shape: Sequence[int], rng: random.Random) -> int:
    """Add a depthwise convolution over all rows."""
    _, rows, _, channels = shape
    data = _values(rng, (1, rows, 1, channels)).clip(-127)
    weights = builder.tensor(data.shape, data=data, scale=0.02)
    output = builder.tensor((1, 1, 1, channels), **SCALE)
    builder.operator(
        *("DEPTHWISE_CONV_2D", [source, weights], [output]),
        padding=1,
        strideH=1,
        strideW=1,
        depthMultiplier=1,
    )
    return output


def ring(rng: random.Random) -> Streaming:
    """Join new rows behind or before old ones, and keep as many of them, from one end or both."""
    builder = StreamingBuilder()
    rows, new = rng.randrange(1, 9), rng.randrange(1, 5)
    channels = rng.choice([4, 8, 16, 24, 32, 40])
    old = (1, rows, 1, channels)
    builder.variable("rows", _values(rng, old), **SCALE)
    x = builder.tensor((1, new, 1, channels), **SCALE)
    before = builder.read("rows", old, **SCALE)
    whole = (1, rows + new, 1, channels)
    joined = builder.tensor(whole, **SCALE)
    parts = [before, x] if rng.random() < 0.7 else [x, before]
    builder.operator("CONCATENATION", parts, [joined], axis=1)
    first = rng.choice([new, new, rng.randrange(new + 1)])
    is_early = rng.random() < 0.5
    if is_early:
        builder.assign("rows", _slice(builder, joined, (0, first, 0, 0), old))
    y = _conv(builder, joined, whole, rng)
    if not is_early:
        builder.assign("rows", _slice(builder, joined, (0, first, 0, 0), old))
    outputs = [y]
    if rng.random() < 0.3:
        outputs.append(joined)
    return Streaming(builder.build([x], outputs), (1, new, 1, channels))


def columns(rng: random.Random) -> Streaming:
    """Keep the last columns of every row: what is kept does not lie together."""
    builder = StreamingBuilder()
    old, new, rows = rng.randrange(1, 6), rng.randrange(1, 4), rng.randrange(2, 5)
    shape = (1, rows, old, 4)
    builder.variable("columns", _values(rng, shape), **SCALE)
    x = builder.tensor((1, rows, new, 4), **SCALE)
    before = builder.read("columns", shape, **SCALE)
    joined = builder.tensor((1, rows, old + new, 4), **SCALE)
    builder.operator("CONCATENATION", [before, x], [joined], axis=2)
    builder.assign("columns", _slice(builder, joined, (0, 0, new, 0), shape))
    y = builder.tensor((1, rows, old + new, 4), **SCALE)
    builder.operator("RELU", [joined], [y])
    return Streaming(builder.build([x], [y]), (1, rows, new, 4))


def total(rng: random.Random) -> Streaming:
    """Add each input to what is kept; give it before or behind that, or both."""
    builder = StreamingBuilder()
    shape = (1, rng.choice([1, 3, 16, 40]))
    builder.variable("total", _values(rng, shape), **SCALE)
    x, y = builder.tensor(shape, **SCALE), builder.tensor(shape, **SCALE)
    before = builder.read("total", shape, **SCALE)
    builder.operator("ADD", [x, before], [y])
    builder.assign("total", y)
    outputs = rng.choice([[y], [before], [before, y]])
    if rng.random() < 0.5:
        outputs = [*outputs, builder.read("total", shape, **SCALE)]
    return Streaming(builder.build([x], outputs), shape)


def delay(rng: random.Random) -> Streaming:
    """Pass inputs from variable to variable, or exchange two."""
    builder = StreamingBuilder()
    shape = (1, rng.choice([2, 16, 33]))
    names = ["a", "b", "c"][: rng.randrange(1, 4)]
    for name in names:
        builder.variable(name, _values(rng, shape), **SCALE)
    x, y = builder.tensor(shape, **SCALE), builder.tensor(shape, **SCALE)
    values = [builder.read(name, shape, **SCALE) for name in names]
    is_exchange = rng.random() < 0.5
    sources = [values[-1] if is_exchange else x, *values[:-1]]
    moves = list(zip(names, sources, strict=True))
    rng.shuffle(moves)
    for name, value in moves:
        builder.assign(name, value)
    builder.operator("ADD", [x, values[-1]], [y])
    return Streaming(builder.build([x], [y, values[0]] if rng.random() < 0.5 else [y]), shape)


def rings(rng: random.Random) -> Streaming:
    """Join two kept tensors with an input; keep overlapping parts of the whole as both."""
    builder = StreamingBuilder()
    a, b, new = (rng.randrange(1, 5) for _ in range(3))
    for name, rows in (("a", a), ("b", b)):
        builder.variable(name, _values(rng, (1, rows, 1, 16)), **SCALE)
    x = builder.tensor((1, new, 1, 16), **SCALE)
    parts = [builder.read(name, (1, rows, 1, 16), **SCALE) for name, rows in (("a", a), ("b", b))]
    whole = (1, a + b + new, 1, 16)
    joined = builder.tensor(whole, **SCALE)
    builder.operator("CONCATENATION", [*parts, x], [joined], axis=1)
    for name, rows in (("a", a), ("b", b)):
        first = rng.randrange(a + b + new - rows + 1)
        builder.assign(name, _slice(builder, joined, (0, first, 0, 0), (1, rows, 1, 16)))
    return Streaming(builder.build([x], [_conv(builder, joined, whole, rng)]), (1, new, 1, 16))


def layers(rng: random.Random) -> Streaming:
    """Give a convolution's output to a ring buffer, and a wider one what is joined there."""
    builder = StreamingBuilder()
    channels = rng.choice([8, 16, 32])
    rows = [rng.randrange(2, 8) for _ in range(2)]
    for name, count in zip("ab", rows, strict=True):
        builder.variable(name, _values(rng, (1, count, 1, channels)), **SCALE)
    x = last = builder.tensor((1, 1, 1, channels), **SCALE)
    for name, count in zip("ab", rows, strict=True):
        old, whole = (1, count, 1, channels), (1, count + 1, 1, channels)
        joined = builder.tensor(whole, **SCALE)
        builder.operator(
            "CONCATENATION", [builder.read(name, old, **SCALE), last], [joined], axis=1
        )
        builder.assign(name, _slice(builder, joined, (0, 1, 0, 0), old))
        last = _conv(builder, joined, whole, rng)
    return Streaming(builder.build([x], [last]), (1, 1, 1, channels))


def unchanged(rng: random.Random) -> Streaming:
    """Read a variable that nothing assigns, and one that gets what was read of it."""
    builder = StreamingBuilder()
    shape = (1, 16)
    for name in "ab":
        builder.variable(name, _values(rng, shape), **SCALE)
    x, y, z = (builder.tensor(shape, **SCALE) for _ in range(3))
    a, b = (builder.read(name, shape, **SCALE) for name in "ab")
    builder.operator("ADD", [x, a], [y])
    builder.operator("ADD", [y, b], [z])
    builder.assign("b", b)
    return Streaming(builder.build([x], [z]), shape)


STREAMING: dict[str, Callable[[random.Random], Streaming]] = {
    "ring": ring,
    "columns": columns,
    "total": total,
    "delay": delay,
    "rings": rings,
    "layers": layers,
    "unchanged": unchanged,
}

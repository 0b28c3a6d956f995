"""Random models of operators that only move data, and networks of them and others."""

import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.support.models.index_moves import (
    broadcast_to,
    gather,
    mirror_pad,
    reverse,
    some_input,
)
from tests.support.models.move_model import MoveModel, cut
from tests.support.models.random_tensors import int8s
from tests.support.oracle.oracle import Case

__all__ = ["OPERATORS", "network", "single_operator", "tile", "upsampling"]


def single_operator(operator: str, seed: int) -> Case:
    """Return a model of one operator and its inputs, always the same for one seed."""
    rng = random.Random(f"{operator}{seed}")
    model = MoveModel(rng)
    outputs = OPERATORS[operator](model)
    # Some have outputs that nobody needs.
    return model.case([index for index in outputs if rng.random() < 0.85] or outputs[:1])


def tile(seed: int) -> Case:
    """Return a model of one TILE and its input, always the same for one seed."""
    rng = random.Random(f"TILE{seed}")
    model = MoveModel(rng)
    x = model.any_input(model.sizes(1, 5, 4), model.one_of(np.int32))
    return model.case(model.tile(x, [rng.choice([1, 1, 2, 3]) for _ in model.shape(x)]))


def upsampling(seed: int) -> Case:
    """Return a model that repeats pixels between two sums, as Keras' UpSampling2D does."""
    model = MoveModel(random.Random(f"upsampling{seed}"))
    height, width, channels = 6, 8, 16
    first = model.input((1, height, width, channels))
    x = model.elementwise("ADD", first, first)
    for shape in ((height, 1, width * channels), (2 * height * width, 1, channels)):
        (x,) = model.tile(model.reshape(x, shape), [1, 2, 1])
    x = model.reshape(x, (1, 2 * height, 2 * width, channels))
    return model.case([model.elementwise("ADD", x, x)])


def network(seed: int) -> Case:
    """Return a model of moves and other operators with several inputs and outputs."""
    rng = random.Random(f"moves{seed}")
    model = MoveModel(rng)
    images = [model.image(12) for _ in range(rng.randint(1, 2))]
    pool = list(images)
    for _ in range(rng.randint(4, 9)):
        made = model.any_step(rng.choice(pool[-4:]), pool)
        pool += made
    pool = pool[len(images) :]
    return model.case(rng.sample(pool, min(len(pool), rng.randint(1, 4))))


def _concatenation(model: MoveModel) -> list[int]:
    rng = model.rng
    shape, dtype = model.sizes(1, 5), model.one_of(np.int32)
    axis = rng.randrange(len(shape))
    xs: list[int] = []
    first = model.any_input(shape, dtype)
    for number in range(rng.randint(1, 4)):
        size = rng.choice([1, 2, 3, 16])
        wanted = (*shape[:axis], size, *shape[axis + 1 :])
        if number and rng.random() < 0.2:
            xs.append(xs[-1])
        elif dtype is np.int8 and rng.random() < 0.2:
            data = int8s(rng, *wanted)
            scale, zero_point = model._scales[first], model._zero_points[first]
            xs.append(model._tensor(wanted, scale, zero_point, data))
        else:
            x = model.like(first, wanted)
            model._inputs.append(x)
            model._values.append(_values(model, x))
            xs.append(x)
    xs.insert(rng.randint(0, len(xs)), first)
    return model.concatenation(xs, axis)


def _values(model: MoveModel, x: int) -> Any:
    if x not in model.types:
        return int8s(model.rng, *model.shape(x))
    generator = np.random.default_rng(model.rng.getrandbits(64))
    return generator.integers(-(2**31), 2**31, model.shape(x), np.int32)


def _pack(model: MoveModel) -> list[int]:
    shape, dtype = model.sizes(1, 4), model.one_of(np.int32)
    first = model.any_input(shape, dtype)
    xs = [first]
    for _ in range(model.rng.randint(0, 3)):
        x = model.like(first, shape)
        model._inputs.append(x)
        model._values.append(_values(model, x))
        xs.append(x)
    return model.pack(xs, model.rng.randint(0, len(shape)))


def _unpack(model: MoveModel) -> list[int]:
    shape = model.sizes(2, 5)
    x = model.any_input(shape, model.one_of(np.int32))
    return model.unpack(x, model.rng.choice([k for k, n in enumerate(shape) if n < 16]))


def _split(model: MoveModel) -> list[int]:
    shape = model.sizes(1, 5, 6)
    axis = model.rng.randrange(len(shape))
    x = model.any_input(shape, model.one_of(np.int32))
    return model.split(x, axis, cut(model.rng, shape[axis]))


def _batches(operator: str) -> Callable[[MoveModel], list[int]]:
    def add(model: MoveModel) -> list[int]:
        rng = model.rng
        rank = rng.choice([3, 4, 4])
        blocks = [rng.randint(1, 3) for _ in range(rank - 2)]
        inner = [rng.randint(1, 4) for _ in blocks]
        batches, channels = rng.randint(1, 2), rng.choice([1, 3, 8])
        if operator == "SPACE_TO_BATCH_ND":
            wide = [size * block for size, block in zip(inner, blocks, strict=True)]
            x = model.any_input((batches, *wide, channels))
            return model.space_to_batch(x, blocks, [[0, 0]] * len(blocks))
        x = model.any_input((batches * math.prod(blocks), *inner, channels))
        crops = []
        for size, block in zip(inner, blocks, strict=True):
            before = rng.randint(0, min(3, size * block - 1))
            crops.append([before, rng.randint(0, min(3, size * block - 1 - before))])
        if rng.random() < 0.4:
            crops = [[0, 0]] * len(blocks)
        return model.batch_to_space(x, blocks, crops)

    return add


def _depth(operator: str) -> Callable[[MoveModel], list[int]]:
    def add(model: MoveModel) -> list[int]:
        rng, block = model.rng, model.rng.randint(1, 3)
        n, h, w, c = (rng.randint(1, 3) for _ in range(4))
        if operator == "SPACE_TO_DEPTH":
            return model.space_to_depth(model.any_input((n, h * block, w * block, c)), block)
        return model.depth_to_space(model.any_input((n, h, w, c * block * block)), block)

    return add


def _resize(model: MoveModel) -> list[int]:
    rng = model.rng
    x = model.any_input((
        rng.randint(1, 2),
        rng.randint(1, 9),
        rng.randint(1, 9),
        rng.randint(1, 5),
    ))
    if rng.random() < 0.3:
        _, height, width, _ = model.shape(x)
        return model.resize_nearest(x, height * 2, width * 2)
    return model.resize_nearest(x, rng.randint(1, 14), rng.randint(1, 14))


OPERATORS: dict[str, Callable[[MoveModel], list[int]]] = {
    "BATCH_TO_SPACE_ND": _batches("BATCH_TO_SPACE_ND"),
    "BROADCAST_TO": broadcast_to,
    "CONCATENATION": _concatenation,
    "DEPTH_TO_SPACE": _depth("DEPTH_TO_SPACE"),
    "GATHER": gather,
    "MIRROR_PAD": mirror_pad,
    "PACK": _pack,
    "PAD": lambda m: m.padded(m.any_input(m.sizes(1, 5), m.one_of(np.int32)), value=False),
    "PADV2": lambda m: m.padded(m.any_input(m.sizes(1, 5), m.one_of(np.int32)), value=True),
    "RESHAPE": lambda m: m.reshaped(m.any_input(m.sizes(1, 5), m.one_of(np.int32))),
    "RESIZE_NEAREST_NEIGHBOR": _resize,
    "REVERSE_V2": reverse,
    "SLICE": lambda m: m.slice(some_input(m, m.sizes(1, 5))),
    "SPACE_TO_BATCH_ND": _batches("SPACE_TO_BATCH_ND"),
    "SPACE_TO_DEPTH": _depth("SPACE_TO_DEPTH"),
    "SPLIT": _split,
    "STRIDED_SLICE": lambda m: m.strided_slice(m.any_input(m.sizes(1, 4), m.one_of(np.int32))),
    "TRANSPOSE": lambda m: m.transpose(some_input(m, m.sizes(1, 5))),
    "UNPACK": _unpack,
}

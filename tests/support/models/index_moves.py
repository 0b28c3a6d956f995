"""Random operators that choose positions: mirrors, constant indices, repeated dimensions."""

import numpy as np

from tests.support.models.move_model import MoveModel
from tests.support.oracle.oracle import LITERT

__all__ = ["broadcast_to", "gather", "mirror_pad", "reverse", "some_input"]

TYPES = (np.int16, np.int32, np.int64, np.float32, np.bool_)
"""Types of data that are not quantized here; LiteRT moves all of them."""


def some_input(model: MoveModel, shape: tuple[int, ...], *, has_bool: bool = True) -> int:
    """Add an input of any type that operators which only move data take."""
    kind = model.rng.choice([np.int8, np.int8, *(TYPES if has_bool else TYPES[:-1])])
    if kind is not np.int8:
        model.ask(LITERT)
    return model.any_input(shape, kind)


def mirror_pad(model: MoveModel) -> list[int]:
    """Add a MIRROR_PAD."""
    rng = model.rng
    x = some_input(model, model.sizes(1, 4), has_bool=False)
    mode = rng.randint(0, 1)
    most = [size - 1 + mode for size in model.shape(x)]
    pads = [[rng.randint(0, n), rng.randint(0, n)] if rng.random() < 0.7 else [0, 0] for n in most]
    shape = [size + sum(pair) for size, pair in zip(model.shape(x), pads, strict=True)]
    return model.add("MIRROR_PAD", [x, model.integers(pads)], model.like(x, shape), mode=mode)


def gather(model: MoveModel) -> list[int]:
    """Add a GATHER of constant indices."""
    rng = model.rng
    x = some_input(model, model.sizes(1, 4))
    shape = model.shape(x)
    axis = rng.randrange(len(shape))
    batch_dims = rng.choice([0, 0, rng.randint(0, axis)])
    more = [rng.randint(1, 5) for _ in range(rng.randint(0 if batch_dims == 0 else 1, 2))]
    picked = (*shape[:batch_dims], *more)
    generator = np.random.default_rng(rng.getrandbits(64))
    values = generator.integers(0, shape[axis], picked)
    if rng.random() < 0.3 and picked:
        values = np.sort(values, axis=-1)
    kind = np.int32
    if rng.random() < 0.2:
        kind = np.int64
        model.ask(LITERT)
    indices = model.integers(values, kind)
    wanted = (*shape[:axis], *more, *shape[axis + 1 :])
    options = {"axis": model.signed(axis, len(shape)), "batchDims": batch_dims}
    return model.add("GATHER", [x, indices], model.like(x, wanted), **options)


def reverse(model: MoveModel) -> list[int]:
    """Add a REVERSE_V2 of one dimension, or of some next to each other."""
    rng = model.rng
    x = some_input(model, model.sizes(1, 4))
    rank = len(model.shape(x))
    first = rng.randrange(rank)
    axes = list(range(first, rng.randint(first + 1, rank)))
    return model.add("REVERSE_V2", [x, model.integers(axes)], model.like(x, model.shape(x)))


def broadcast_to(model: MoveModel) -> list[int]:
    """Add a BROADCAST_TO."""
    rng = model.rng
    shape = model.sizes(1, 4)
    narrow = tuple(1 if rng.random() < 0.5 else size for size in shape)
    narrow = narrow[rng.randint(0, len(narrow) - 1) :]
    x = model.any_input(narrow, rng.choice([np.int8, np.float32]))
    return model.add("BROADCAST_TO", [x, model.integers(shape)], model.like(x, shape))

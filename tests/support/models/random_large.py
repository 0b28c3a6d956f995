"""Random models of one operator on tensors larger than a scratchpad, or with long windows."""

import math
import random
from collections.abc import Callable

import numpy as np

from kiwicha.tflite_writer.builder import PADDINGS
from tests.support.models.move_model import MoveModel
from tests.support.oracle.oracle import LITERT, Case

__all__ = ["OPERATORS", "single_operator"]


def single_operator(operator: str, seed: int) -> Case:
    """Return a model of one operator and its inputs, always the same for one seed."""
    model = MoveModel(random.Random(f"large {operator}{seed}"))
    return model.case(OPERATORS[operator](model))


def _pad(model: MoveModel) -> list[int]:
    """Add a PAD of the outermost dimension only: its input lies in its output already."""
    rng = model.rng
    shape = (rng.choice([1, rng.randint(2, 4)]), rng.randint(5, 90), rng.randint(3, 300))
    x = model.any_input(shape, model.one_of(np.int32))
    axis = 0 if shape[0] > 1 else 1
    pads = [[0, 0] for _ in shape]
    pads[axis] = rng.choice([[0, rng.randint(1, 80)], [rng.randint(1, 9), rng.randint(1, 9)]])
    y = model.like(x, [size + sum(pair) for size, pair in zip(shape, pads, strict=True)])
    return model.add("PAD", [x, model.integers(pads)], y)


def _spread(model: MoveModel) -> list[int]:
    """Add a SPACE_TO_BATCH_ND with paddings, as only LiteRT fills them with the zero point."""
    rng = model.rng
    model.ask(LITERT)
    blocks = [rng.randint(2, 4) for _ in range(2)]
    sizes = [rng.randint(17, 40) for _ in blocks]
    pads = []
    for size, block in zip(sizes, blocks, strict=True):
        before = rng.randint(0, 4)
        pads.append([before, -(size + before) % block + rng.choice([0, block])])
    x = model.input((1, *sizes, rng.choice([16, 24, 96, rng.randint(1, 120)])))
    return model.space_to_batch(x, blocks, pads)


def _joined(model: MoveModel) -> list[int]:
    """Add a BATCH_TO_SPACE_ND with crops."""
    rng = model.rng
    blocks = [rng.randint(2, 4) for _ in range(2)]
    inner = [rng.randint(9, 20) for _ in blocks]
    channels = rng.choice([16, 24, 96, rng.randint(1, 120)])
    x = model.any_input((math.prod(blocks), *inner, channels))
    return model.batch_to_space(x, blocks, [[rng.randint(0, 3), rng.randint(0, 4)] for _ in blocks])


def _gather(model: MoveModel) -> list[int]:
    """Add a GATHER of rows of a large table, in any order."""
    rng = model.rng
    count, size = rng.randint(700, 3000), rng.choice([64, 77, 128, rng.randint(30, 150)])
    generator = np.random.default_rng(rng.getrandbits(64))
    values = generator.integers(0, count, rng.randint(3, 150))
    dtype = model.one_of(np.int32)
    if dtype is np.int32:
        model.ask(LITERT)
    x = model.any_input((count, size), dtype)
    y = model.like(x, (len(values), size))
    return model.add("GATHER", [x, model.integers(values)], y, axis=0)


def _split(model: MoveModel) -> list[int]:
    """Add a SPLIT_V of rows that are too long for two stripes of them."""
    rng = model.rng
    rows, size = rng.randint(2, 5), 2 * rng.randint(10_000, 35_000) + 1
    # Parts at whole words would be parts of the input's memory, without copies.
    first = rng.choice([number for number in (1, 3) if number < rows])
    return model.split(model.any_input((1, rows, size)), 1, [first, rows - first])


def _pool(operator: str) -> Callable[[MoveModel], list[int]]:
    """Return what adds a pool with a long window, or one that is the whole image."""

    def add(model: MoveModel) -> list[int]:
        rng = model.rng
        is_whole = rng.random() < 0.4
        sizes = [rng.randint(40, 90) if is_whole else rng.randint(9, 24) for _ in range(2)]
        channels = rng.choice([1, 3, 8, 16, 24, rng.randint(1, 40)])
        windows = sizes if is_whole else [rng.randint(2, min(13, size)) for size in sizes]
        strides = [1 if rng.random() < 0.6 else rng.randint(1, 3) for _ in sizes]
        is_padded = not is_whole and rng.random() < 0.6
        x = model.input((rng.choice([1, 1, 2]), *sizes, channels))
        shape = [
            -(-size // stride) if is_padded else (size - window) // stride + 1
            for size, window, stride in zip(sizes, windows, strides, strict=True)
        ]
        y = model.like(x, (model.shape(x)[0], *shape, channels))
        return model.add(
            operator,
            [x],
            y,
            padding=PADDINGS["SAME" if is_padded else "VALID"],
            filterHeight=windows[0],
            filterWidth=windows[1],
            strideH=strides[0],
            strideW=strides[1],
        )

    return add


def _reduction(operator: str) -> Callable[[MoveModel], list[int]]:
    """Return what adds a reduction of many elements, of dimensions anywhere."""

    def add(model: MoveModel) -> list[int]:
        rng = model.rng
        long = rng.randint(200, 1200)
        shapes = [(1, long, rng.randint(1, 90)), (rng.randint(1, 40), long)]
        shapes += [(rng.randint(1, 3), *(rng.randint(9, 40) for _ in range(2)), rng.randint(1, 40))]
        shape = rng.choice(shapes)
        axes = rng.sample(range(1, len(shape)), rng.randint(1, len(shape) - 1))
        return [model.mean(model.input(shape), axes, keep=True, operator=operator)]

    return add


OPERATORS: dict[str, Callable[[MoveModel], list[int]]] = {
    "AVERAGE_POOL_2D": _pool("AVERAGE_POOL_2D"),
    "BATCH_TO_SPACE_ND": _joined,
    "GATHER": _gather,
    "MAX_POOL_2D": _pool("MAX_POOL_2D"),
    "PAD": _pad,
    "REDUCE_MAX": _reduction("REDUCE_MAX"),
    "REDUCE_MIN": _reduction("REDUCE_MIN"),
    "SPACE_TO_BATCH_ND": _spread,
    "SPLIT": _split,
}
"""What adds each operator."""

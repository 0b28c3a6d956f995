"""Random layers that are large beside a scratchpad, or a job: odd rows, long ones, wide windows."""

import math
import random
from collections.abc import Callable
from functools import partial

from tests.support.models.dense_layers import dense
from tests.support.models.odd_rows import ELEMENTWISE, conversions, elementwise
from tests.support.models.random_layers import RandomModel
from tests.support.models.random_tensors import Shape
from tests.support.models.wide_rows import wide_rows
from tests.support.oracle.oracle import Case

__all__ = ["OPERATORS", "single_operator"]

BYTES = 66000, 90000
"""Of a tensor that does not fit."""
MOST_STORED = 40000
"""Of a channel's constants: more than a job can have."""


def _odd_shape(rng: random.Random) -> Shape:
    """Give a shape whose rows are of an odd number of bytes, or few."""
    size = rng.randint(*BYTES)
    channels = rng.choice([rng.randrange(3, 300, 2), rng.randint(2000, 30000), 1, size])
    others = max(size // channels, 1)
    columns = rng.choice([1, 2, 7, max(math.isqrt(others), 1)])
    return (1, max(others // columns, 1), columns, channels)


def _elementwise(kind: str, rng: random.Random) -> Case:
    shape = _odd_shape(rng)
    if kind.endswith("a constant") and shape[-1] > MOST_STORED:
        shape = (*shape[:-1], MOST_STORED)
    return elementwise(kind, shape)


def _conversions(rng: random.Random) -> Case:
    return conversions(_odd_shape(rng), has_sum=rng.random() < 0.5)


def _parts_of_kernels(rng: random.Random) -> Case:
    columns, dilation = rng.randint(5, 20), rng.randint(1, 9)
    # More than a window's rows can have.
    channels = 70000 // (columns * min(2 * dilation + 1, columns)) + rng.randint(1, 40)
    side = columns + rng.randint(-2, 2)
    outputs = rng.choice([8, 16, 21, 64])
    is_padded = rng.random() < 0.7 or 2 * dilation >= min(columns, side)
    shape = (side, columns, channels)
    return wide_rows("CONV_2D", shape, dilation=dilation, outputs=outputs, is_padded=is_padded)


def _phases(rng: random.Random) -> Case:
    columns, dilation = rng.randint(13, 21), rng.randint(5, 12)
    channels = 8 * rng.randrange(25, 60)
    shape = (columns + rng.randint(-3, 3), columns, channels)
    return wide_rows("DEPTHWISE_CONV_2D", shape, dilation=dilation)


def _long_rows(rng: random.Random) -> Case:
    channels = rng.choice([1, 3, 8, 16])
    columns = 66000 // (-(-channels // 8) * 8) + rng.randint(1, 500)
    operator = rng.choice(["CONV_2D", "CONV_2D", "DEPTHWISE_CONV_2D", "MAX_POOL_2D"])
    stride, is_padded = rng.randint(1, 3), rng.random() < 0.5
    kernel = (1, rng.randint(1, 9))
    rows = 1
    if operator == "CONV_2D" and rng.random() < 0.4:
        rows, kernel = rng.randint(2, 4), (rng.choice([1, 2]), kernel[1])
    outputs = rng.choice([8, 13])
    shape = (rows, columns, channels)
    return wide_rows(
        operator, shape, kernel=kernel, stride=stride, outputs=outputs, is_padded=is_padded
    )


def _dense(rng: random.Random) -> Case:
    return dense(rng.randint(1, 2), rng.randint(66000, 90000), rng.randint(1, 24))


def _many_positions(rng: random.Random) -> Case:
    """Give an ARG_MAX or ARG_MIN of more positions than a job tells apart."""
    positions = rng.randint(20, 256) * rng.randint(2, 30)
    others = rng.randint(1, max(BYTES[1] // positions, 1))
    shape = rng.choice([(1, positions), (others, positions), (1, positions, others)])
    model = RandomModel(rng)
    return model.case([model.position(rng.choice(["ARG_MAX", "ARG_MIN"]), model.input(shape), 1)])


OPERATORS: dict[str, Callable[[random.Random], Case]] = {
    **{kind: partial(_elementwise, kind) for kind in ELEMENTWISE},
    "conversions": _conversions,
    "parts of kernels": _parts_of_kernels,
    "phases": _phases,
    "long rows": _long_rows,
    "dense": _dense,
    "many positions": _many_positions,
}
"""What is drawn."""


def single_operator(kind: str, seed: int) -> Case:
    """Return a large model and its inputs, always the same for one seed."""
    return OPERATORS[kind](random.Random(f"large {kind}{seed}"))

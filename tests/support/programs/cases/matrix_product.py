"""Products of computed matrices."""

import numpy as np

from kiwicha.contract.layout import Ref
from kiwicha.contract.program import Kernel, Where
from kiwicha.kernels.matrix_product import MatrixProduct
from kiwicha.kernels.weight_order import WORD_BYTES, padded_channels
from tests.support.programs.steps import ProgramBuilder, int8s, random_scale

__all__ = ["PARAMS", "add"]

PARAMS = MatrixProduct
_BATCHES = ((1, 1, 1), (2, 1, 3), (1, 2, 2))
_STEPS = ((0, 0, 0), (3, 0, 1), (0, 0, 1))
"""Of the other tensor: the second one repeats nothing, the third one repeats along a dimension."""


def add(builder: ProgramBuilder, kernel: Kernel, rng: np.random.Generator, number: int) -> None:
    """Add a step; rows are whole words if the number is even."""
    rows, columns = (int(rng.integers(1, 11)) for _ in range(2))
    depth = 4 * int(rng.integers(1, 9)) - (int(rng.integers(1, 4)) if number % 2 else 0)
    batches, steps = _BATCHES[number % 3], _STEPS[number % 3]
    count = int(np.prod(batches))
    others = 1 + sum((size - 1) * step for size, step in zip(batches, steps, strict=True))
    words = -(-depth // WORD_BYTES)
    scratch = WORD_BYTES * padded_channels(columns) * (3 + words)
    scratch += rows * words * WORD_BYTES if depth % WORD_BYTES else 0
    multiplier, shift = random_scale(rng, depth * 128 * 128)
    bias = rng.integers(-9999, 9999, columns)
    params = MatrixProduct(
        builder.input(int8s(rng, (count, rows, depth))),
        builder.input(int8s(rng, (others, columns, depth))),
        builder.constant(bias) if rng.random() < 0.5 else Ref(),
        builder.output((count, rows, columns)),
        builder.arena(scratch) if kernel.where is Where.SIMD else Ref(),
        batches,
        (batches[1] * batches[2], batches[2], 1),
        steps,
        rows,
        columns,
        depth,
        int(rng.choice([4, 8])),
        int(rng.integers(-127, 129)),
        int(rng.choice([0, 0, 5, -127, 128])),
        int(rng.integers(-128, 128)),
        multiplier,
        shift,
        -128,
        int(rng.choice([127, 60])),
    )
    builder.step(kernel, params)

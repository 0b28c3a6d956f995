"""Rows whose probabilities are int16."""

import numpy as np

from kiwicha.contract.program import Kernel
from kiwicha.kernels.short_softmax import ShortSoftmax
from kiwicha.numerics import requantization as numerics
from tests.support.programs.steps import ProgramBuilder, int8s

__all__ = ["PARAMS", "add"]

PARAMS = ShortSoftmax


def add(builder: ProgramBuilder, kernel: Kernel, rng: np.random.Generator, number: int) -> None:
    """Add a step, of long rows if the number is divisible by 4."""
    rows, depth = (int(rng.integers(1, 9)) for _ in range(2))
    depth += 600 * (number % 4 == 0)
    table = numerics.softmax_exponentials(float(rng.choice([0.3, 0.04, 0.001])), 1.0)
    params = ShortSoftmax(
        builder.input(int8s(rng, (rows, depth))),
        builder.output((rows * depth * 2,)),
        builder.constant(table),
        rows,
        depth,
    )
    builder.step(kernel, params)

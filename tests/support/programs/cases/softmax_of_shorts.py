"""Rows of int16 that become probabilities."""

import numpy as np

from kiwicha.contract.program import Kernel
from kiwicha.kernels.softmax_of_shorts import SoftmaxOfShorts
from kiwicha.numerics.requantization import quantize_multiplier
from kiwicha.numerics.short_exponentials import (
    short_exponentials,
    short_reciprocals,
    short_softmax_factor,
)
from tests.support.programs.images import random_input, random_output
from tests.support.programs.steps import ProgramBuilder

__all__ = ["PARAMS", "add", "add_shape"]

PARAMS = SoftmaxOfShorts


def add(builder: ProgramBuilder, kernel: Kernel, rng: np.random.Generator, number: int) -> None:
    """Add a step, of long rows if the number is divisible by 4."""
    rows, depth = (int(rng.integers(1, 9)) for _ in range(2))
    add_shape(builder, kernel, rng, rows, depth + 600 * (number % 4 == 0))


def add_shape(
    builder: ProgramBuilder, kernel: Kernel, rng: np.random.Generator, rows: int, depth: int
) -> None:
    """Add a step of so many rows."""
    scale = quantize_multiplier(short_softmax_factor(float(rng.choice([0.01, 0.001, 3e-5])), 1.0))
    params = SoftmaxOfShorts(
        random_input(builder, kernel, rng, (rows, depth)),
        random_output(builder, kernel, (rows, depth)),
        builder.constant(short_exponentials(), np.int16),
        builder.constant(short_reciprocals(), np.int16),
        rows,
        depth,
        *scale,
    )
    builder.step(kernel, params)

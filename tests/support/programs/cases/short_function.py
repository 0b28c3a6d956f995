"""Functions of int16, between points."""

import numpy as np

from kiwicha.contract.program import Kernel
from kiwicha.kernels.short_functions import ShortFunction
from kiwicha.numerics.short_activations import points
from tests.support.programs.images import random_input, random_output
from tests.support.programs.steps import ProgramBuilder

__all__ = ["PARAMS", "add"]

PARAMS = ShortFunction


def add(builder: ProgramBuilder, kernel: Kernel, rng: np.random.Generator, number: int) -> None:
    """Add a step, of a scale that is a power of two if the number is even."""
    count = int(rng.integers(1, 400))
    scale = (3, 0) if number % 2 == 0 else (int(rng.integers(16384, 32768)), 13 + number % 19)
    params = ShortFunction(
        random_input(builder, kernel, rng, (count,)),
        random_output(builder, kernel, (count,)),
        builder.constant(points(), np.int16),
        count,
        *scale,
    )
    builder.step(kernel, params)

"""Reductions of rows and columns, or of channels."""

import numpy as np

from kiwicha.contract.program import Kernel
from kiwicha.kernels.mean import Mean
from tests.support.programs.images import image_shape
from tests.support.programs.steps import ProgramBuilder, int8s, padded_shape

__all__ = ["PARAMS", "add"]

PARAMS = Mean


def add(builder: ProgramBuilder, kernel: Kernel, rng: np.random.Generator, number: int) -> None:
    """Add a step, of channels if the number is even."""
    shape = image_shape(kernel, rng)
    source = builder.input(int8s(rng, shape))
    flags = (0, 0, 0, 1, 1, 0, 0, 0) if number % 2 else (0, 0, 0, 0, 0, 1, 0, 0)
    target = builder.output(shape[3:] if number % 2 else shape[1:3])
    builder.step(kernel, Mean(source, target, padded_shape(shape), flags, 3, 4, 2**30, -3))

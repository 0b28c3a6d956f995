"""Reductions of rows and columns, or of channels."""

import numpy as np

from kiwicha.contract.program import Kernel
from kiwicha.kernels.mean import Mean
from tests.support.programs.images import (
    SHORT_KERNELS,
    image_shape,
    random_input,
    random_output,
)
from tests.support.programs.steps import ProgramBuilder, padded_shape

__all__ = ["PARAMS", "add"]

PARAMS = Mean


def add(builder: ProgramBuilder, kernel: Kernel, rng: np.random.Generator, number: int) -> None:
    """Add a step, of channels if the number is even."""
    shape = image_shape(kernel, rng)
    source = random_input(builder, kernel, rng, shape)
    flags = (0, 0, 0, 1, 1, 0, 0, 0) if number % 2 else (0, 0, 0, 0, 0, 1, 0, 0)
    target = random_output(builder, kernel, shape[3:] if number % 2 else shape[1:3])
    offsets = (0, 0) if kernel in SHORT_KERNELS else (3, 4)
    builder.step(kernel, Mean(source, target, padded_shape(shape), flags, *offsets, 2**30, -3))

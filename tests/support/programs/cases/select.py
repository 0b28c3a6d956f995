"""Three tensors of one shape, of which the first chooses."""

import numpy as np

from kiwicha.contract.program import Kernel
from kiwicha.kernels.integers import Select
from tests.support.programs.images import image_shape
from tests.support.programs.steps import ProgramBuilder, int8s, padded_shape

__all__ = ["PARAMS", "add"]

PARAMS = Select


def add(builder: ProgramBuilder, kernel: Kernel, rng: np.random.Generator, number: int) -> None:
    """Add a step of elements of 1, 2, 4 or 8 bytes."""
    shape = image_shape(kernel, rng)
    element_bytes = 1 << number % 4
    strides = shape[1] * shape[2] * shape[3], shape[2] * shape[3], shape[3], 1
    padded = padded_shape(strides, strides[0])
    stored = (*shape, element_bytes)
    condition = builder.input(rng.integers(0, 2, shape).astype(np.int8))
    sources = [builder.input(int8s(rng, stored)) for _ in range(2)]
    whole = padded_shape(shape)
    refs = condition, *sources, builder.output(stored)
    builder.step(kernel, Select(*refs, whole, padded, padded, padded, element_bytes))

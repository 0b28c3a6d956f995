"""Windows of 2 to 4 without padding."""

import numpy as np

from kiwicha.contract.program import Kernel
from kiwicha.kernels.pool import Pool
from tests.support.programs.images import (
    SHORT_KERNELS,
    image_shape,
    random_input,
    random_output,
)
from tests.support.programs.steps import ProgramBuilder

__all__ = ["PARAMS", "add"]

PARAMS = Pool


def add(builder: ProgramBuilder, kernel: Kernel, rng: np.random.Generator, number: int) -> None:
    """Add a step."""
    shape = image_shape(kernel, rng)
    source = random_input(builder, kernel, rng, shape)
    kernel_size, stride = int(rng.integers(2, 5)), int(rng.integers(1, 3))
    out = [(size - kernel_size) // stride + 1 for size in shape[1:3]]
    target = random_output(builder, kernel, (1, *out, shape[3]))
    limits = (-32768, 32767) if kernel in SHORT_KERNELS else (-128, 127)
    window = (kernel_size, kernel_size, stride, stride, 0, 0, 0, *limits)
    builder.step(kernel, Pool(source, target, *shape, *out, *window))

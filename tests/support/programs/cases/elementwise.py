"""Two tensors of one shape."""

import numpy as np

from kiwicha.contract.program import Kernel
from kiwicha.kernels.elementwise import Elementwise
from tests.support.programs.images import image_shape
from tests.support.programs.steps import ProgramBuilder, int8s, padded_shape

__all__ = ["PARAMS", "add"]

PARAMS = Elementwise


def add(builder: ProgramBuilder, kernel: Kernel, rng: np.random.Generator, number: int) -> None:
    """Add a step."""
    shape = image_shape(kernel, rng)
    source, other = builder.input(int8s(rng, shape)), builder.input(int8s(rng, shape))
    strides = shape[1] * shape[2] * shape[3], shape[2] * shape[3], shape[3], 1
    padded = padded_shape(strides, strides[0])
    shift = 20 if kernel in {Kernel.ADD, Kernel.SUB, Kernel.SIMD_ADD} else 0
    scales = [2**30, 0, 2**30, 0, 2**30, -shift // 2]
    refs = source, other, builder.output(shape)
    numbers = (1, 2, 3, shift, *scales, -128, 127)
    builder.step(kernel, Elementwise(*refs, padded_shape(shape), padded, padded, *numbers))

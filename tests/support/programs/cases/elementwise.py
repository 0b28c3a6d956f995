"""Two tensors of one shape."""

import numpy as np

from kiwicha.contract.program import Kernel
from kiwicha.kernels.elementwise import Elementwise
from tests.support.programs.images import (
    SHORT_KERNELS,
    image_shape,
    random_input,
    random_output,
)
from tests.support.programs.steps import ProgramBuilder, padded_shape

__all__ = ["PARAMS", "add"]

PARAMS = Elementwise
_LEFT_SHIFTS = {
    **dict.fromkeys((Kernel.ADD, Kernel.SUB, Kernel.SIMD_ADD), 20),
    **dict.fromkeys((Kernel.SHORT_ADD, Kernel.SHORT_SUB), 15),
}


def add(builder: ProgramBuilder, kernel: Kernel, rng: np.random.Generator, number: int) -> None:
    """Add a step."""
    shape = image_shape(kernel, rng)
    source, other = (random_input(builder, kernel, rng, shape) for _ in range(2))
    strides = shape[1] * shape[2] * shape[3], shape[2] * shape[3], shape[3], 1
    padded = padded_shape(strides, strides[0])
    shift = _LEFT_SHIFTS.get(kernel, 0)
    scales = [2**30, 0, 2**30, 0, 2**30, -shift // 2]
    refs = source, other, random_output(builder, kernel, shape)
    is_short = kernel in SHORT_KERNELS
    offsets, limits = ((0,) * 3, (-32768, 32767)) if is_short else ((1, 2, 3), (-128, 127))
    numbers = (*offsets, shift, *scales, *limits)
    builder.step(kernel, Elementwise(*refs, padded_shape(shape), padded, padded, *numbers))

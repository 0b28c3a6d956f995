"""Images of random size for steps, of the type that their kernels take."""

from collections.abc import Sequence

import numpy as np

from kiwicha.contract.layout import Ref
from kiwicha.contract.program import Kernel, Where
from tests.support.programs.steps import ProgramBuilder, int8s

__all__ = ["SHORT_KERNELS", "element_bytes", "image_shape", "random_input", "random_output"]

SHORT_KERNELS = frozenset(
    kernel for kernel in Kernel if Kernel.SHORT_CONV <= kernel <= Kernel.SOFTMAX_OF_SHORTS
)
"""Those of int16."""


def image_shape(kernel: Kernel, rng: np.random.Generator) -> tuple[int, int, int, int]:
    """Give a shape [1, H, W, C] with channels in fours; the larger the faster the kernel."""
    is_simd = kernel.where is Where.SIMD
    height, width = (int(n) for n in rng.integers(4, 14 if is_simd else 8, 2))
    return 1, height, width, 4 * int(rng.integers(1, 6 if is_simd else 4))


def element_bytes(kernel: Kernel) -> int:
    """Give the bytes of an element of a kernel's input and output."""
    return 2 if kernel in SHORT_KERNELS else 1


def random_input(
    builder: ProgramBuilder, kernel: Kernel, rng: np.random.Generator, shape: Sequence[int]
) -> Ref:
    """Add an input of the type that a kernel takes; the bytes of an int16 are random, too."""
    return builder.input(int8s(rng, (*shape, element_bytes(kernel))))


def random_output(builder: ProgramBuilder, kernel: Kernel, shape: Sequence[int]) -> Ref:
    """Add an output of the type that a kernel gives."""
    return builder.output((*shape, element_bytes(kernel)))

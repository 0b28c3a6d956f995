"""Images of random size for steps."""

import numpy as np

from kiwicha.contract.program import Kernel, Where

__all__ = ["image_shape"]


def image_shape(kernel: Kernel, rng: np.random.Generator) -> tuple[int, int, int, int]:
    """Give a shape [1, H, W, C] with channels in fours; the larger the faster the kernel."""
    is_simd = kernel.where is Where.SIMD
    height, width = (int(n) for n in rng.integers(4, 14 if is_simd else 8, 2))
    return 1, height, width, 4 * int(rng.integers(1, 6 if is_simd else 4))

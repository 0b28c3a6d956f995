"""Int16 times scales of any size, some of which give no normal numbers."""

import numpy as np

from kiwicha.contract.program import Kernel
from kiwicha.kernels.short_floats import ShortDequantize, float_bits
from tests.support.programs.steps import ProgramBuilder, int8s

__all__ = ["PARAMS", "add"]

PARAMS = ShortDequantize


def add(builder: ProgramBuilder, kernel: Kernel, rng: np.random.Generator, number: int) -> None:
    """Add a step of any scale."""
    count = int(rng.integers(1, 80))
    scale = 10.0 ** rng.integers(-42, 37) if number % 2 else rng.uniform(1e-4, 2)
    params = ShortDequantize(
        builder.input(int8s(rng, (2 * count,))),
        builder.output((4 * count,)),
        count,
        float_bits(scale),
        int(rng.choice([0, 0, -32767, 32768, 5])),
    )
    builder.step(kernel, params)

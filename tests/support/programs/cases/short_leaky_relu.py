"""Numbers of which the negative ones have a scale of their own."""

import numpy as np

from kiwicha.contract.program import Kernel
from kiwicha.kernels.short_functions import ShortLeakyRelu
from tests.support.programs.images import random_input, random_output
from tests.support.programs.steps import ProgramBuilder, random_scale

__all__ = ["PARAMS", "add"]

PARAMS = ShortLeakyRelu


def add(builder: ProgramBuilder, kernel: Kernel, rng: np.random.Generator, number: int) -> None:
    """Add a step, with a negative slope if the number is odd."""
    count = int(rng.integers(1, 400))
    params = ShortLeakyRelu(
        random_input(builder, kernel, rng, (count,)),
        random_output(builder, kernel, (count,)),
        count,
        *random_scale(rng, int(rng.choice([1 << 7, 1 << 9]))),
        *random_scale(rng, 1 << 9),
        leak_sign=(-1) ** number,
        activation_max=int(rng.choice([32767, 20000])),
    )
    builder.step(kernel, params)

"""Integers of one to four bytes times a scale."""

import numpy as np

from kiwicha.contract.program import Kernel
from kiwicha.kernels.requantize import Requantize
from tests.support.programs.steps import ProgramBuilder, int8s, random_scale

__all__ = ["PARAMS", "add"]

PARAMS = Requantize
_SIZES = (1, 2, 4)


def add(builder: ProgramBuilder, kernel: Kernel, rng: np.random.Generator, number: int) -> None:
    """Add a step of any two types."""
    count = int(rng.integers(1, 40))
    source, target = _SIZES[number % 3], _SIZES[number // 3 % 3]
    params = Requantize(
        builder.input(int8s(rng, (count * source,))),
        builder.output((count * target,)),
        count,
        source,
        target,
        int(rng.integers(-200, 200)),
        *random_scale(rng, 2 ** (8 * source - 1)),
        int(rng.integers(-200, 200)),
    )
    builder.step(kernel, params)

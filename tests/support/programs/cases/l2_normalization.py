"""Rows that are divided by their lengths."""

import numpy as np

from kiwicha.contract.program import Kernel
from kiwicha.kernels.l2_normalization import L2Normalization
from tests.support.programs.steps import ProgramBuilder, int8s

__all__ = ["PARAMS", "add"]

PARAMS = L2Normalization


def add(builder: ProgramBuilder, kernel: Kernel, rng: np.random.Generator, number: int) -> None:
    """Add a step, as for uint8 if the number is odd."""
    rows, depth = (int(rng.integers(1, 30)) for _ in range(2))
    source = builder.input(int8s(rng, (rows, depth)))
    offset = int(rng.integers(-127, 129))
    params = L2Normalization(
        source, builder.output((rows, depth)), rows, depth, offset, 7 * (number % 2)
    )
    builder.step(kernel, params)

"""Rows whose largest elements are found."""

import numpy as np

from kiwicha.contract.program import DType, Kernel
from kiwicha.kernels.ordered import TopPositions
from tests.support.programs.steps import ProgramBuilder, int8s

__all__ = ["PARAMS", "add"]

PARAMS = TopPositions
_TYPES = (DType.INT8, DType.INT16, DType.INT32, DType.INT64)


def add(builder: ProgramBuilder, kernel: Kernel, rng: np.random.Generator, number: int) -> None:
    """Add a step."""
    dtype = _TYPES[number % len(_TYPES)]
    rows, depth = int(rng.integers(1, 9)), int(rng.choice([1, 10, 40, 100]))
    count = int(rng.integers(1, min(depth, 12) + 1))
    refs = (
        builder.input(int8s(rng, (rows, depth, dtype.size_bytes))),
        builder.output((rows, count, 4)),
    )
    builder.step(kernel, TopPositions(*refs, rows, depth, count, dtype))

"""Elements that are added up along a dimension."""

import numpy as np

from kiwicha.contract.program import DType, Kernel
from kiwicha.kernels.ordered import CumulativeSum
from tests.support.programs.steps import ProgramBuilder, int8s

__all__ = ["PARAMS", "add"]

PARAMS = CumulativeSum
_TYPES = (DType.INT8, DType.INT32, DType.INT64)


def add(builder: ProgramBuilder, kernel: Kernel, rng: np.random.Generator, number: int) -> None:
    """Add a step."""
    dtype = _TYPES[number % len(_TYPES)]
    outer, inner = (int(n) for n in rng.integers(1, 6, 2))
    depth = int(rng.choice([1, 10, 50]))
    stored = (outer, depth, inner, dtype.size_bytes)
    flags = (int(n) for n in rng.integers(0, 2, 2))
    builder.step(
        kernel,
        CumulativeSum(
            builder.input(int8s(rng, stored)),
            builder.output(stored),
            outer,
            depth,
            inner,
            dtype,
            *flags,
            input_offset=5,
            output_offset=-7,
            multiplier=2**30,
            shift=-20,
        ),
    )

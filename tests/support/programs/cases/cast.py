"""Numbers that get another type."""

import numpy as np

from kiwicha.contract.program import DType, Kernel
from kiwicha.kernels.cast import Cast
from tests.support.programs.steps import ProgramBuilder, int8s

__all__ = ["PARAMS", "add"]

PARAMS = Cast
_PAIRS = (
    (DType.INT32, DType.INT8),
    (DType.INT8, DType.INT32),
    (DType.INT32, DType.FLOAT32),
    (DType.FLOAT32, DType.INT32),
    (DType.INT64, DType.BOOL),
    (DType.UINT8, DType.INT16),
    (DType.FLOAT32, DType.BOOL),
    (DType.FLOAT32, DType.UINT8),
    (DType.FLOAT32, DType.INT64),
    (DType.FLOAT32, DType.UINT32),
    (DType.FLOAT32, DType.FLOAT32),
    (DType.INT16, DType.FLOAT32),
    (DType.INT8, DType.INT64),
)
_SPECIAL = (0.0, -0.0, 0.5, -0.5, np.inf, -np.inf, np.nan, 1e30, -1e30, 2.0**31, -(2.0**31))


def add(builder: ProgramBuilder, kernel: Kernel, rng: np.random.Generator, number: int) -> None:
    """Add a step."""
    before, after = _PAIRS[number % len(_PAIRS)]
    count = int(rng.choice([1, 16, 100, 400, 1000]))
    values = int8s(rng, (count, before.size_bytes))
    if before is DType.FLOAT32:
        numbers = (rng.normal(size=(count, 1)) * 1000).astype(np.float32)
        if number >= len(_SPECIAL):
            numbers[::2, 0] = np.resize(np.array(_SPECIAL, np.float32), len(numbers[::2]))
        values = numbers.view(np.int8)
    refs = builder.input(values), builder.output((count, after.size_bytes))
    builder.step(kernel, Cast(*refs, count, before, after))

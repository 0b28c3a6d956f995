"""Float32 numbers near halves of a scale, far beyond, and none."""

import numpy as np

from kiwicha.contract.program import Kernel
from kiwicha.kernels.short_floats import ShortQuantize, float_bits
from tests.support.programs.steps import ProgramBuilder

__all__ = ["PARAMS", "add"]

PARAMS = ShortQuantize
_ODD = (np.nan, -np.nan, np.inf, -np.inf, 3e38, -3e38, 1e-45, -0.0)


def add(builder: ProgramBuilder, kernel: Kernel, rng: np.random.Generator, number: int) -> None:
    """Add a step of any scale."""
    count = int(rng.integers(len(_ODD), 80))
    scale = np.float32(10.0 ** rng.integers(-40, 3) if number % 2 else rng.uniform(1e-4, 2))
    steps = rng.integers(-70_000, 70_000, count) / 2 + rng.choice([0, 0.01], count)
    with np.errstate(over="ignore", under="ignore"):
        values = (steps * scale).astype(np.float32)
    values[: len(_ODD)] = np.array(_ODD, np.float32)
    params = ShortQuantize(
        builder.constant(values, np.float32),
        builder.output((2 * count,)),
        count,
        float_bits(float(scale)),
        int(rng.choice([0, 0, -32768, 32767, 5])),
    )
    builder.step(kernel, params)

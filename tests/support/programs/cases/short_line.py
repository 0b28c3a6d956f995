"""Lines that make bytes of int16."""

import numpy as np

from kiwicha.contract.program import Kernel
from kiwicha.kernels.short_line import ShortLine
from tests.support.programs.numbers import raw, shorts
from tests.support.programs.steps import ProgramBuilder

__all__ = ["PARAMS", "add"]

PARAMS = ShortLine


def add(builder: ProgramBuilder, kernel: Kernel, rng: np.random.Generator, number: int) -> None:
    """Add a step of random numbers: a line through two points."""
    first, last = sorted(rng.integers(-(2**15), 2**15, 2).tolist())
    low, high = sorted(rng.integers(-128, 128, 2).tolist())
    # Products of 16 bits and of up to 30 or 31, and what is in between.
    shift = 14 if number % 2 else int(rng.integers(0, 15))
    factor = (high - low << shift) // max(last - first, 1)
    offset = (low << shift) - factor * first
    count = int(rng.integers(1, 40))
    params = ShortLine(
        builder.input(raw(shorts(rng, count))),
        builder.output((count,)),
        count,
        first,
        last,
        factor,
        offset,
        shift,
    )
    builder.step(kernel, params)

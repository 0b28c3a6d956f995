"""Weights of samples."""

import numpy as np

from kiwicha.contract.program import Kernel
from kiwicha.kernels.signal_frame import SignalTaper
from tests.support.programs.numbers import raw, shorts
from tests.support.programs.steps import ProgramBuilder

__all__ = ["PARAMS", "add"]

PARAMS = SignalTaper


def add(builder: ProgramBuilder, kernel: Kernel, rng: np.random.Generator, number: int) -> None:
    """Add a step of random numbers."""
    rows, size = int(rng.integers(1, 4)), int(rng.integers(1, 40))
    params = SignalTaper(
        builder.input(raw(shorts(rng, rows, size))),
        builder.constant(shorts(rng, size), np.int16),
        builder.output((2 * rows * size,)),
        rows,
        size,
        shift=int(rng.integers(0, 32)),
    )
    builder.step(kernel, params)

"""Samples that are shifted up."""

import numpy as np

from kiwicha.contract.program import Kernel
from kiwicha.kernels.signal_frame import SignalScale
from tests.support.programs.numbers import raw, shorts
from tests.support.programs.steps import ProgramBuilder

__all__ = ["PARAMS", "add"]

PARAMS = SignalScale


def add(builder: ProgramBuilder, kernel: Kernel, rng: np.random.Generator, number: int) -> None:
    """Add a step of random numbers."""
    size = int(rng.integers(1, 40))
    source = builder.input(raw(shorts(rng, size)))
    bits = builder.input(raw(rng.integers(0, 40, 1).astype(np.int32)))
    builder.step(kernel, SignalScale(source, bits, builder.output((2 * size,)), size))

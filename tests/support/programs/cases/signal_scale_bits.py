"""How far samples can be shifted up."""

import numpy as np

from kiwicha.contract.program import Kernel
from kiwicha.kernels.signal_frame import SignalScaleBits
from tests.support.programs.numbers import raw, shorts
from tests.support.programs.steps import ProgramBuilder

__all__ = ["PARAMS", "add"]

PARAMS = SignalScaleBits


def add(builder: ProgramBuilder, kernel: Kernel, rng: np.random.Generator, number: int) -> None:
    """Add a step of random numbers."""
    size = int(rng.integers(1, 40))
    source = builder.input(raw(shorts(rng, size) if number else np.zeros(size, np.int16)))
    builder.step(kernel, SignalScaleBits(source, builder.output((4,)), size))

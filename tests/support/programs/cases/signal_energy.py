"""Energies of some frequencies."""

import numpy as np

from kiwicha.contract.program import Kernel
from kiwicha.kernels.signal_frame import SignalEnergy
from tests.support.programs.numbers import raw, shorts
from tests.support.programs.steps import ProgramBuilder

__all__ = ["PARAMS", "add"]

PARAMS = SignalEnergy


def add(builder: ProgramBuilder, kernel: Kernel, rng: np.random.Generator, number: int) -> None:
    """Add a step of random numbers."""
    size = int(rng.integers(1, 40))
    first, end = sorted(int(x) for x in rng.integers(0, size + 1, 2))
    source = builder.input(raw(shorts(rng, size, 2)))
    builder.step(kernel, SignalEnergy(source, builder.output((4 * size,)), size, first, end))

"""Logarithms of all sizes."""

import numpy as np

from kiwicha.contract.program import Kernel
from kiwicha.kernels.signal_bank import SignalLog
from kiwicha.numerics.sound import log_points
from tests.support.programs.numbers import raw, words
from tests.support.programs.steps import ProgramBuilder

__all__ = ["PARAMS", "add"]

PARAMS = SignalLog


def add(builder: ProgramBuilder, kernel: Kernel, rng: np.random.Generator, number: int) -> None:
    """Add a step of random numbers."""
    values = np.concatenate([words(rng, 40), np.array([0, 1, 2, 3, 2**32 - 1], np.uint64)])
    params = SignalLog(
        builder.input(raw(values.astype(np.uint32))),
        builder.constant(log_points(), np.uint16),
        builder.output((2 * values.size,)),
        values.size,
        scale=int(rng.integers(0, 2**16)),
        shift=int(rng.integers(0, 8)),
    )
    builder.step(kernel, params)

"""Signals and noise."""

import numpy as np

from kiwicha.contract.program import Kernel
from kiwicha.kernels.signal_bank import SignalSubtraction
from tests.support.programs.numbers import raw, words
from tests.support.programs.steps import ProgramBuilder

__all__ = ["PARAMS", "add"]

PARAMS = SignalSubtraction


def add(builder: ProgramBuilder, kernel: Kernel, rng: np.random.Generator, number: int) -> None:
    """Add a step of random numbers."""
    channels = int(rng.integers(1, 40))
    params = SignalSubtraction(
        builder.input(raw(words(rng, channels).astype(np.uint32))),
        builder.input(raw(words(rng, channels).astype(np.uint32))),
        builder.output((4 * channels,)),
        channels,
        newest=tuple(rng.integers(0, 2**15, 2).tolist()),
        rest=tuple(rng.integers(0, 2**15, 2).tolist()),
        least=int(rng.integers(0, 2**15)),
        noise_bits=int(rng.integers(0, 12)),
        fraction_bits=int(rng.integers(0, 20)),
        is_clamped=number % 2,
    )
    builder.step(kernel, params)

"""Gains of random tables."""

import numpy as np

from kiwicha.contract.program import Kernel
from kiwicha.kernels.signal_bank import SignalGain
from kiwicha.numerics.sound import GAIN_ENTRIES
from tests.support.programs.numbers import raw, shorts, words
from tests.support.programs.steps import ProgramBuilder

__all__ = ["PARAMS", "add"]

PARAMS = SignalGain


def add(builder: ProgramBuilder, kernel: Kernel, rng: np.random.Generator, number: int) -> None:
    """Add a step of random numbers."""
    channels = int(rng.integers(1, 40))
    signal, noise = (words(rng, channels).astype(np.uint32) for _ in range(2))
    params = SignalGain(
        builder.input(raw(signal)),
        builder.input(raw(noise)),
        builder.constant(shorts(rng, GAIN_ENTRIES), np.int16),
        builder.output((4 * channels,)),
        channels,
        shift=int(rng.integers(0, 40)),
    )
    builder.step(kernel, params)

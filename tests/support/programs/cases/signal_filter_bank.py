"""Channels of overlapping bands."""

import numpy as np

from kiwicha.contract.program import Kernel
from kiwicha.kernels.signal_bank import SignalFilterBank
from tests.support.programs.numbers import raw, words
from tests.support.programs.steps import ProgramBuilder

__all__ = ["PARAMS", "add"]

PARAMS = SignalFilterBank


def add(builder: ProgramBuilder, kernel: Kernel, rng: np.random.Generator, number: int) -> None:
    """Add a step of random numbers."""
    size, weights, channels = (int(rng.integers(9, 40)), int(rng.integers(9, 40)), number + 1)
    widths = rng.integers(0, 9, channels + 1)
    starts = [rng.integers(0, most - widths + 1) for most in (size, weights)]
    params = SignalFilterBank(
        builder.input(raw(words(rng, size).astype(np.uint32))),
        *(builder.constant(rng.integers(0, 2**15, weights), np.int16) for _ in range(2)),
        builder.constant(np.stack([*starts, widths], axis=1), np.uint16),
        builder.output((8 * channels,)),
        size,
        weights,
        channels,
    )
    builder.step(kernel, params)

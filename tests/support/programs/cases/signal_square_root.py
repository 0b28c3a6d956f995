"""Roots of all sizes."""

import numpy as np

from kiwicha.contract.program import Kernel
from kiwicha.kernels.signal_bank import SignalSquareRoot
from tests.support.programs.numbers import raw, words
from tests.support.programs.steps import ProgramBuilder

__all__ = ["PARAMS", "add"]

PARAMS = SignalSquareRoot


def add(builder: ProgramBuilder, kernel: Kernel, rng: np.random.Generator, number: int) -> None:
    """Add a step of random numbers."""
    squares = words(rng, 30) >> np.uint64(32)
    near = squares * squares + rng.integers(0, 3, 30).astype(np.uint64) - np.uint64(1)
    ends = [0, 1, 2**32 - 1, 2**32, 2**64 - 1, (2**32 - 1) ** 2, 65535 * 65536, 65535 * 65536 + 1]
    values = np.concatenate([words(rng, 30, bits=64), near, np.array(ends, np.uint64)])
    bits = builder.input(raw(rng.integers(0, 34, 1).astype(np.int32)))
    output = builder.output((4 * values.size,))
    source = builder.input(raw(values))
    builder.step(kernel, SignalSquareRoot(source, bits, output, values.size))

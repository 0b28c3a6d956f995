"""Frames that overlap."""

import numpy as np

from kiwicha.contract.program import Kernel
from kiwicha.kernels.signal_stream import SignalOverlapAdd
from tests.support.programs.numbers import raw, shorts
from tests.support.programs.steps import ProgramBuilder

__all__ = ["PARAMS", "add"]

PARAMS = SignalOverlapAdd


def add(builder: ProgramBuilder, kernel: Kernel, rng: np.random.Generator, number: int) -> None:
    """Add a step with random sums of earlier frames."""
    rows, frames, step = (int(rng.integers(1, most)) for most in (4, 4, 40))
    size = step + int(rng.integers(1, 40))
    params = SignalOverlapAdd(
        builder.input(raw(shorts(rng, rows, frames, size))),
        builder.output((rows, frames * step, 2)),
        builder.input(raw(shorts(rng, rows, size - step))),
        *(rows, frames, step, size),
    )
    builder.step(kernel, params)

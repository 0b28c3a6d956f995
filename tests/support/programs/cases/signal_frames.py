"""Frames of lines of samples, of which some are kept."""

import numpy as np

from kiwicha.contract.program import Kernel
from kiwicha.kernels.signal_stream import SignalFrames
from tests.support.programs.numbers import raw, shorts
from tests.support.programs.steps import ProgramBuilder

__all__ = ["PARAMS", "add"]

PARAMS = SignalFrames


def add(builder: ProgramBuilder, kernel: Kernel, rng: np.random.Generator, number: int) -> None:
    """Add a step with a random state: of a stacker, or of another one."""
    step, kept = int(rng.integers(1, 30)), int(rng.integers(0, 60))
    rows = frames = period = 1
    copies = 0
    if number % 2:
        period, copies = int(rng.integers(1, 4)), int(rng.integers(0, kept // step + 1))
    else:
        rows, frames = (int(count) for count in rng.integers(1, 4, 2))
    size = int(rng.integers(1, kept + step + 1))
    counts = [rng.integers(0, 3), rng.integers(0, 2), rng.integers(0, 2)]
    state = np.concatenate([shorts(rng, rows * kept), np.array(counts, np.int16)])
    params = SignalFrames(
        builder.input(raw(shorts(rng, rows * frames * step))),
        builder.output((rows, frames, size, 2)),
        builder.input(raw(state)),
        *(rows, frames, step, size, kept, period, copies),
    )
    builder.step(kernel, params)

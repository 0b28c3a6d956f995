"""Fourier transforms of all small sizes."""

import numpy as np

from kiwicha.contract.program import Kernel
from kiwicha.kernels.signal_transform import SignalTransform
from kiwicha.numerics import fourier
from tests.support.programs.numbers import raw, shorts
from tests.support.programs.steps import ProgramBuilder

__all__ = ["PARAMS", "add"]

PARAMS = SignalTransform


def add(builder: ProgramBuilder, kernel: Kernel, rng: np.random.Generator, number: int) -> None:
    """Add a step of random numbers."""
    half, rows = 2 ** (1 + number % 9), int(rng.integers(1, 3))
    is_inverse = kernel is Kernel.SIGNAL_IRFFT
    samples = 2 * half if is_inverse or number % 2 else int(rng.integers(1, 2 * half + 1))
    sizes = (2 * half + 2, 2 * half) if is_inverse else (samples, 2 * half + 2)
    roots = (
        fourier.twiddles(half, is_inverse=is_inverse),
        fourier.super_twiddles(half, is_inverse=is_inverse),
    )
    params = SignalTransform(
        builder.input(raw(shorts(rng, rows, sizes[0]))),
        builder.output((2 * rows * sizes[1],)),
        *(builder.constant(each, np.int16) for each in roots),
        builder.constant(fourier.positions(half), np.uint16),
        rows,
        samples,
        half,
    )
    builder.step(kernel, params)

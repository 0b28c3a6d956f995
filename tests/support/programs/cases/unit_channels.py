"""Frames of sound of all sizes, for the unit."""

import numpy as np

from kiwicha.contract.program import Kernel
from kiwicha.contract.signal import LEAST_HALF_BITS, MOST_HALF_BITS
from kiwicha.kernels.unit_channels import UnitChannels
from tests.support.programs.numbers import raw, shorts
from tests.support.programs.steps import ProgramBuilder

__all__ = ["PARAMS", "add"]

PARAMS = UnitChannels


def add(builder: ProgramBuilder, kernel: Kernel, rng: np.random.Generator, number: int) -> None:
    """Add a step of random numbers."""
    half_bits = LEAST_HALF_BITS + number % (MOST_HALF_BITS - LEAST_HALF_BITS + 1)
    samples = int(rng.integers(1, (2 << half_bits) + 1))
    weights, channels = int(rng.integers(9, 40)), int(rng.integers(1, 9))
    most = min(9, 1 << half_bits)
    widths = rng.integers(0, most, channels + 1)
    sizes = ((1 << half_bits) + 1, weights)
    starts = [rng.integers(0, size - widths + 1) for size in sizes]
    params = UnitChannels(
        builder.input(raw(shorts(rng, samples))),
        builder.constant(shorts(rng, samples), np.int16),
        *(builder.constant(rng.integers(0, 2**15, weights), np.int16) for _ in range(2)),
        builder.constant(np.stack([*starts, widths], axis=1), np.uint16),
        builder.output((4 * channels,)),
        samples,
        int(rng.integers(0, 17)),
        half_bits,
        weights,
        channels,
    )
    builder.step(kernel, params)

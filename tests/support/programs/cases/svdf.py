"""Filters over time whose state is int16."""

import numpy as np

from kiwicha.contract.program import Kernel
from kiwicha.kernels.svdf import Svdf
from tests.support.programs.steps import ProgramBuilder, int8s, random_scale

__all__ = ["PARAMS", "add"]

PARAMS = Svdf


def add(builder: ProgramBuilder, kernel: Kernel, rng: np.random.Generator, number: int) -> None:
    """Add a step with a random state."""
    batches, inputs, units, rank, steps = (int(rng.integers(1, 6)) for _ in range(5))
    filters = units * rank
    params = Svdf(
        builder.input(int8s(rng, (batches, inputs))),
        builder.output((batches, units)),
        builder.input(int8s(rng, (batches * filters * steps * 2,))),
        builder.constant(int8s(rng, (filters, inputs)), np.int8),
        builder.constant(rng.integers(-9999, 9999, filters)),
        builder.constant(rng.integers(-(2**15), 2**15, filters * steps), np.int16),
        builder.constant(rng.integers(-(2**31), 2**31, units)),
        batches,
        inputs,
        units,
        rank,
        steps,
        *random_scale(rng, inputs),
        *random_scale(rng, 2**30),
        int(rng.integers(-128, 128)),
    )
    builder.step(kernel, params)

"""Short and long rows."""

import numpy as np

from kiwicha.contract.program import Kernel
from kiwicha.kernels.log_softmax import LogSoftmax
from kiwicha.numerics.logarithm import log_softmax_distances
from kiwicha.numerics.requantization import softmax_exponentials
from tests.support.programs.steps import ProgramBuilder, int8s

__all__ = ["PARAMS", "add", "add_shape"]

PARAMS = LogSoftmax


def add(builder: ProgramBuilder, kernel: Kernel, rng: np.random.Generator, number: int) -> None:
    """Add a step: rows that are short and long in turn."""
    is_long = number % 2
    depth = int(rng.integers(300, 1200)) if is_long else int(rng.integers(2, 100))
    rows = int(rng.integers(1, 5)) if is_long else int(rng.integers(20, 80))
    add_shape(builder, kernel, rng, rows, depth)


def add_shape(
    builder: ProgramBuilder, kernel: Kernel, rng: np.random.Generator, rows: int, depth: int
) -> None:
    """Add a step of so many rows."""
    scale = float(rng.uniform(0.02, 0.2))
    source, target = builder.input(int8s(rng, (rows, depth))), builder.output((rows, depth))
    exponentials = builder.constant(softmax_exponentials(scale, 1.0))
    distances = builder.constant(log_softmax_distances(scale))
    builder.step(kernel, LogSoftmax(source, target, exponentials, distances, rows, depth, 127))

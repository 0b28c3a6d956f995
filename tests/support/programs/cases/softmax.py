"""Short and long rows, and pairs."""

import numpy as np

from kiwicha.contract.layout import Ref
from kiwicha.contract.program import Kernel
from kiwicha.kernels.softmax import Softmax, pair_outputs
from kiwicha.numerics.requantization import softmax_exponentials
from tests.support.programs.steps import ProgramBuilder, int8s

__all__ = ["PARAMS", "add", "add_shape"]

PARAMS = Softmax


def add(builder: ProgramBuilder, kernel: Kernel, rng: np.random.Generator, number: int) -> None:
    """Add a step: rows that are short, long and pairs in turn."""
    kind = number % 3
    depth = (int(rng.integers(3, 100)), int(rng.integers(257, 1200)), 2)[kind]
    rows = int(rng.integers(20, 80)) if kind != 1 else int(rng.integers(1, 5))
    add_shape(builder, kernel, rng, rows, depth)


def add_shape(
    builder: ProgramBuilder, kernel: Kernel, rng: np.random.Generator, rows: int, depth: int
) -> None:
    """Add a step of so many rows."""
    exponentials = softmax_exponentials(float(rng.uniform(0.02, 0.2)), 1.0)
    source, target = builder.input(int8s(rng, (rows, depth))), builder.output((rows, depth))
    table = builder.constant(exponentials)
    pairs = builder.constant(pair_outputs(exponentials, -128), np.uint8) if depth == 2 else Ref()
    builder.step(kernel, Softmax(source, target, table, rows, depth, -128, pairs))

"""Pieces at computed places."""

import math

import numpy as np

from kiwicha.contract.program import Kernel
from kiwicha.kernels.indexed import Gather
from tests.support.programs.steps import ProgramBuilder, int8s

__all__ = ["PARAMS", "add"]

PARAMS = Gather


def add(builder: ProgramBuilder, kernel: Kernel, rng: np.random.Generator, number: int) -> None:
    """Add a step with indices of int32, in every third case of int64."""
    batches, outer = (int(n) for n in rng.integers(1, 4, 2))
    depth, count = int(rng.integers(1, 4)), int(rng.integers(1, 30))
    piece = int(rng.choice([1, 4, 12, 32, 100]))
    sizes = [int(n) for n in rng.integers(1, 9, depth)]
    kind = np.int64 if number % 3 == 2 else np.int32
    places = np.stack([rng.integers(0, n, (batches, count)) for n in sizes], -1).astype(kind)
    builder.step(
        kernel,
        Gather(
            builder.input(int8s(rng, (batches, outer, math.prod(sizes), piece))),
            builder.input(places.view(np.int8)),
            builder.output((batches, outer, count, piece)),
            batches,
            outer,
            count,
            depth,
            (*sizes, *[1] * (6 - depth)),
            piece,
            np.dtype(kind).itemsize // 4,
        ),
    )

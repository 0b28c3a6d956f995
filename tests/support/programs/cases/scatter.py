"""Pieces that are added up at computed places."""

import math

import numpy as np

from kiwicha.contract.program import DType, Kernel
from kiwicha.kernels.indexed import Scatter
from tests.support.programs.steps import ProgramBuilder, int8s

__all__ = ["PARAMS", "add"]

PARAMS = Scatter


def add(builder: ProgramBuilder, kernel: Kernel, rng: np.random.Generator, number: int) -> None:
    """Add a step of int32 or of bytes, with or without another zero."""
    dtype = DType.INT8 if number % 3 else DType.INT32
    depth, count = int(rng.integers(1, 4)), int(rng.integers(1, 30))
    piece = int(rng.choice([1, 4, 12, 32]))
    sizes = [int(n) for n in rng.integers(1, 9, depth)]
    places = np.stack([rng.integers(0, n, count) for n in sizes], -1).astype(np.int32)
    builder.step(
        kernel,
        Scatter(
            builder.input(int8s(rng, (count, piece, dtype.size_bytes))),
            builder.input(places.view(np.int8)),
            builder.output((math.prod(sizes), piece, dtype.size_bytes)),
            count,
            depth,
            (*sizes, *[1] * (6 - depth)),
            piece,
            dtype,
            -128 if number % 3 == 2 else 0,
            1,
        ),
    )

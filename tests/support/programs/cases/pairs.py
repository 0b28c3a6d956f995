"""Rows of two that are looked up."""

import numpy as np

from kiwicha.contract.program import Kernel
from kiwicha.kernels.pairs import DIFFERENCES, PAIR, Pairs
from tests.support.programs.steps import ProgramBuilder, int8s

__all__ = ["PARAMS", "add"]

PARAMS = Pairs
_TYPES = (np.int16, np.int32, np.int8)


def add(builder: ProgramBuilder, kernel: Kernel, rng: np.random.Generator, number: int) -> None:
    """Add a step; three in a row have all types."""
    rows, kind = int(rng.integers(1, 12)), np.dtype(_TYPES[number % 3])
    limits = np.iinfo(kind)
    table = rng.integers(limits.min, limits.max, DIFFERENCES, endpoint=True)
    params = Pairs(
        builder.input(int8s(rng, (rows, PAIR))),
        builder.output((rows * PAIR * kind.itemsize,)),
        builder.constant(table, kind),
        rows,
        kind.itemsize,
    )
    builder.step(kernel, params)
